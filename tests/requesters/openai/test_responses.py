"""The Responses API over a real socket: requests as the official package sends them, and clear errors."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import openai
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
from dovetail.requesters.http.endpoint import Endpoint
from dovetail.requesters.http.requester import HttpRequester
from dovetail.requesters.limits import RetryPolicy
from dovetail.requesters.openai.requester import OpenAIRequester
from dovetail.testing import ScriptedServer
from mock_provider import MockProvider, ReceivedRequest

GOLDEN = Path(__file__).parents[2] / "golden" / "openai_responses"
KEY = "sk-test-0123456789"
HELLO = [{"role": "user", "content": "hello"}]
CITY = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
OPEN = {"type": "object", "properties": {"tags": {"type": "array"}}}


def connect(mock: MockProvider, **fields: Any) -> HttpRequester:
    retries = RetryPolicy(attempts=1)
    base_url = f"{mock.url}/v1"
    given = {"model": "gpt-5-mini", "base_url": base_url, "api_key": KEY, "retries": retries, **fields}
    return OpenAIRequester(Endpoint(**given))


@asynccontextmanager
async def official(provider: MockProvider) -> AsyncIterator[openai.AsyncOpenAI]:
    async with openai.AsyncOpenAI(base_url=f"{provider.url}/v1", api_key=KEY, max_retries=0) as client:
        yield client


async def collect(requester: HttpRequester, **fields: Any) -> list[Delta]:
    return [delta async for delta in requester.stream(ModelRequest(**{"messages": HELLO, **fields}))]


async def fail(requester: HttpRequester, **fields: Any) -> ModelError:
    with pytest.raises(ModelError) as caught:
        await collect(requester, **fields)
    assert KEY not in repr(caught.value) + str(caught.value) + str(caught.value.hint)
    return caught.value


def join(deltas: list[Delta], kind: type[TextDelta | ReasoningDelta]) -> str:
    return "".join(delta.text for delta in deltas if isinstance(delta, kind))


def compare(ours: ReceivedRequest, theirs: ReceivedRequest) -> None:
    """See that both sent the same fields to the same place, with the same key."""
    assert ours.body == theirs.body
    assert ours.path == theirs.path
    for header in ("authorization", "content-type"):
        assert ours.headers[header] == theirs.headers[header]


async def test_conversation_is_sent_as_the_official_package_sends_it(mock_provider: MockProvider) -> None:
    call = {"name": "get_weather", "arguments": '{"city": "Paris"}', "id": "call_1"}
    mock_provider.reply({"reasoning": "Ask.", "content": "I look.", "toolCalls": [call]}, "Sunny.")
    mock_provider.reply({"reasoning": "Ask.", "content": "I look.", "toolCalls": [call]}, "Sunny.")
    tools = [
        ToolSpec(name="get_weather", description="The weather.", parameters=CITY),
        ToolSpec(name="tag", description="", parameters=OPEN),
    ]
    history: list[Any] = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Paris?"}]
    requester = connect(mock_provider, thinking="low", options={"max_tokens": 900, "temperature": 1})
    deltas = await collect(requester, messages=history, tools=tools)
    parts = [
        {"source": delta.source, "data": delta.data, "text": 0, "calls": 0}
        for delta in deltas
        if isinstance(delta, ProviderPartDelta)
    ]
    assert join(deltas, ReasoningDelta) == "Ask."
    function = {"name": "get_weather", "arguments": '{"city": "Paris"}'}
    history += [
        {
            "role": "assistant",
            "content": "I look.",
            "tool_calls": [{"id": "call_1", "type": "function", "function": function}],
            "provider_parts": parts,
        },
        {"role": "tool", "tool_call_id": "call_1", "content": "22 degrees"},
    ]
    await collect(requester, messages=history, tools=tools)

    async with official(mock_provider) as client:
        sent: list[Any] = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Paris?"}]
        settings: dict[str, Any] = {
            "model": "gpt-5-mini",
            "store": False,
            "include": ["reasoning.encrypted_content"],
            "reasoning": {"effort": "low", "summary": "auto"},
            "max_output_tokens": 900,
            "temperature": 1,
            "stream": True,
            "tools": [
                {"type": "function", "name": "get_weather", "description": "The weather.", "strict": True}
                | {"parameters": CITY},
                {"type": "function", "name": "tag", "description": "", "strict": False}
                | {"parameters": {**OPEN, "properties": {"tags": {"type": "array", "items": {}}}}},
            ],
        }
        for _ in range(2):
            items: list[Any] = []
            async for event in await client.responses.create(input=sent, **settings):
                if event.type == "response.output_item.done":
                    items.append(event.item.to_dict())
            for item in items:
                if item["type"] == "message":
                    sent.append({"role": "assistant", "content": item["content"][0]["text"]})
                elif item["type"] == "function_call":
                    sent.append({name: item[name] for name in ("type", "call_id", "name", "arguments")})
                else:
                    sent.append(item)
            sent.append({"type": "function_call_output", "call_id": "call_1", "output": "22 degrees"})
    first, second, their_first, their_second = mock_provider.requests
    compare(first, their_first)
    assert [item.get("type", item.get("role")) for item in second.body["input"]] == [
        *("system", "user", "reasoning", "assistant", "function_call", "function_call_output")
    ]
    ours, theirs = second.body["input"][2], their_second.body["input"][2]
    assert ours.keys() == theirs.keys()
    assert ours["encrypted_content"]
    their_second.body["input"][2] = ours
    assert {**second.body, "input": second.body["input"][3:]} == {
        **their_second.body,
        "input": their_second.body["input"][3:],
    }


@pytest.mark.parametrize("stream", [True, False])
async def test_schema_and_attachments_are_sent_as_the_official_package_sends_them(
    mock_provider: MockProvider, stream: bool
) -> None:
    mock_provider.reply('{"city": "Rome"}', '{"city": "Rome"}')
    content = [
        {"type": "text", "text": "Where?"},
        {"type": "image", "data": b"png", "media_type": "image/png"},
        {"type": "image", "url": "https://x.test/a.png"},
        {"type": "file", "data": b"%PDF", "media_type": "application/pdf", "filename": "a.pdf"},
        {"type": "file", "url": "https://x.test/b.pdf"},
    ]
    requester = connect(mock_provider, model="gpt-4.1", api="responses")
    deltas = await collect(
        requester, messages=[{"role": "user", "content": content}], schema=CITY, stream=stream
    )
    assert join(deltas, TextDelta) == '{"city": "Rome"}'
    async with official(mock_provider) as client:
        await client.responses.create(
            model="gpt-4.1",
            store=False,
            **({"stream": True} if stream else {}),
            text={"format": {"type": "json_schema", "name": "answer", "schema": CITY, "strict": True}},
            input=[
                {
                    "role": "user",
                    "content": [
                        {"type": "input_text", "text": "Where?"},
                        {"type": "input_image", "image_url": "data:image/png;base64,cG5n", "detail": "auto"},
                        {"type": "input_image", "image_url": "https://x.test/a.png", "detail": "auto"},
                        {
                            "type": "input_file",
                            "filename": "a.pdf",
                            "file_data": "data:application/pdf;base64,JVBERg==",
                        },
                        {"type": "input_file", "file_url": "https://x.test/b.pdf"},
                    ],
                }
            ],
        )
    compare(*mock_provider.requests)


async def test_official_package_reads_the_same_answer(mock_provider: MockProvider) -> None:
    for _ in range(2):
        mock_provider.replay((GOLDEN / "reasoning_and_calls.sse").read_bytes())
    deltas = await collect(connect(mock_provider))
    async with official(mock_provider) as client:
        events = await client.responses.create(model="gpt-5-mini", input="hello", stream=True)
        response = [event async for event in events][-1].response  # type: ignore[union-attr]
    assert join(deltas, TextDelta) == response.output_text
    calls = [item for item in response.output if item.type == "function_call"]
    for index, call in enumerate(calls):
        pieces = [delta for delta in deltas if isinstance(delta, ToolCallDelta) and delta.index == index]
        assert (pieces[0].call_id, pieces[0].name) == (call.call_id, call.name)
        assert "".join(piece.arguments for piece in pieces) == call.arguments
    finish = deltas[-1]
    assert isinstance(finish, FinishDelta)
    assert response.usage is not None
    assert finish.usage.input_tokens == response.usage.input_tokens
    assert finish.usage.reasoning_tokens == response.usage.output_tokens_details.reasoning_tokens


async def test_audio_is_refused_before_it_is_sent(mock_provider: MockProvider) -> None:
    for kind in ("audio", "file"):
        content = [{"type": kind, "data": b"x", "media_type": "audio/wav"}]
        with pytest.raises(ConfigError, match="does not take audio"):
            await collect(connect(mock_provider), messages=[{"role": "user", "content": content}])
    assert mock_provider.requests == []


@pytest.mark.parametrize(
    ("model", "fields", "path"),
    [
        ("gpt-5-mini", {}, "/v1/responses"),
        ("o3", {}, "/v1/responses"),
        ("gpt-4.1", {}, "/v1/chat/completions"),
        ("gpt-5-chat-latest", {}, "/v1/chat/completions"),
        ("gpt-5-mini", {"api": "chat"}, "/v1/chat/completions"),
        ("gpt-4.1", {"api": "responses"}, "/v1/responses"),
        ("gpt-5-mini", {"provider": "vllm"}, "/v1/chat/completions"),
        ("grok-4.3", {"provider": "xai"}, "/v1/responses"),
    ],
)
async def test_api_is_chosen_by_what_the_model_needs(
    mock_provider: MockProvider, model: str, fields: dict[str, Any], path: str
) -> None:
    mock_provider.reply("Hi")
    assert join(await collect(connect(mock_provider, model=model, **fields)), TextDelta) == "Hi"
    assert [request.path for request in mock_provider.requests] == [path]


@pytest.mark.parametrize(
    ("body", "status", "content_type"),
    [
        (b'{"detail":"Not Found"}', 404, "application/json"),
        (b"<html><body>404 Not Found</body></html>", 404, "text/html"),
        (b"405: Method Not Allowed", 405, "text/plain"),
    ],
)
async def test_server_without_the_api_is_asked_over_chat_completions_from_then_on(
    mock_provider: MockProvider, body: bytes, status: int, content_type: str
) -> None:
    mock_provider.replay(body, status=status, content_type=content_type)
    mock_provider.reply("Hi", "Hi")
    requester = connect(mock_provider, options={"max_tokens": 9})
    for _ in range(2):
        assert join(await collect(requester), TextDelta) == "Hi"
    paths = [request.path for request in mock_provider.requests]
    assert paths == ["/v1/responses", "/v1/chat/completions", "/v1/chat/completions"]
    assert mock_provider.requests[1].body["max_completion_tokens"] == 9


async def test_model_that_chat_completions_refuse_is_asked_over_responses_from_then_on(
    mock_provider: MockProvider,
) -> None:
    words = "Function tools with reasoning_effort are not supported for x in /v1/chat/completions. "
    refuse(mock_provider, 400, {"message": words + "Please use /v1/responses instead."})
    mock_provider.reply("Hi", "Hi")
    requester = connect(mock_provider, model="new-one")
    for _ in range(2):
        assert join(await collect(requester), TextDelta) == "Hi"
    paths = [request.path for request in mock_provider.requests]
    assert paths == ["/v1/chat/completions", "/v1/responses", "/v1/responses"]


async def test_server_without_the_api_that_was_set_is_an_error(mock_provider: MockProvider) -> None:
    mock_provider.replay(b'{"detail":"Not Found"}', status=404, content_type="application/json")
    error = await fail(connect(mock_provider, api="responses"))
    assert "has no Responses API" in error.message
    assert error.hint is not None
    assert "model.api" in error.hint


def refuse(provider: MockProvider, status: int, error: dict[str, Any]) -> None:
    body = json.dumps({"error": error}).encode()
    provider.replay(body, status=status, content_type="application/json")


@pytest.mark.parametrize(
    ("message", "left_out"),
    [
        ("Unsupported parameter: 'temperature' is not supported with this model.", "temperature"),
        ("Encrypted content is not supported with this model.", "include"),
        ("Unsupported parameter: 'reasoning.effort' is not supported with this model.", "reasoning"),
    ],
)
async def test_rejected_option_is_left_out_from_then_on(
    mock_provider: MockProvider, message: str, left_out: str
) -> None:
    refuse(mock_provider, 400, {"message": message, "code": "unsupported_parameter"})
    mock_provider.reply("Hi", "Hi")
    requester = connect(mock_provider, thinking="low", options={"temperature": 0.2})
    for _ in range(2):
        assert join(await collect(requester), TextDelta) == "Hi"
    sent = [set(request.body) for request in mock_provider.requests]
    assert sent[0] - sent[1] == {left_out}
    assert sent[2] == sent[1]


@pytest.mark.parametrize(
    ("listed", "efforts"),
    [
        (" Supported values are: 'medium', 'high'.", ["low", "medium", "medium", "high"]),
        ("", ["low", None, None, "high"]),
    ],
)
async def test_effort_that_a_model_rejects_has_a_warning_and_leaves_others_alone(
    mock_provider: MockProvider, caplog: pytest.LogCaptureFixture, listed: str, efforts: list[str | None]
) -> None:
    message = f"Unsupported value: 'low' is not supported with the 'gpt-9' model.{listed}"
    refuse(mock_provider, 400, {"message": message, "param": "reasoning.effort", "code": "unsupported_value"})
    mock_provider.reply("Hi", "Hi", "Hi")
    requester = connect(mock_provider)
    for thinking in ("low", "low", "high"):
        assert join(await collect(requester, options={"thinking": thinking}), TextDelta) == "Hi"
    sent = [request.body.get("reasoning", {}).get("effort") for request in mock_provider.requests]
    assert sent == efforts
    assert len([record for record in caplog.records if "low" in record.getMessage()]) == 1


async def test_reasoning_is_not_sent_to_a_model_that_does_not_think(mock_provider: MockProvider) -> None:
    message = "Reasoning input items can only be provided to a reasoning or computer use model."
    refuse(mock_provider, 400, {"message": message})
    mock_provider.reply("Hi", "Hi")
    data = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "old"}
    part = {"source": "openai-responses", "text": 0, "calls": 0, "data": data}
    messages = [*HELLO, {"role": "assistant", "content": "Hi", "provider_parts": [part]}, *HELLO]
    requester = connect(mock_provider)
    for _ in range(2):
        assert join(await collect(requester, messages=messages), TextDelta) == "Hi"
    sent = ["rs_1" in request.text for request in mock_provider.requests]
    assert sent == [True, False, False]


@pytest.mark.parametrize(
    ("status", "message", "code"),
    [
        (400, "The encrypted content could not be verified.", "invalid_encrypted_content"),
        (404, "Item with id 'rs_1' not found. Items are not persisted when `store` is set to false.", None),
    ],
)
async def test_reasoning_that_the_server_cannot_read_is_left_out_of_one_request(
    mock_provider: MockProvider, status: int, message: str, code: str | None
) -> None:
    refuse(mock_provider, status, {"message": message, "code": code})
    mock_provider.reply("Hi", "Hi")
    data = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "old"}
    part = {"source": "openai-responses", "text": 0, "calls": 0, "data": data}
    messages = [*HELLO, {"role": "assistant", "content": "Hi", "provider_parts": [part]}, *HELLO]
    requester = connect(mock_provider)
    for _ in range(2):
        await collect(requester, messages=messages)
    assert [
        "encrypted_content" in request.text.partition("store")[0] for request in mock_provider.requests
    ] == [
        True,
        False,
        True,
    ]


@pytest.mark.parametrize(
    ("status", "error", "kind", "words"),
    [
        (401, {"message": "Incorrect API key provided.", "code": "invalid_api_key"}, ModelError, "API key"),
        (
            404,
            {"message": "The model 'x' does not exist", "code": "model_not_found"},
            ModelError,
            "has no model 'gpt-5-mini'",
        ),
        (
            404,
            {"message": "The API deployment for this resource does not exist.", "code": "DeploymentNotFound"},
            ModelError,
            "has no model 'gpt-5-mini'",
        ),
        (
            404,
            {
                "message": "Previous response with id 'resp_1' not found.",
                "code": "previous_response_not_found",
            },
            ModelError,
            "rejected the request (status 404): Previous response",
        ),
        (429, {"message": "You exceeded it.", "code": "insufficient_quota"}, ModelError, "quota exceeded"),
        (429, {"message": "Slow down.", "code": "rate_limit_exceeded"}, TransientModelError, "rate limit"),
        (503, {"message": "Overloaded", "code": "server_error"}, TransientModelError, "failed"),
        (
            400,
            {"message": "Your input exceeds the context window.", "code": "context_length_exceeded"},
            ContextLengthError,
            "openai:gpt-5-mini at",
        ),
        (400, {"message": "Invalid prompt: flagged.", "code": "invalid_prompt"}, ModelError, "flagged"),
    ],
)
async def test_refusals_are_clear_errors(
    mock_provider: MockProvider, status: int, error: dict[str, Any], kind: type[ModelError], words: str
) -> None:
    refuse(mock_provider, status, error)
    found = await fail(connect(mock_provider))
    assert type(found) is kind
    assert words in found.message
    assert "openai" in found.message
    assert {request.path for request in mock_provider.requests} <= {"/v1/responses", "/v1/models"}


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("rate_limit_exceeded", TransientModelError),
        ("server_error", TransientModelError),
        ("insufficient_quota", ModelError),
        ("context_length_exceeded", ContextLengthError),
    ],
)
@pytest.mark.parametrize("is_event", [True, False])
async def test_failures_inside_a_stream_are_clear_errors(
    mock_provider: MockProvider, code: str, kind: type[ModelError], is_event: bool
) -> None:
    details = {"code": code, "message": "It went wrong."}
    event = {"type": "error", **details} if is_event else {"type": "response.failed"}
    if not is_event:
        event["response"] = {"status": "failed", "error": details}
    mock_provider.replay(f"data: {json.dumps(event)}\n\n".encode())
    error = await fail(connect(mock_provider))
    assert type(error) is kind
    assert "It went wrong." in error.message


async def test_failure_before_the_first_token_is_tried_again(mock_provider: MockProvider) -> None:
    mock_provider.replay((GOLDEN / "failed.sse").read_bytes())
    mock_provider.reply("Hi")
    requester = connect(mock_provider, retries=RetryPolicy(attempts=2, first_delay=0.0))
    assert join(await collect(requester), TextDelta) == "Hi"


async def test_stream_that_ends_early_is_an_error_after_its_text(mock_provider: MockProvider) -> None:
    data = (GOLDEN / "text.sse").read_bytes()
    mock_provider.replay(data[: data.index(b"event: response.output_text.done")])
    deltas = connect(mock_provider).stream(ModelRequest(messages=HELLO))
    found = [await anext(deltas) for _ in range(5)]
    assert join(found, TextDelta) == "Grüße aus 北京 🦊!"
    with pytest.raises(TransientModelError, match="was interrupted after 5 pieces"):
        await anext(deltas)


async def test_scripted_chat_server_needs_no_setting_for_older_models() -> None:
    async with ScriptedServer(["Hi"]) as server:
        requester = OpenAIRequester(Endpoint(model="gpt-4.1", base_url=server.url))
        assert join(await collect(requester), TextDelta) == "Hi"
