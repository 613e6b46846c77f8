"""The numbers of `/metrics`, and that unexpected failures are answered and counted."""

from pathlib import Path
from typing import Any

import httpx
import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from prometheus_client.parser import text_string_to_metric_families

from dovetail.app import Dovetail
from dovetail.errors import ModelError
from dovetail.events.call import Kind
from dovetail.events.delta import Usage
from dovetail.events.tool_context import ToolContext
from dovetail.testing import Gate, Reply, ScriptedServer
from dovetail.tools.tool import Tool
from patience import PATIENCE
from serving import Serving, serve, serve_app


def make_tool(name: str, kind: Kind = Kind.Read) -> Tool:
    async def execute(args: dict[str, Any], context: ToolContext) -> str:
        return "seen"

    return Tool(name=name, description="Look.", parameters={"type": "object"}, execute=execute, kind=kind)


async def scrape(server: Serving) -> dict[tuple[str, ...], float]:
    response = await server.client.get("/metrics")
    assert response.headers["content-type"].startswith("text/plain; version=0.0.4")
    return {
        (sample.name, *(value for _, value in sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(response.text)
        for sample in family.samples
    }


async def test_runs_calls_tokens_and_requests_are_counted(tmp_path: Path) -> None:
    calls = {"tool_calls": [{"call_id": "c", "name": "look"}, {"call_id": "d", "name": "made_up"}]}
    replies = [calls, Reply(text="Done.", usage=Usage(7, 3)), ModelError("no", provider="x")]
    async with serve(tmp_path, replies, [make_tool("look")]) as server:
        await server.chat("Look")
        await server.chat("Again", "other")
        numbers = await scrape(server)
        model = server.model.model
    assert numbers["dovetail_runs_total", "master", "goal"] == 1
    assert numbers["dovetail_runs_total", "master", "error"] == 1
    assert numbers["dovetail_run_seconds_count", "master"] == 2
    assert numbers["dovetail_tool_calls_total", "ok", "look"] == 1
    assert numbers["dovetail_tool_calls_total", "error", "unknown"] == 1
    assert numbers["dovetail_tokens_total", "output", model] >= 3
    assert numbers["dovetail_http_requests_total", "POST", "/api/v1/chat", "200"] == 2
    assert numbers["dovetail_runs_active",] == 0
    assert not any(name.endswith("_created") for name, *_ in numbers)
    assert numbers["process_resident_memory_bytes",] > 0


async def test_progress_is_shown_while_a_run_is_in_progress(tmp_path: Path) -> None:
    gate = Gate()
    async with serve(tmp_path, [["one ", gate, "two"]]) as server:
        body = {"message": "Count", "session_id": "s", "tab_id": "t"}
        stream = server.stream("POST", "/api/v1/chat", json=body)
        await anext(stream)
        await gate.reached.async_wait()
        numbers = await scrape(server)
        assert (numbers["dovetail_streams_active",], numbers["dovetail_runs_active",]) == (1, 1)
        gate.open()
        assert [chunk async for chunk in stream]
        assert (await scrape(server))["dovetail_streams_active",] == 0


async def test_open_questions_are_shown(tmp_path: Path) -> None:
    call = {"tool_calls": [{"call_id": "c", "name": "drop"}]}
    async with serve(tmp_path, [call, "Done."], [make_tool("drop", Kind.Delete)]) as server:
        body = {"message": "Drop", "session_id": "s", "tab_id": "t"}
        async for chunk in server.stream("POST", "/api/v1/chat", json=body):
            if chunk["type"] == "tool-approval-request":
                numbers = await scrape(server)
                answer = f"/api/v1/asks/{chunk['approvalId']}"
                await server.client.post(answer, json={"approved": True})
        later = await scrape(server)
    assert (numbers["dovetail_asks_total", "approval"], numbers["dovetail_asks_open",]) == (1, 1)
    assert later["dovetail_asks_open",] == 0


async def test_an_unforeseen_failure_is_a_500_without_its_text_but_with_all_headers(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with serve(tmp_path) as server:
        server.app.skills.list = _fail
        response = await server.client.get("/api/v1/skills")
        assert response.status_code == 500
        assert response.json()["error"]["type"] == "internal_error"
        assert "very private" not in response.text
        assert response.headers["x-content-type-options"] == "nosniff"
        assert response.headers["x-request-id"]
        assert (await scrape(server))["dovetail_http_requests_total", "GET", "/api/v1/skills", "500"] == 1
    assert "very private" in caplog.text


async def test_a_request_is_a_span_of_the_trace_it_came_with(tmp_path: Path) -> None:
    provider = trace.get_tracer_provider()
    if not isinstance(provider, TracerProvider):
        provider = TracerProvider()
        trace.set_tracer_provider(provider)
    exporter = InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    async with serve(tmp_path, ["Hello."]) as server:
        server.client.headers["traceparent"] = f"00-{'a' * 32}-{'b' * 16}-01"
        await server.chat("Hi")
        for probe in ("/healthz", "/readyz", "/metrics"):
            assert (await server.client.get(probe)).status_code == 200
    finished = exporter.get_finished_spans()
    assert {span.instrumentation_scope.name for span in finished if span.instrumentation_scope} == {
        "dovetail"
    }
    spans = {span.name: span for span in finished}
    assert len(spans) == len(finished)
    assert not any("GET" in name for name in spans)
    request, run = spans["POST /api/v1/chat"], spans["invoke_agent master"]
    for span in (request, run):
        assert span.context is not None
        assert f"{span.context.trace_id:x}" == "a" * 32
    assert request.attributes is not None
    assert request.attributes["http.response.status_code"] == 200
    assert run.attributes is not None
    assert run.attributes["gen_ai.conversation.id"] == "s"


def _fail() -> Any:
    raise RuntimeError("very private")


HELPER = """---
name: helper
description: Helps.
model: openai:gpt-4.1
inputs:
  task: {type: string, required: true}
query: "${task}"
---
You help.
"""


async def test_cost_of_a_sub_agent_is_that_of_its_own_model(tmp_path: Path) -> None:
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "helper.md").write_text(HELPER)
    used = Usage(1_000_000, 0)
    call = {"tool_calls": [{"name": "helper", "arguments": {"task": "Help."}}], "usage": used}
    replies = [call, Reply(text="Helped.", usage=used), Reply(text="Done.", usage=used)]
    async with ScriptedServer(replies) as model:
        settings: dict[str, Any] = {"model": {"name": "openai:gpt-5-mini", "base_url": model.url}}
        app = Dovetail(workspace=tmp_path, settings=settings)
        async with serve_app(app) as address, httpx.AsyncClient(base_url=address, timeout=PATIENCE) as client:
            server = Serving(app, None, client, address)  # type: ignore[arg-type]
            await server.chat("Go.")
            numbers = await scrape(server)
    assert numbers["dovetail_cost_total", "openai:gpt-5-mini"] == pytest.approx(0.5)
    assert numbers["dovetail_cost_total", "openai:gpt-4.1"] == pytest.approx(2.0)
