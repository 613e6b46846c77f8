"""Models through any-llm: its OpenAI provider against a scripted server, and its data that goes back."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from dovetail.errors import ConfigError, ContextLengthError, ModelError, TransientModelError
from dovetail.events.call import ModelRequest, ToolSpec
from dovetail.events.delta import (
    Delta,
    FinishDelta,
    ProviderPartDelta,
    ReasoningDelta,
    TextDelta,
    ToolCallDelta,
)
from dovetail.requesters.any_llm import CompletionReader, build_history, choose_effort
from dovetail.requesters.requester import Requester
from dovetail.requesters.resolve import resolve
from dovetail.settings import as_settings
from dovetail.testing import ScriptedServer

HELLO = ModelRequest(messages=[{"role": "user", "content": "hello"}])
ADD = ToolSpec(name="add", description="Add.", parameters={"type": "object", "properties": {}})


@asynccontextmanager
async def connect(url: str, **own: Any) -> AsyncGenerator[Requester]:
    pytest.importorskip("any_llm")
    given = {"base_url": url, "api_key": "sk-secret", **own}
    requester = resolve("any-llm:openai:gpt-4.1", as_settings({"model": {"providers": {"any-llm": given}}}))
    yield requester
    await requester.close()


async def collect(requester: Requester, request: ModelRequest = HELLO) -> list[Delta]:
    return [delta async for delta in requester.stream(request)]


def fail(text: str, status: int | None) -> ModelError:
    return ModelError(text, provider="any-llm", status=status)


async def test_answer_streams_with_reasoning_calls_and_usage() -> None:
    reply = {
        "reasoning": "Hm.",
        "text": "Hello",
        "cut": 2,
        "tool_calls": [{"call_id": "c1", "name": "add", "arguments": {"a": 1}}],
        "usage": {"input_tokens": 7, "output_tokens": 3},
    }
    request = ModelRequest(
        messages=HELLO.messages, tools=[ADD], tool_choice="required", options={"thinking": "low"}
    )
    with ScriptedServer([reply]) as server:
        async with connect(server.url, options={"temperature": 0.5}, thinking="high") as requester:
            *deltas, finish = await collect(requester, request)
    assert "".join(delta.text for delta in deltas if isinstance(delta, TextDelta)) == "Hello"
    assert "".join(delta.text for delta in deltas if isinstance(delta, ReasoningDelta)) == "Hm."
    call = next(delta for delta in deltas if isinstance(delta, ToolCallDelta))
    assert (call.call_id, call.name) == ("c1", "add")
    assert isinstance(finish, FinishDelta)
    assert (finish.reason, finish.usage.input_tokens, finish.usage.output_tokens) == ("tool-calls", 7, 3)
    body = server.requests[0].body
    assert (body["model"], body["temperature"], body["tool_choice"]) == ("gpt-4.1", 0.5, "required")
    assert body["reasoning_effort"] == "low"
    assert body["tools"][0]["function"]["name"] == "add"
    assert requester.model == "any-llm:openai:gpt-4.1"


async def test_whole_answer_when_no_stream_is_asked_for() -> None:
    request = ModelRequest(messages=HELLO.messages, stream=False)
    with ScriptedServer(["Hello"]) as server:
        async with connect(server.url) as requester:
            first, finish = await collect(requester, request)
    assert first == TextDelta("Hello")
    assert isinstance(finish, FinishDelta)
    assert server.requests[0].body.get("stream") is not True


@pytest.mark.filterwarnings("ignore:Provider-specific exceptions")  # any-llm announces a change of its own
async def test_refusals_have_our_errors_without_the_key() -> None:
    too_long = {"error": {"message": "This model's maximum context length is 8192 tokens.", "code": "x"}}
    wrong = {"error": {"message": "Incorrect API key provided: sk-secret"}}
    replies = [{"status": 400, "body": too_long}, {"status": 401, "body": wrong}, *[{"status": 429}] * 3]
    with ScriptedServer(replies) as server:
        async with connect(server.url) as requester:
            with pytest.raises(ContextLengthError):
                await collect(requester)
            with pytest.raises(ModelError, match=r"any-llm:openai:gpt-4\.1 failed") as caught:
                await collect(requester)
            assert "sk-secret" not in str(caught.value)
            with pytest.raises(TransientModelError):
                await collect(requester)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("any-llm:gpt-4.1", "expected any-llm:<provider>:<model>"),
        ("any-llm:nothing:x", "Unknown provider 'nothing' in the model name 'any-llm:nothing:x'"),
    ],
)
def test_name_that_cannot_be_used_says_why(name: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        resolve(name, as_settings({}))


def test_signatures_go_back_with_the_message_and_the_call_that_they_belong_to() -> None:
    reader = CompletionReader(fail, "any-llm:anthropic")
    deltas: list[Delta] = []
    for delta in (
        {"reasoning": "Let me "},
        {"reasoning": "see."},
        {"extra_content": {"anthropic": {"signature": "c2ln"}}},
        {"tool_calls": [{"index": 0, "id": "c1", "function": {"name": "add", "arguments": "{"}}]},
        {
            "tool_calls": [
                {"index": 0, "function": {"arguments": "}"}, "extra_content": {"google": {"s": "t"}}}
            ]
        },
    ):
        deltas += reader.read({"id": "r1", "choices": [{"index": 0, "delta": delta}]})
    assert not any(isinstance(delta, ProviderPartDelta) for delta in deltas)  # one part, at the end
    part = reader.build_part()
    assert isinstance(part, ProviderPartDelta)
    call = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": "{}"}}
    answer = {
        "role": "assistant",
        "content": None,
        "tool_calls": [call],
        "provider_parts": [{"source": part.source, "text": 0, "calls": 1, "data": part.data}],
    }
    (own,) = build_history([answer], "any-llm:anthropic")
    assert own["extra_content"] == {"anthropic": {"signature": "c2ln"}}
    assert own["reasoning"] == {"content": "Let me see."}
    assert own["tool_calls"][0]["extra_content"] == {"google": {"s": "t"}}
    (other,) = build_history([answer], "any-llm:openai")
    assert other == {"role": "assistant", "content": None, "tool_calls": [call]}
    assert CompletionReader(fail, "x").build_part() is None


def test_thinking_becomes_a_word_of_any_llm() -> None:
    levels = ("off", "low", "medium", "high", 1024, 8192, 50_000)
    assert [*map(choose_effort, levels)] == ["none", "low", "medium", "high", "low", "medium", "high"]


def test_key_of_the_settings_belongs_to_the_model_that_is_passed(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("any_llm")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    keyed = {"api_key": "sk-secret"}
    assert resolve("any-llm:openai:gpt-4.1", as_settings({"model": keyed})).model == "any-llm:openai:gpt-4.1"
    with pytest.raises(ConfigError, match=r"model\.providers\.any-llm\.api_key"):
        resolve("any-llm:openai:gpt-4.1", as_settings({"model": {"name": "ollama:q", **keyed}}))


def test_misspelt_provider_of_any_llm_is_corrected() -> None:
    pytest.importorskip("any_llm")
    with pytest.raises(ConfigError) as caught:
        resolve("any-llm:opnai:x", as_settings({}))
    assert str(caught.value).startswith(
        "Unknown provider 'opnai' in the model name 'any-llm:opnai:x'. Did you mean 'openai'"
    )
