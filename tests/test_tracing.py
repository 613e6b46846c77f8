"""Requests are spans when the program uses OpenTelemetry, and cost nothing otherwise."""

import subprocess
import sys
from urllib.parse import urlsplit

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from dovetail import Agent, BaseAgent
from dovetail.errors import ModelError, ToolError
from dovetail.events.delta import Usage
from dovetail.testing import Reply, ScriptedRequester, ScriptedServer
from dovetail.tracing import span
from patience import PATIENCE


@pytest.fixture(scope="module")
def spans() -> InMemorySpanExporter:
    """What the program's tracer provider exports; a process has only one provider."""
    provider = trace.get_tracer_provider()
    if not isinstance(provider, TracerProvider):
        provider = TracerProvider()
        trace.set_tracer_provider(provider)
    exporter = InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return exporter


@pytest.fixture
def exporter(spans: InMemorySpanExporter) -> InMemorySpanExporter:
    spans.clear()
    return spans


async def test_request_is_a_span_with_its_usage(exporter: InMemorySpanExporter) -> None:
    reply = Reply(text="hi", usage=Usage(3, 5))
    agent = BaseAgent(requester=ScriptedRequester([reply], model="openai:small"))
    await agent.input("x").async_start()
    [span] = exporter.get_finished_spans()
    assert span.name == "chat small"
    attributes = dict(span.attributes or {})
    assert attributes["gen_ai.provider.name"] == "openai"
    assert attributes["gen_ai.request.model"] == "small"
    assert attributes["gen_ai.usage.output_tokens"] == 5
    assert attributes["gen_ai.response.finish_reasons"] == ("stop",)


def test_headers_name_the_parent_only_without_a_span_around(exporter: InMemorySpanExporter) -> None:
    headers = {"traceparent": f"00-{'a' * 32}-{'b' * 16}-01"}
    with span("far", {}, carrier=headers):
        pass
    with span("outer", {}), span("near", {}, carrier=headers):
        pass
    [far, near, outer] = exporter.get_finished_spans()
    assert far.parent is not None
    assert far.parent.trace_id == int("a" * 32, 16)
    assert near.parent == outer.context


async def test_failed_request_is_a_failed_span(exporter: InMemorySpanExporter) -> None:
    failure = ModelError("no", provider="openai")
    agent = BaseAgent(requester=ScriptedRequester([Reply(steps=[failure])]))
    with pytest.raises(ModelError):
        await agent.input("x").async_start()
    [span] = exporter.get_finished_spans()
    assert not span.status.is_ok
    assert span.attributes is not None
    assert span.attributes["error.type"] == "ModelError"
    assert span.events[0].name == "exception"


async def test_request_to_a_server_names_its_address_and_the_status_of_a_refusal(
    exporter: InMemorySpanExporter,
) -> None:
    with ScriptedServer([{"status": 401, "body": "no key"}]) as server:
        provider = {"base_url": server.url, "api_key": "k"}
        settings = {"model": {"name": "openai:small", "providers": {"openai": provider}}}
        with pytest.raises(ModelError):
            await Agent(settings=settings).input("x").async_start()
        port = urlsplit(server.url).port
    [span] = exporter.get_finished_spans()
    assert span.attributes is not None
    assert (span.attributes["server.address"], span.attributes["server.port"]) == ("127.0.0.1", port)
    assert span.attributes["error.type"] == "401"


def test_exception_whose_text_cannot_be_read_passes_through_a_failed_span(
    exporter: InMemorySpanExporter,
) -> None:
    class Unreadable(Exception):
        def __str__(self) -> str:
            raise OSError

    with pytest.raises(Unreadable), span("work", {}):
        raise Unreadable
    [failed] = exporter.get_finished_spans()
    assert failed.status.status_code is trace.StatusCode.ERROR
    assert failed.status.description == "Unreadable"


def test_program_without_opentelemetry_does_not_load_it() -> None:
    script = (
        "import sys; from dovetail import Agent; from dovetail.testing import ScriptedRequester\n"
        "Agent(requester=ScriptedRequester(['hi'])).input('x').start()\n"
        "assert not any(name.startswith('opentelemetry') for name in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=PATIENCE)


async def test_run_of_an_agent_holds_its_requests_and_calls(exporter: InMemorySpanExporter) -> None:
    def look() -> str:
        """Look around."""
        raise ToolError("nothing to see")

    replies = [{"tool_calls": [{"call_id": "c", "name": "look"}]}, Reply(text="Done.", usage=Usage(3, 5))]
    agent = Agent("scout", requester=ScriptedRequester(replies, model="openai:small")).use_tools([look])
    await agent.input("x").async_run()
    spans = {span.name: span for span in exporter.get_finished_spans()}
    assert sorted(spans) == ["chat small", "execute_tool look", "invoke_agent scout"]
    run, call = spans["invoke_agent scout"], spans["execute_tool look"]
    assert call.attributes is not None
    assert call.attributes["gen_ai.tool.call.id"] == "c"
    assert call.attributes["gen_ai.tool.description"] == "Look around."
    assert call.status.is_ok is False
    assert call.attributes["error.type"] == "ToolError"
    assert run.context is not None
    assert run.attributes is not None
    assert run.attributes["gen_ai.usage.output_tokens"] == 5
    assert {span.parent and span.parent.span_id for span in spans.values()} == {None, run.context.span_id}


async def test_failed_run_says_what_kind_of_error_ended_it(exporter: InMemorySpanExporter) -> None:
    agent = Agent("scout", requester=ScriptedRequester([ModelError("no", provider="x")]))
    with pytest.raises(ModelError):
        await agent.input("x").async_run()
    run = {span.name: span for span in exporter.get_finished_spans()}["invoke_agent scout"]
    assert run.attributes is not None
    assert run.attributes["error.type"] == "model_error"
