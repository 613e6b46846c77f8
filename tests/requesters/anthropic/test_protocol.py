"""Requests to the Messages API over a real socket, beside those of the official package."""

import base64
import json
import logging
from typing import Any

import pytest
from anthropic import AsyncAnthropic

from anthropic_events import START, begin, encode, more, stream
from dovetail.errors import ConfigError, ContextLengthError, ModelError, TransientModelError
from dovetail.events.call import ModelRequest, ToolSpec, write_result
from dovetail.events.delta import (
    Delta,
    FinishDelta,
    ProviderPartDelta,
    ReasoningDelta,
    TextDelta,
    ToolCallDelta,
    Usage,
)
from dovetail.loop.turn import Turn
from dovetail.requesters.anthropic.protocol import Messages
from dovetail.requesters.http.endpoint import Endpoint
from dovetail.requesters.http.requester import HttpRequester
from dovetail.requesters.limits import RetryPolicy
from mock_provider import MockProvider

MODEL = "claude-haiku-4-5"
KEY = "sk-ant-secret-key-0123456789"
ADD = ToolSpec(
    name="add",
    description="Adds two numbers.",
    parameters={"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
)
HELLO = ModelRequest(messages=[{"role": "user", "content": "hi"}])
ONCE = RetryPolicy(attempts=1)


def connect(provider: MockProvider, **fields: Any) -> HttpRequester:
    known = {"provider": "anthropic", "model": MODEL, "base_url": f"{provider.url}/v1", "api_key": KEY}
    return HttpRequester(Messages(Endpoint(**{**known, **fields})))


async def collect(requester: HttpRequester, request: ModelRequest = HELLO) -> list[Delta]:
    try:
        return [delta async for delta in requester.stream(request)]
    finally:
        await requester.close()


def text_of(deltas: list[Delta]) -> str:
    return "".join(delta.text for delta in deltas if isinstance(delta, TextDelta))


@pytest.mark.parametrize("streams", [True, False])
async def test_thinking_text_calls_and_usage_arrive(mock_provider: MockProvider, streams: bool) -> None:
    mock_provider.reply(
        {
            "reasoning": "Let me see.",
            "reasoningSignature": "SIG",
            "redactedThinking": ["RED"],
            "content": "Grüße",
            "toolCalls": [
                {"id": "t1", "name": "add", "arguments": {"a": 1}},
                {"id": "t2", "name": "add", "arguments": {"a": 2}},
            ],
            "usage": {"input_tokens": 7, "output_tokens": 3},
        },
        chunkSize=4,
    )
    request = ModelRequest(messages=HELLO.messages, tools=[ADD], stream=streams)
    deltas = await collect(connect(mock_provider), request)
    assert [delta.data["type"] for delta in deltas if isinstance(delta, ProviderPartDelta)] == [
        "redacted_thinking",
        "thinking",
    ]
    assert "".join(delta.text for delta in deltas if isinstance(delta, ReasoningDelta)) == "Let me see."
    assert text_of(deltas) == "Grüße"
    calls = [delta for delta in deltas if isinstance(delta, ToolCallDelta)]
    assert [(call.index, call.call_id) for call in calls if call.name] == [(0, "t1"), (1, "t2")]
    assert json.loads("".join(call.arguments for call in calls if call.index == 1)) == {"a": 2}
    finish = deltas[-1]
    assert isinstance(finish, FinishDelta)
    assert (finish.reason, finish.usage, finish.model) == ("tool-calls", Usage(7, 3), MODEL)
    assert finish.request_id
    [received] = mock_provider.requests
    assert (received.method, received.path) == ("POST", "/v1/messages")
    assert received.headers["x-api-key"] == KEY
    assert received.headers["anthropic-version"] == "2023-06-01"
    assert "authorization" not in received.headers


async def test_a_conversation_has_the_same_bodies_as_with_the_official_package(
    mock_provider: MockProvider,
) -> None:
    replies = [
        {
            "reasoning": "I must add.",
            "reasoningSignature": "SIG1",
            "content": "Adding.",
            "toolCalls": [
                {"id": "toolu_1", "name": "add", "arguments": {"a": 1}},
                {"id": "toolu_2", "name": "add", "arguments": {"a": 2}},
            ],
        },
        {"redactedThinking": ["RED"], "content": "It is 3."},
        "You are welcome.",
    ]
    pdf, png = base64.b64encode(b"%PDF-1.4").decode(), base64.b64encode(b"png").decode()
    mock_provider.reply(*replies, *replies)

    client = AsyncAnthropic(base_url=mock_provider.url, api_key=KEY)
    theirs: list[Any] = [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "What do these add up to?"},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": png}},
                {
                    "type": "document",
                    "source": {"type": "base64", "media_type": "application/pdf", "data": pdf},
                    "title": "sums.pdf",
                },
            ],
        }
    ]
    tool = {"name": "add", "description": ADD.description, "input_schema": dict(ADD.parameters)}
    for turn in range(3):
        async with client.messages.stream(
            model=MODEL,
            max_tokens=64_000,
            system=[{"type": "text", "text": "Be brief."}],
            messages=theirs,
            tools=[tool],  # type: ignore[list-item]
            thinking={"type": "enabled", "budget_tokens": 2048},
            stop_sequences=["END"],
        ) as streaming:
            answer = await streaming.get_final_message()
        theirs.append({"role": "assistant", "content": answer.content})
        if turn == 0:
            results = [
                {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": [text(str(number))]}
                for number in (1, 2)
            ]
            theirs.append({"role": "user", "content": results})
        else:
            theirs.append({"role": "user", "content": [text("Thanks!")]})
    await client.close()

    requester = connect(mock_provider, thinking="low", options={"stop": "END"})
    ours: list[Any] = [
        {"role": "system", "content": "Be brief."},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "What do these add up to?"},
                {"type": "image", "data": b"png", "media_type": "image/png"},
                {
                    "type": "file",
                    "data": b"%PDF-1.4",
                    "media_type": "application/pdf",
                    "filename": "sums.pdf",
                },
            ],
        },
    ]
    for number in range(3):
        turn = Turn(number, lambda event: None)
        request = ModelRequest(messages=ours, tools=[ADD])
        await turn.read_answer(requester, requester.stream(request))
        ours.append(turn.message)
        if number == 0:
            ours += [write_result("toolu_1", "1"), write_result("toolu_2", "2")]
        else:
            ours.append({"role": "user", "content": "Thanks!"})
    await requester.close()

    bodies = [request.body for request in mock_provider.requests]
    assert len(bodies) == 6
    for expected, body in zip(bodies[:3], bodies[3:], strict=True):
        assert set(body) == set(expected)
        for name, value in expected.items():
            assert body[name] == value, name


def text(value: str) -> dict[str, Any]:
    return {"type": "text", "text": value}


REFUSALS = [
    (
        401,
        "authentication_error",
        "invalid x-api-key",
        "rejected the API key",
        "model.providers.anthropic.api_key",
    ),
    (
        403,
        "permission_error",
        "Your key may not use it.",
        "rejected the API key",
        "model.providers.anthropic.api_key",
    ),
    (400, "invalid_request_error", "Your credit balance is too low.", "quota exceeded", "Add credit"),
    (402, "billing_error", "Please check your plan.", "quota exceeded", "Add credit"),
    (413, "invalid_request_error", "Request exceeds the maximum size", "body too large", "smaller"),
    (429, "rate_limit_error", "Too many tokens per minute.", "rate limit exceeded", "fewer requests"),
    (500, "api_error", "Internal server error", "failed", None),
    (529, "overloaded_error", "Overloaded", "is overloaded", "model.fallbacks"),
]


@pytest.mark.parametrize(("status", "kind", "message", "meaning", "hint"), REFUSALS)
async def test_a_refusal_is_explained_without_the_key(
    mock_provider: MockProvider, status: int, kind: str, message: str, meaning: str, hint: str | None
) -> None:
    error = {"type": "error", "error": {"type": kind, "message": f"{message} {KEY}"}}
    body = json.dumps(error).encode()
    headers = {"request-id": "req_7"}
    mock_provider.replay(body, status=status, content_type="application/json", headers=headers)
    with pytest.raises(ModelError, match=meaning) as caught:
        await collect(connect(mock_provider, retries=ONCE))
    failure = caught.value
    assert failure.provider == "anthropic"
    assert failure.message.startswith(f"anthropic:{MODEL} at {mock_provider.url}/v1 ")
    assert (failure.status, failure.request_id) == (status, "req_7")
    assert message in failure.message
    assert isinstance(failure, TransientModelError) == (status in (429, 500, 529))
    assert hint is None or hint in (failure.hint or "")
    assert KEY not in f"{failure} {failure!r} {failure.hint}"


async def test_a_prompt_that_is_too_long_is_a_context_error_with_its_limit(
    mock_provider: MockProvider,
) -> None:
    error = {"message": "prompt is too long: 207791 tokens > 200000 maximum", "type": "invalid_request_error"}
    mock_provider.reply({"error": error, "status": 400})
    with pytest.raises(
        ContextLengthError, match=f"anthropic:{MODEL} at .* context length exceeded"
    ) as caught:
        await collect(connect(mock_provider))
    assert caught.value.limit == 200_000


async def test_an_unknown_model_is_compared_with_the_servers_list(mock_provider: MockProvider) -> None:
    listed = {"data": [{"type": "model", "id": MODEL}, {"type": "model", "id": "claude-opus-5"}]}
    error = {"type": "error", "error": {"type": "not_found_error", "message": "model: claude-haiku-45"}}
    for status, data in ((404, error), (200, listed)):
        mock_provider.replay(json.dumps(data).encode(), status=status, content_type="application/json")
    with pytest.raises(ModelError) as caught:
        await collect(connect(mock_provider, model="claude-haiku-45"))
    assert MODEL in (caught.value.hint or "")
    assert mock_provider.requests[1].path.startswith("/v1/models")


async def test_an_overloaded_server_is_asked_again_after_its_wait(mock_provider: MockProvider) -> None:
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    limited = {"error": {"message": "slow down", "type": "rate_limit_error"}, "status": 429, "retryAfter": 2}
    mock_provider.reply(limited)
    mock_provider.reply({"error": {"message": "Overloaded", "type": "overloaded_error"}, "status": 529})
    mock_provider.reply("Hello")
    assert text_of(await collect(connect(mock_provider, retries=RetryPolicy(sleep=sleep)))) == "Hello"
    assert waits[0] == 2
    assert len(waits) == 2


async def test_an_overload_before_the_first_delta_of_a_stream_is_retried(mock_provider: MockProvider) -> None:
    async def sleep(seconds: float) -> None:
        pass

    failure = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    mock_provider.replay(encode(START, {"type": "ping"}, failure))
    mock_provider.replay(stream(text("Hello")))
    assert text_of(await collect(connect(mock_provider, retries=RetryPolicy(sleep=sleep)))) == "Hello"


async def test_an_overload_in_the_middle_of_a_stream_says_what_to_do(mock_provider: MockProvider) -> None:
    failure = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    half = [begin(0, type="text", text=""), more(0, "text_delta", text="Hel")]
    mock_provider.replay([encode(START, *half), encode(failure)])
    with pytest.raises(TransientModelError, match="reported an error while answering: Overloaded") as caught:
        await collect(connect(mock_provider, retries=ONCE))
    assert (caught.value.status, caught.value.hint) == (529, "Try again later, or set model.fallbacks.")


@pytest.mark.parametrize("ending", ["end", "reset"])
async def test_a_stream_that_ends_early_is_an_error(mock_provider: MockProvider, ending: Any) -> None:
    half = [begin(0, type="text", text=""), more(0, "text_delta", text="Hel")]
    mock_provider.replay(encode(START, *half), ending=ending)
    named = r"The answer of anthropic:[\w-]+ at http://[\d.:]+\S* was interrupted after 1 piece: "
    with pytest.raises(TransientModelError, match=named) as caught:
        await collect(connect(mock_provider))
    assert "Try again" in str(caught.value.hint)


async def test_refused_content_ends_with_its_own_reason(mock_provider: MockProvider) -> None:
    mock_provider.replay(stream(text("I cannot help with that."), reason="refusal"))
    deltas = await collect(connect(mock_provider))
    assert isinstance(deltas[-1], FinishDelta)
    assert deltas[-1].reason == "content-filter"


async def test_arguments_that_are_no_json_arrive_as_they_are(mock_provider: MockProvider) -> None:
    events = [begin(0, type="tool_use", id="t", name="add", input={})]
    events.append(more(0, "input_json_delta", partial_json='{"a": '))
    whole = stream()
    opening, closing = encode(START), whole[len(encode(START)) :]
    mock_provider.replay(opening + encode(*events, {"type": "content_block_stop", "index": 0}) + closing)
    deltas = await collect(connect(mock_provider))
    assert "".join(delta.arguments for delta in deltas if isinstance(delta, ToolCallDelta)) == '{"a": '


async def test_a_paused_answer_is_continued_as_one(mock_provider: MockProvider) -> None:
    search = {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {"query": "x"}}
    found = {"type": "web_search_tool_result", "tool_use_id": "srv_1", "content": []}
    mock_provider.replay(stream(text("Looking. "), search, reason="pause_turn"))
    mock_provider.replay(stream(found, text("Found.")))
    deltas = await collect(connect(mock_provider))
    assert text_of(deltas) == "Looking. Found."
    assert [delta.data for delta in deltas if isinstance(delta, ProviderPartDelta)] == [search, found]
    finish = deltas[-1]
    assert isinstance(finish, FinishDelta)
    assert (finish.reason, finish.usage.input_tokens, finish.usage.output_tokens) == ("stop", 2220, 10)
    continued = mock_provider.requests[1].body["messages"]
    assert continued[1] == {"role": "assistant", "content": [text("Looking. "), search]}


async def test_refused_options_are_left_out_and_the_request_repeated(
    mock_provider: MockProvider, caplog: pytest.LogCaptureFixture
) -> None:
    for message in (
        "temperature: not supported",
        "output_config.format: Extra inputs",
        "max_tokens: 64000 > 99",
    ):
        error = {"message": message, "type": "invalid_request_error"}
        mock_provider.reply({"error": error, "status": 400})
    mock_provider.reply("Hello")
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    requester = connect(mock_provider, options={"temperature": 0.5})
    with caplog.at_level(logging.WARNING):
        deltas = await collect(requester, ModelRequest(messages=HELLO.messages, schema=schema))
    assert text_of(deltas) == "Hello"
    assert not requester.follows_schema
    last = mock_provider.requests[-1].body
    assert (last["max_tokens"], "temperature" in last, "output_config" in last) == (99, False, False)
    assert f"{MODEL} rejects 'temperature', which is left out from now on" in caplog.text


async def test_features_in_beta_are_named_only_where_they_are_used(mock_provider: MockProvider) -> None:
    mock_provider.reply("a", "b", "c")
    await collect(connect(mock_provider))
    await collect(connect(mock_provider, thinking="low"))
    await collect(connect(mock_provider, thinking="low", headers={"Anthropic-Beta": "mine"}))
    assert [request.headers.get("anthropic-beta") for request in mock_provider.requests] == [
        None,
        "interleaved-thinking-2025-05-14",
        "mine,interleaved-thinking-2025-05-14",
    ]


async def test_thinking_of_a_changed_conversation_is_dropped_instead_of_an_error(
    mock_provider: MockProvider,
) -> None:
    message = "Invalid `signature` in `thinking` block. The block is bound to a different conversation."
    mock_provider.reply({"error": {"message": message, "type": "invalid_request_error"}, "status": 400})
    mock_provider.reply("Hello")
    assert text_of(await collect(connect(mock_provider, model="claude-opus-5-5"))) == "Hello"
    again = mock_provider.requests[1]
    assert again.body["thinking"]["block_binding"] == {"prefix_mismatch_behavior": "drop_block"}
    assert again.headers["anthropic-beta"] == "thinking-binding-controls-2026-08-01"


async def test_thinking_that_another_account_signed_is_left_out_of_that_request_only(
    mock_provider: MockProvider,
) -> None:
    signed = {"type": "thinking", "thinking": "hm", "signature": "S"}
    part = {"source": "anthropic", "text": 0, "calls": 0, "data": signed}
    said = {"role": "assistant", "content": "Hello", "provider_parts": [part]}
    request = ModelRequest(messages=[*HELLO.messages, said, *HELLO.messages])
    message = "messages.1.content.0: Invalid `signature` in `thinking` block"
    mock_provider.reply({"error": {"message": message, "type": "invalid_request_error"}, "status": 400})
    mock_provider.reply("one", "two")
    requester = connect(mock_provider)
    assert text_of(await collect(requester, request)) == "one"
    assert text_of(await collect(requester, request)) == "two"
    assert ["thinking" in received.text for received in mock_provider.requests] == [True, False, True]


async def test_audio_is_refused_before_anything_is_sent(mock_provider: MockProvider) -> None:
    part = {"type": "audio", "data": b"x", "media_type": "audio/wav"}
    with pytest.raises(ConfigError, match=f"^anthropic:{MODEL} .* do not accept audio"):
        await collect(connect(mock_provider), ModelRequest(messages=[{"role": "user", "content": [part]}]))
    assert mock_provider.requests == []


@pytest.mark.parametrize("media_type", ["audio/wav", "video/mp4", "application/msword", "image/svg+xml"])
async def test_chat_continues_after_an_attachment_that_only_an_earlier_model_could_read(
    mock_provider: MockProvider, media_type: str
) -> None:
    part = {"type": "file", "data": b"x", "media_type": media_type}
    mock_provider.reply("welcome")
    messages = [{"role": "user", "content": [part]}, {"role": "assistant", "content": "A fox."}]
    request = ModelRequest(messages=[*messages, {"role": "user", "content": "thanks"}])
    assert text_of(await collect(connect(mock_provider), request)) == "welcome"
    assert f"An attachment of type {media_type} was here" in mock_provider.requests[0].text


async def test_a_wrong_value_of_an_option_is_an_error_and_does_not_disable_the_option(
    mock_provider: MockProvider,
) -> None:
    error = {"message": "temperature: range: 0..1", "type": "invalid_request_error"}
    mock_provider.reply({"error": error, "status": 400}, "Hello")
    requester = connect(mock_provider)
    with pytest.raises(ModelError, match="temperature: range"):
        await collect(requester, ModelRequest(messages=HELLO.messages, options={"temperature": 1.5}))
    await collect(requester, ModelRequest(messages=HELLO.messages, options={"temperature": 0.1}))
    assert [request.body.get("temperature") for request in mock_provider.requests] == [1.5, 0.1]


async def test_rejected_thinking_of_one_request_does_not_disable_that_of_others(
    mock_provider: MockProvider, caplog: pytest.LogCaptureFixture
) -> None:
    message = "thinking.budget_tokens: must be at most 9000"
    mock_provider.reply({"error": {"message": message, "type": "invalid_request_error"}, "status": 400})
    mock_provider.reply("one", "two", "three")
    requester = connect(mock_provider)
    for thinking in (9001, 9001, "low"):
        await collect(requester, ModelRequest(messages=HELLO.messages, options={"thinking": thinking}))
    budgets = [request.body.get("thinking", {}).get("budget_tokens") for request in mock_provider.requests]
    assert budgets == [9001, None, None, 2048]
    assert caplog.text.count(f"{MODEL} rejects 'thinking', which is left out where it is 9001") == 1


async def test_options_that_exclude_each_other_are_sent_one_at_a_time(mock_provider: MockProvider) -> None:
    message = "`temperature` and `top_p` cannot both be specified for this model."
    mock_provider.reply({"error": {"message": message, "type": "invalid_request_error"}, "status": 400})
    mock_provider.reply("one", "two")
    requester = connect(mock_provider)
    both = ModelRequest(messages=HELLO.messages, options={"temperature": 0.5, "top_p": 0.9})
    await collect(requester, both)
    await collect(requester, ModelRequest(messages=HELLO.messages, options={"temperature": 0.5}))
    assert [request.body.get("temperature") for request in mock_provider.requests] == [0.5, None, 0.5]
