"""Requests to a Gemini API over a real socket: bodies as the official SDK sends them, and clear errors."""

import json
import logging
from collections.abc import Sequence
from typing import Any

import pytest

from dovetail.errors import ContextLengthError, ModelError, TransientModelError
from dovetail.events.call import ChatMessage, ModelRequest, ToolSpec
from dovetail.events.delta import Delta, FinishDelta, ReasoningDelta, TextDelta, ToolCallDelta, Usage
from dovetail.requesters.google.contents import SKIP_SIGNATURE
from dovetail.requesters.google.protocol import GenerateContent
from dovetail.requesters.http.endpoint import Endpoint
from dovetail.requesters.http.requester import HttpRequester
from dovetail.requesters.limits import RetryPolicy
from mock_provider import MockProvider

KEY = "AIzaSy-secret-key"
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
ADD = ToolSpec(name="add", description="Add.", parameters=SCHEMA)
HELLO: Sequence[ChatMessage] = [{"role": "user", "content": "hello"}]


class Waits(list[float]):
    """Seconds that a requester would have waited."""

    async def __call__(self, seconds: float) -> None:
        self.append(seconds)


def connect(provider: MockProvider, model: str = "gemini-2.5-flash", **fields: Any) -> HttpRequester:
    given = {"retries": RetryPolicy(sleep=Waits()), "base_url": f"{provider.url}/v1beta", **fields}
    return HttpRequester(GenerateContent(Endpoint(provider="google", model=model, api_key=KEY, **given)))


async def collect(requester: HttpRequester, **request: Any) -> list[Delta]:
    return [delta async for delta in requester.stream(ModelRequest(**{"messages": HELLO, **request}))]


def refuse(
    provider: MockProvider, status: int, message: str, code: str, details: Any = (), times: int = 1
) -> None:
    error = {"error": {"code": status, "message": message, "status": code, "details": list(details)}}
    for _ in range(times):
        provider.replay(json.dumps(error).encode(), status=status, content_type="application/json")


def to_camel(value: Any) -> Any:
    """The SDK sends some fields in snake case, which means the same to the API."""
    if isinstance(value, list):
        return [to_camel(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        name
        if name in ("args", "response")
        else "".join(
            word if not place else word.capitalize() for place, word in enumerate(name.split("_"))
        ): to_camel(inner)
        for name, inner in value.items()
    }


@pytest.mark.parametrize("stream", [True, False])
async def test_thoughts_text_calls_and_usage_arrive(mock_provider: MockProvider, stream: bool) -> None:
    mock_provider.reply(
        {
            "reasoning": "hm",
            "content": "grüße",
            "toolCalls": [{"name": "add", "arguments": {"a": 1}, "id": "c1"}],
            "usage": {"promptTokenCount": 9, "candidatesTokenCount": 5},
        }
    )

    deltas = await collect(connect(mock_provider), tools=[ADD], stream=stream)

    assert deltas[:-1] == [
        ReasoningDelta("hm"),
        TextDelta("grüße"),
        ToolCallDelta(0, "c1", "add", '{"a": 1}'),
    ]
    finish = deltas[-1]
    assert isinstance(finish, FinishDelta)
    assert (finish.reason, finish.usage) == ("tool-calls", Usage(9, 5))
    (request,) = mock_provider.requests
    way = "streamGenerateContent?alt=sse" if stream else "generateContent"
    assert request.path == f"/v1beta/models/gemini-2.5-flash:{way}"
    assert request.headers["x-goog-api-key"] == KEY
    assert "authorization" not in request.headers


async def test_the_bodies_of_a_conversation_are_those_of_the_official_sdk(
    mock_provider: MockProvider,
) -> None:
    genai = pytest.importorskip("google.genai")
    types = genai.types
    calls = [
        {"name": "add", "arguments": {"a": 1}, "id": "c1"},
        {"name": "add", "arguments": {"a": 2}, "id": "c2"},
    ]
    mock_provider.reply({"toolCalls": calls, "finishReason": "stop"}, "Three.", "Four.")

    options = types.HttpOptions(base_url=mock_provider.url, api_version="v1beta")
    client = genai.Client(api_key=KEY, http_options=options)
    declared = types.FunctionDeclaration(name="add", description="Add.", parameters_json_schema=SCHEMA)
    config = types.GenerateContentConfig(
        system_instruction="Be brief.",
        temperature=0.5,
        max_output_tokens=50,
        top_p=0.9,
        stop_sequences=["END"],
        tools=[types.Tool(function_declarations=[declared]), types.Tool(google_search=types.GoogleSearch())],
        tool_config=types.ToolConfig(function_calling_config=types.FunctionCallingConfig(mode="ANY")),
        thinking_config=types.ThinkingConfig(include_thoughts=True, thinking_budget=1024),
        safety_settings=[
            types.SafetySetting(category="HARM_CATEGORY_HARASSMENT", threshold="BLOCK_ONLY_HIGH")
        ],
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
    )
    chat = client.chats.create(model="gemini-2.5-flash", config=config)
    first = [
        types.Part.from_text(text="How much?"),
        types.Part.from_bytes(data=b"\x89PNG", mime_type="image/png"),
        types.Part.from_uri(file_uri="https://x.example/a.pdf", mime_type="application/pdf"),
    ]
    results = [
        types.Part(
            function_response=types.FunctionResponse(id=call_id, name="add", response={"output": text})
        )
        for call_id, text in (("c1", "1"), ("c2", "2"))
    ]
    for message in (first, results, "And then?"):
        assert list(chat.send_message_stream(message))
    expected = [to_camel(request.body) for request in mock_provider.requests]
    mock_provider.reset()
    mock_provider.reply({"toolCalls": calls, "finishReason": "stop"}, "Three.", "Four.")

    requester = connect(
        mock_provider,
        thinking=1024,
        options={"temperature": 0.5, "max_tokens": 50, "top_p": 0.9, "stop": ["END"]},
        body={
            "tools": [{"googleSearch": {}}],
            "safetySettings": [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_ONLY_HIGH"}],
        },
    )
    messages: list[ChatMessage] = [
        {"role": "system", "content": "Be brief."},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "How much?"},
                {"type": "image", "data": b"\x89PNG", "media_type": "image/png"},
                {"type": "file", "url": "https://x.example/a.pdf"},
            ],
        },
    ]
    made = await collect(requester, messages=messages, tools=[ADD], tool_choice="required")
    messages.append(
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [
                {"id": call.call_id, "function": {"name": call.name, "arguments": call.arguments}}
                for call in made
                if isinstance(call, ToolCallDelta)
            ],
        }
    )
    messages += [{"role": "tool", "tool_call_id": "c2", "content": "2"}]
    messages += [{"role": "tool", "tool_call_id": "c1", "content": "1"}]
    await collect(requester, messages=messages, tools=[ADD], tool_choice="required")
    messages += [{"role": "assistant", "content": "Three."}, {"role": "user", "content": "And then?"}]
    await collect(requester, messages=messages, tools=[ADD], tool_choice="required")

    assert [request.body for request in mock_provider.requests] == expected


async def test_a_schema_is_sent_as_the_official_sdk_sends_it(mock_provider: MockProvider) -> None:
    genai = pytest.importorskip("google.genai")
    mock_provider.reply('{"a": 1}', '{"a": 1}')
    options = genai.types.HttpOptions(base_url=mock_provider.url, api_version="v1beta")
    client = genai.Client(api_key=KEY, http_options=options)
    client.models.generate_content(
        model="gemini-3-flash-preview",
        contents="hello",
        config={
            "response_mime_type": "application/json",
            "response_json_schema": SCHEMA,
            "thinking_config": {"thinking_level": "HIGH", "include_thoughts": True},
        },
    )

    requester = connect(mock_provider, "gemini-3-flash-preview", thinking="high")
    await collect(requester, schema=SCHEMA, stream=False)

    theirs, ours = (request for request in mock_provider.requests)
    assert ours.body == to_camel(theirs.body)
    assert ours.path == theirs.path


@pytest.mark.parametrize(
    ("model", "structured", "is_sent"),
    [
        ("gemini-2.5-flash", "auto", False),
        ("gemini-2.5-flash", "schema", True),
        ("gemini-3-flash-preview", "auto", True),
        ("gemini-3-flash-preview", "prompt", False),
    ],
)
async def test_tools_and_a_schema_go_together_where_the_model_accepts_both(
    mock_provider: MockProvider, model: str, structured: str, is_sent: bool
) -> None:
    mock_provider.reply("1")

    await collect(connect(mock_provider, model, structured=structured), schema=SCHEMA, tools=[ADD])

    body = mock_provider.requests[0].body
    assert ("responseJsonSchema" in body.get("generationConfig", {})) is is_sent


async def test_a_rejected_schema_is_left_out_from_then_on(mock_provider: MockProvider) -> None:
    refuse(mock_provider, 400, "Unsupported response mime type: application/json", "INVALID_ARGUMENT")
    mock_provider.reply("1", "2")
    requester = connect(mock_provider)

    await collect(requester, schema=SCHEMA)
    await collect(requester, schema=SCHEMA)

    bodies = [request.body for request in mock_provider.requests]
    assert ["generationConfig" in body for body in bodies] == [True, False, False]
    assert not requester.follows_schema


async def test_a_rejected_signature_is_left_out_of_that_request_only(mock_provider: MockProvider) -> None:
    refuse(mock_provider, 400, "Corrupted thought signature.", "INVALID_ARGUMENT")
    mock_provider.reply("1", "2")
    requester = connect(mock_provider, "gemini-3-flash-preview")
    data = {"kind": "call", "model": "gemini-3-flash", "fields": {"thoughtSignature": "SIGNED"}}
    messages: list[ChatMessage] = [
        *HELLO,
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": "c1", "function": {"name": "add", "arguments": "{}"}}],
            "provider_parts": [{"source": "google", "text": 0, "calls": 0, "data": data}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "1"},
    ]

    await collect(requester, messages=messages)
    await collect(requester, messages=messages)

    sent = [request.body["contents"][1]["parts"][0] for request in mock_provider.requests]
    assert [part["thoughtSignature"] for part in sent] == ["SIGNED", SKIP_SIGNATURE, "SIGNED"]


async def test_rejected_thinking_is_left_out_with_one_warning(
    mock_provider: MockProvider, caplog: pytest.LogCaptureFixture
) -> None:
    message = "Budget 0 is invalid. This model only works in thinking mode."
    refuse(mock_provider, 400, message, "INVALID_ARGUMENT")
    mock_provider.reply("1", "2")
    requester = connect(mock_provider, "gemini-2.5-strict", thinking="off")

    with caplog.at_level(logging.WARNING):
        await collect(requester)
        await collect(requester)

    assert [request.body.get("generationConfig") for request in mock_provider.requests][1:] == [None, None]
    (warning,) = [record.getMessage() for record in caplog.records]
    assert warning == (
        f"google:gemini-2.5-strict rejects 'thinking', which is left out where it is 'off': {message}"
    )


@pytest.mark.parametrize(
    ("model", "thinking", "warnings"),
    [
        ("gemini-1.5-flash", "high", ["gemini-1.5-flash cannot think before it answers."]),
        ("gemini-1.5-pro", "off", []),
        ("gemini-2.5-pro", "off", ["gemini-2.5-pro always thinks; it is asked to think little."]),
    ],
)
async def test_thinking_that_a_model_cannot_follow_is_one_warning(
    mock_provider: MockProvider,
    caplog: pytest.LogCaptureFixture,
    model: str,
    thinking: Any,
    warnings: list[str],
) -> None:
    mock_provider.reply("1", "2")
    requester = connect(mock_provider, model, thinking=thinking)

    with caplog.at_level(logging.WARNING):
        await collect(requester)
        await collect(requester)

    assert [record.getMessage() for record in caplog.records] == warnings


@pytest.mark.parametrize(
    ("effort", "level"), [("minimal", "MINIMAL"), ("medium", "MEDIUM"), ("xhigh", "HIGH")]
)
async def test_the_effort_of_openai_is_a_level(mock_provider: MockProvider, effort: str, level: str) -> None:
    mock_provider.reply("1")

    await collect(connect(mock_provider, "gemini-3-flash-preview"), options={"reasoning_effort": effort})

    config = mock_provider.requests[0].body["generationConfig"]
    assert config["thinkingConfig"]["thinkingLevel"] == level
    assert set(config) == {"thinkingConfig"}


async def test_vertex_is_reached_with_an_authorization_of_its_own(mock_provider: MockProvider) -> None:
    mock_provider.reply("hello")
    address = f"{mock_provider.url}/v1/projects/p/locations/global/publishers/google"
    requester = connect(mock_provider, base_url=address, headers={"Authorization": "Bearer token-1"})

    deltas = await collect(requester)

    assert deltas[0] == TextDelta("hello")
    (request,) = mock_provider.requests
    assert request.path.startswith(
        "/v1/projects/p/locations/global/publishers/google/models/gemini-2.5-flash:"
    )
    assert request.headers["authorization"] == "Bearer token-1"
    assert "x-goog-api-key" not in request.headers
    assert "token-1" in requester.secrets or "Bearer token-1" in requester.secrets


INVALID_KEY = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}


@pytest.mark.parametrize(
    ("status", "code", "message", "text", "hint"),
    [
        (
            400,
            "INVALID_ARGUMENT",
            "API key not valid. Please pass a valid API key.",
            "rejected the API key",
            "key",
        ),
        (403, "PERMISSION_DENIED", f"Key {KEY} was reported as leaked.", "rejected the API key", "key"),
        (
            400,
            "INVALID_ARGUMENT",
            "Function calling is not enabled for models/gemma-3-1b-it",
            "google:gemini-2.5-flash does not support tools",
            "tools.strategy",
        ),
    ],
)
async def test_a_rejected_request_is_explained_without_the_key(
    mock_provider: MockProvider, status: int, code: str, message: str, text: str, hint: str
) -> None:
    refuse(mock_provider, status, message, code, [INVALID_KEY])

    with pytest.raises(ModelError) as raised:
        await collect(connect(mock_provider))

    assert text in raised.value.message
    assert hint in str(raised.value.hint)
    assert KEY not in f"{raised.value!r} {raised.value} {raised.value.hint}"
    assert len(mock_provider.requests) == 1


async def test_an_unknown_model_is_compared_with_the_known_ones(mock_provider: MockProvider) -> None:
    refuse(
        mock_provider,
        404,
        "models/gemini-2.5-flahs is not found for API version v1beta, or is not supported.",
        "NOT_FOUND",
    )
    known = {"models": [{"name": "models/gemini-2.5-flash"}, {"name": "models/gemini-2.5-pro"}]}
    mock_provider.replay(json.dumps(known).encode(), content_type="application/json")

    with pytest.raises(ModelError, match=r"has no model 'gemini-2\.5-flahs'") as raised:
        await collect(connect(mock_provider, "gemini-2.5-flahs"))

    assert "gemini-2.5-flash" in str(raised.value.hint)
    assert mock_provider.requests[1].path == "/v1beta/models?pageSize=1000"
    assert mock_provider.requests[1].headers["x-goog-api-key"] == KEY


@pytest.mark.parametrize(
    "message",
    [
        "The input token count (1091639) exceeds the maximum number of tokens allowed (1048576).",
        "The input token count exceeds the maximum number of tokens allowed 1048576.",
    ],
)
async def test_too_long_a_conversation_is_an_error_of_its_own(
    mock_provider: MockProvider, message: str
) -> None:
    refuse(mock_provider, 400, message, "INVALID_ARGUMENT")

    with pytest.raises(ContextLengthError, match=r"gemini-2\.5-flash") as raised:
        await collect(connect(mock_provider))

    assert raised.value.limit == 1048576


async def test_the_delay_that_google_names_is_waited(mock_provider: MockProvider) -> None:
    delay = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "7.5s"}
    refuse(mock_provider, 429, "Resource has been exhausted.", "RESOURCE_EXHAUSTED", [delay])
    mock_provider.reply("hello")
    waits = Waits()

    deltas = await collect(connect(mock_provider, retries=RetryPolicy(sleep=waits)))

    assert deltas[0] == TextDelta("hello")
    assert waits == [7.5]


async def test_a_quota_that_is_used_up_for_long_is_an_error_at_once(mock_provider: MockProvider) -> None:
    delay = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "43200s"}
    error = {
        "error": {
            "code": 429,
            "message": "Quota exceeded.",
            "status": "RESOURCE_EXHAUSTED",
            "details": [delay],
        }
    }
    mock_provider.replay(json.dumps([error]).encode(), status=429, content_type="application/json")

    with pytest.raises(
        TransientModelError, match=r"rate limit exceeded \(status 429\): Quota exceeded"
    ) as raised:
        await collect(connect(mock_provider))

    assert raised.value.retry_after == 43200
    assert len(mock_provider.requests) == 1


async def test_the_quota_of_a_day_is_not_waited_for(mock_provider: MockProvider) -> None:
    details = [
        {
            "violations": [
                {"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier", "quotaValue": "20"}
            ]
        },
        {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "37s"},
    ]
    refuse(mock_provider, 429, "You exceeded your current quota.", "RESOURCE_EXHAUSTED", details)

    with pytest.raises(ModelError, match="quota exceeded") as raised:
        await collect(connect(mock_provider))

    assert not isinstance(raised.value, TransientModelError)
    assert "use another model" in str(raised.value.hint)
    assert len(mock_provider.requests) == 1


async def test_an_overloaded_model_is_asked_again_and_then_reported(mock_provider: MockProvider) -> None:
    refuse(mock_provider, 503, "The model is overloaded. Please try again later.", "UNAVAILABLE", times=4)

    with pytest.raises(TransientModelError, match="overloaded") as raised:
        await collect(connect(mock_provider))

    assert raised.value.status == 503
    assert len(mock_provider.requests) == 4


@pytest.mark.parametrize("ending", ["reset", "end"])
async def test_a_stream_that_ends_early_is_reported_with_what_came(
    mock_provider: MockProvider, ending: Any
) -> None:
    piece = b'data: {"candidates": [{"content": {"parts": [{"text": "one "}]}}]}\n\n'
    mock_provider.replay([piece, piece, b"data: {"], ending=ending)
    deltas: list[Delta] = []

    async def read_all() -> None:
        async for delta in connect(mock_provider).stream(ModelRequest(messages=HELLO)):
            deltas.append(delta)

    with pytest.raises(TransientModelError, match=r"The answer of google:.* was interrupted after 2 pieces"):
        await read_all()

    assert deltas == [TextDelta("one "), TextDelta("one ")]


async def test_a_blocked_prompt_is_an_error_that_names_the_model(mock_provider: MockProvider) -> None:
    mock_provider.replay(b'data: {"promptFeedback": {"blockReason": "SAFETY"}}\n\n')

    with pytest.raises(ModelError, match=r"google:gemini-2\.5-flash at .* refused to answer") as raised:
        await collect(connect(mock_provider))

    assert "safetySettings" in str(raised.value.hint)


async def test_a_spoiled_call_is_asked_for_again(mock_provider: MockProvider) -> None:
    mock_provider.replay(b'data: {"candidates": [{"finishReason": "MALFORMED_FUNCTION_CALL"}]}\n\n')
    mock_provider.reply("hello")

    deltas = await collect(connect(mock_provider), tools=[ADD])

    assert deltas[0] == TextDelta("hello")


async def test_penalties_that_a_model_does_not_have_are_left_out_with_a_warning(
    mock_provider: MockProvider, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(2):
        refuse(mock_provider, 400, "Penalty is not enabled for this model", "INVALID_ARGUMENT")
    mock_provider.reply("1", "2")
    requester = connect(mock_provider)

    for _ in range(2):
        await collect(requester, options={"presence_penalty": 0.1, "frequency_penalty": 0.1, "seed": 1})

    sent = [len(request.body["generationConfig"]) for request in mock_provider.requests]
    assert sent == [3, 2, 1, 1]
    assert "rejects 'presence_penalty', which is left out from now on" in caplog.text
