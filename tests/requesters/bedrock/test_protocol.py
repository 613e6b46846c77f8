"""Conversations with Bedrock over a socket: signed like boto3, streamed in binary, refusals explained."""

import base64
import json
from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from botocore.config import Config

from aws_frames import write_answer, write_event, write_exception
from dovetail import Agent
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
from dovetail.requesters.bedrock import credentials
from dovetail.requesters.requester import Requester
from dovetail.requesters.resolve import resolve
from dovetail.settings import as_settings
from mock_provider import MockProvider

CLAUDE = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
ARN = "arn:aws:bedrock:eu-west-1:123456789012:inference-profile/eu.amazon.nova-lite-v1:0"
STREAM = "application/vnd.amazon.eventstream"
HELLO = ModelRequest(messages=[{"role": "user", "content": "Hello"}])


@pytest.fixture(autouse=True)
def account(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An account in the environment, and no other credentials of this machine."""
    for name in ("AWS_BEARER_TOKEN_BEDROCK", "AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "top-secret-of-aws")
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nonexistent")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/nonexistent")
    credentials.forget_sessions()
    yield
    credentials.forget_sessions()


def connect(url: str, model: str = CLAUDE, **own: Any) -> Requester:
    retries = {"attempts": 2, "first_delay": 0.001}
    settings = {"model": {"providers": {"bedrock": {"base_url": url, "retries": retries, **own}}}}
    return resolve(f"bedrock:{model}", as_settings(settings))


async def collect(requester: Requester, request: ModelRequest = HELLO) -> list[Delta]:
    try:
        return [delta async for delta in requester.stream(request)]
    finally:
        await requester.close()


def join(deltas: list[Delta]) -> str:
    return "".join(delta.text for delta in deltas if isinstance(delta, TextDelta))


def ask_boto3(url: str, model: str, body: dict[str, Any]) -> list[dict[str, Any]]:
    client = boto3.client(
        "bedrock-runtime", "eu-west-1", endpoint_url=url, config=Config(retries={"total_max_attempts": 1})
    )
    return list(client.converse_stream(modelId=model, **body)["stream"])


async def test_answer_of_the_mock_provider_is_read(mock_provider: MockProvider) -> None:
    mock_provider.reply({"content": "Good day", "reasoning": "Hm."})
    deltas = await collect(connect(mock_provider.url))
    assert join(deltas) == "Good day"
    assert "".join(delta.text for delta in deltas if isinstance(delta, ReasoningDelta)) == "Hm."
    assert isinstance(deltas[-1], FinishDelta)
    assert deltas[-1].reason == "stop"
    request = mock_provider.requests[0]
    assert request.path == f"/model/{CLAUDE.replace(':', '%3A')}/converse-stream"
    assert request.headers["authorization"].startswith("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20")
    assert "top-secret-of-aws" not in json.dumps(dict(request.headers))


@pytest.mark.parametrize("model", [CLAUDE, "amazon.nova-pro-v1:0", ARN])
async def test_request_equals_that_of_boto3(mock_provider: MockProvider, model: str) -> None:
    mock_provider.replay(write_answer({"text": "A"}), content_type=STREAM)
    mock_provider.replay(write_answer({"text": "B"}), content_type=STREAM)
    image = b"\x89PNG\r\n\x1a\n"
    request = ModelRequest(
        messages=[
            {"role": "system", "content": "Be brief."},
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "What is this?"},
                    {"type": "image", "data": image, "media_type": "image/png"},
                    {
                        "type": "file",
                        "data": b"%PDF-1",
                        "media_type": "application/pdf",
                        "filename": "a.b.pdf",
                    },
                ],
            },
            {
                "role": "assistant",
                "content": "I look.",
                "tool_calls": [
                    {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"x": 1.5}'}}
                ],
            },
            {"role": "tool", "tool_call_id": "c1", "content": "a cat"},
        ],
        tools=[ToolSpec(name="look", description="Look.", parameters={"type": "object", "properties": {}})],
        tool_choice="required",
        options={"temperature": 0.5, "max_tokens": 100, "stop": "END", "top_k": 5},
    )
    await collect(connect(mock_provider.url, model), request)
    tool = {
        "toolSpec": {
            "name": "look",
            "description": "Look.",
            "inputSchema": {"json": {"type": "object", "properties": {}}},
        }
    }
    ask_boto3(
        mock_provider.url,
        model,
        {
            "system": [{"text": "Be brief."}],
            "messages": [
                {
                    "role": "user",
                    "content": [
                        {"text": "What is this?"},
                        {"image": {"format": "png", "source": {"bytes": image}}},
                        {"document": {"format": "pdf", "name": "a b pdf", "source": {"bytes": b"%PDF-1"}}},
                    ],
                },
                {
                    "role": "assistant",
                    "content": [
                        {"text": "I look."},
                        {"toolUse": {"toolUseId": "c1", "name": "look", "input": {"x": 1.5}}},
                    ],
                },
                {
                    "role": "user",
                    "content": [{"toolResult": {"toolUseId": "c1", "content": [{"text": "a cat"}]}}],
                },
            ],
            "toolConfig": {"tools": [tool], "toolChoice": {"any": {}}},
            "inferenceConfig": {"temperature": 0.5, "maxTokens": 100, "stopSequences": ["END"]},
            "additionalModelRequestFields": {"top_k": 5},
        },
    )
    ours, theirs = mock_provider.requests
    assert ours.path == theirs.path
    assert ours.body == theirs.body
    assert (
        ours.headers["authorization"].split("SignedHeaders")[0]
        == theirs.headers["authorization"].split("SignedHeaders")[0]
    )


async def test_stream_means_the_same_as_to_boto3_cut_at_every_byte(mock_provider: MockProvider) -> None:
    call = {"toolUse": {"toolUseId": "c1", "name": "add", "input": {"a": 1}}}
    stream = write_answer({"text": "Grüße 世界"}, call, stop="tool_use")
    mock_provider.replay(stream, content_type=STREAM)
    mock_provider.replay([bytes([byte]) for byte in stream], content_type=STREAM)
    messages = [{"role": "user", "content": [{"text": "Hello"}]}]
    events = ask_boto3(mock_provider.url, CLAUDE, {"messages": messages})
    theirs = "".join(
        event["contentBlockDelta"]["delta"].get("text", "")
        for event in events
        if "contentBlockDelta" in event
    )
    deltas = await collect(connect(mock_provider.url))
    assert join(deltas) == theirs == "Grüße 世界"
    calls = [delta for delta in deltas if isinstance(delta, ToolCallDelta)]
    assert (calls[0].call_id, calls[0].name) == ("c1", "add")
    assert "".join(delta.arguments for delta in calls) == '{"a": 1}'
    assert isinstance(deltas[-1], FinishDelta)
    assert (deltas[-1].reason, deltas[-1].model) == ("tool-calls", CLAUDE)


async def test_answer_may_come_whole(mock_provider: MockProvider) -> None:
    answer = {
        "output": {
            "message": {
                "role": "assistant",
                "content": [
                    {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "c2ln"}}},
                    {"text": "Hello"},
                    {"toolUse": {"toolUseId": "c1", "name": "add", "input": {"a": 1}}},
                ],
            }
        },
        "stopReason": "tool_use",
        "usage": {"inputTokens": 1, "outputTokens": 2, "totalTokens": 13, "cacheReadInputTokens": 10},
    }
    mock_provider.replay(json.dumps(answer).encode(), content_type="application/json")
    *deltas, finish = await collect(connect(mock_provider.url, stream=False))
    assert mock_provider.requests[0].path.endswith("/converse")
    assert deltas == [
        ReasoningDelta("Hm."),
        ProviderPartDelta("bedrock-anthropic", {"reasoningText": {"text": "Hm.", "signature": "c2ln"}}),
        TextDelta("Hello"),
        ToolCallDelta(0, "c1", "add"),
        ToolCallDelta(0, arguments='{"a": 1}'),
    ]
    assert isinstance(finish, FinishDelta)
    assert finish.usage.cached_tokens == 10
    assert finish.usage.input_tokens == 11


async def test_bearer_token_is_sent_instead_of_a_signature(
    mock_provider: MockProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", "bedrock-api-key-123")
    mock_provider.reply("Hello")
    requester = connect(mock_provider.url)
    await collect(requester)
    assert mock_provider.requests[0].headers["authorization"] == "Bearer bedrock-api-key-123"
    assert "bedrock-api-key-123" not in repr(requester)


async def test_token_of_temporary_credentials_is_sent(
    mock_provider: MockProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_SESSION_TOKEN", "a-session-token")
    mock_provider.reply("Hello")
    await collect(connect(mock_provider.url))
    headers = mock_provider.requests[0].headers
    assert headers["x-amz-security-token"] == "a-session-token"
    assert "SignedHeaders=content-type;host;x-amz-date;x-amz-security-token" in headers["authorization"]


def test_tool_loop_with_thinking_returns_the_signed_parts(mock_provider: MockProvider) -> None:
    redacted = base64.b64encode(b"hidden").decode()
    thought = {"text": "I should add.", "signature": "c2lnbmVk"}
    call = {"toolUse": {"toolUseId": "tooluse_1", "name": "double", "input": {"number": 21}}}
    first = write_answer(
        {"reasoningContent": {"reasoningText": thought}},
        {"reasoningContent": {"redactedContent": redacted}},
        {"text": "Let me see."},
        call,
        stop="tool_use",
    )
    mock_provider.replay(first, content_type=STREAM)
    mock_provider.replay(write_answer({"text": "It is 42."}), content_type=STREAM)
    own = {"base_url": mock_provider.url, "thinking": "low"}
    settings = {
        "model": {"name": f"bedrock:{CLAUDE}", "providers": {"bedrock": own}},
        "tools": {"strategy": "native"},
    }

    def double(number: int) -> int:
        """Double a number."""
        return 2 * number

    answer = Agent(settings=settings).use_tool(double).input("What is 2 * 21?").start()
    assert answer == "Let me see.It is 42."
    begin, end = (request.body for request in mock_provider.requests)
    assert begin["additionalModelRequestFields"]["thinking"] == {"type": "enabled", "budget_tokens": 2048}
    assert end["additionalModelRequestFields"] == begin["additionalModelRequestFields"]
    said, result = end["messages"][-2:]
    assert said["content"] == [
        {"reasoningContent": {"reasoningText": thought}},
        {"reasoningContent": {"redactedContent": redacted}},
        {"text": "Let me see."},
        call,
    ]
    assert result["content"][0]["toolResult"]["toolUseId"] == "tooluse_1"


async def test_usage_counts_what_was_cached(mock_provider: MockProvider) -> None:
    answer = write_answer({"text": "Hi"}, cacheReadInputTokens=100, cacheWriteInputTokens=20)
    mock_provider.replay(answer, content_type=STREAM)
    *_, finish = await collect(connect(mock_provider.url))
    assert isinstance(finish, FinishDelta)
    usage = finish.usage
    assert (usage.input_tokens, usage.output_tokens) == (130, 5)
    assert (usage.cached_tokens, usage.cache_write_tokens) == (100, 20)


@pytest.mark.parametrize(
    ("status", "kind", "message", "expected", "hint"),
    [
        (400, ModelError, "The provided model identifier is invalid.", "has no model", "model.name"),
        (404, ModelError, "Could not resolve the foundation model from the provided id", "has no model", ""),
        (
            400,
            ModelError,
            "Invocation of model ID x with on-demand throughput isn't supported.",
            "only through an inference profile",
            f"bedrock:us.{CLAUDE}",
        ),
        (
            403,
            ModelError,
            "You don't have access to the model with the specified model ID.",
            "denied the request",
            "bedrock:InvokeModel",
        ),
        (403, ModelError, "The security token included in the request is expired", "denied", "aws sso login"),
        (403, ModelError, "The request signature does not match", "denied", "AWS_ACCESS_KEY_ID"),
        (400, ContextLengthError, "Input is too long for requested model.", "context length", "Shorten"),
        (424, TransientModelError, "The model failed.", "failed while", ""),
        (429, TransientModelError, "Too many requests, please wait.", "rate limit", ""),
        (503, TransientModelError, "Bedrock is unable to process your request.", "failed", ""),
    ],
)
async def test_refusal_is_explained(
    mock_provider: MockProvider, status: int, kind: type[ModelError], message: str, expected: str, hint: str
) -> None:
    body = json.dumps({"message": message}).encode()
    for _ in range(2):
        mock_provider.replay(
            body, status=status, content_type="application/json", headers={"x-amzn-requestid": "r-1"}
        )
    with pytest.raises(kind, match=expected) as caught:
        await collect(connect(mock_provider.url))
    assert type(caught.value) is kind
    assert hint in (caught.value.hint or "")
    assert caught.value.status == status
    assert "top-secret-of-aws" not in f"{caught.value!r} {caught.value}"


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("throttlingException", TransientModelError),
        ("modelStreamErrorException", TransientModelError),
        ("internalServerException", TransientModelError),
        ("validationException", ModelError),
    ],
)
async def test_exception_in_the_stream_is_an_error(
    mock_provider: MockProvider, name: str, kind: type[ModelError]
) -> None:
    stream = write_event("messageStart", {"role": "assistant"}) + write_exception(
        name, {"message": "it broke"}
    )
    for _ in range(2):
        mock_provider.replay(stream, content_type=STREAM)
    with pytest.raises(kind, match="it broke") as caught:
        await collect(connect(mock_provider.url))
    assert type(caught.value) is kind


async def test_exception_before_the_first_token_is_retried(mock_provider: MockProvider) -> None:
    mock_provider.replay(write_exception("throttlingException", {"message": "slow"}), content_type=STREAM)
    mock_provider.replay(write_answer({"text": "Hello"}), content_type=STREAM)
    assert join(await collect(connect(mock_provider.url))) == "Hello"
    assert len(mock_provider.requests) == 2


async def test_stream_that_ends_early_or_is_damaged_is_an_error(mock_provider: MockProvider) -> None:
    stream = write_answer({"text": "Hello"})
    damaged = stream[:-3] + b"xyz"
    for data, expected in ((stream[:300], "interrupted"), (damaged, "wrong checksum")):
        for _ in range(2):
            mock_provider.replay(data, content_type=STREAM)
        with pytest.raises(ModelError, match=expected):
            await collect(connect(mock_provider.url))
        mock_provider.reset()


async def test_option_that_the_model_rejects_is_left_out(mock_provider: MockProvider) -> None:
    refusal = json.dumps(
        {"message": "This model doesn't support the toolConfig.toolChoice.any field."}
    ).encode()
    mock_provider.replay(refusal, status=400, content_type="application/json")
    mock_provider.replay(write_answer({"text": "Hello"}), content_type=STREAM)
    tool = ToolSpec(name="look", description="Look.", parameters={"type": "object", "properties": {}})
    request = ModelRequest(messages=HELLO.messages, tools=[tool], tool_choice="required")
    assert (
        join(await collect(connect(mock_provider.url, "meta.llama3-1-8b-instruct-v1:0"), request)) == "Hello"
    )
    first, second = (request.body["toolConfig"] for request in mock_provider.requests)
    assert "toolChoice" in first
    assert "toolChoice" not in second


async def test_reasoning_that_another_account_signed_is_left_out_of_that_request_only(
    mock_provider: MockProvider,
) -> None:
    data = {"reasoningText": {"text": "Hm.", "signature": "s"}}
    part = {"source": "bedrock-anthropic", "text": 0, "calls": 0, "data": data}
    said = {"role": "assistant", "content": "Hello", "provider_parts": [part]}
    request = ModelRequest(messages=[*HELLO.messages, said, *HELLO.messages])
    refusal = json.dumps({"message": "Invalid `signature` in `thinking` block"}).encode()
    mock_provider.replay(refusal, status=400, content_type="application/json")
    mock_provider.replay(write_answer({"text": "one"}), content_type=STREAM)
    mock_provider.replay(write_answer({"text": "two"}), content_type=STREAM)
    requester = connect(mock_provider.url, CLAUDE)
    assert join(await collect(requester, request)) == "one"
    assert join(await collect(requester, request)) == "two"
    assert ["reasoningText" in json.dumps(each.body) for each in mock_provider.requests] == [
        True,
        False,
        True,
    ]


async def test_missing_credentials_are_explained(
    mock_provider: MockProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    with pytest.raises(ConfigError, match="Missing AWS credentials for bedrock:") as caught:
        await collect(connect(mock_provider.url))
    assert "AWS_BEARER_TOKEN_BEDROCK" in str(caught.value.hint)


async def test_token_in_the_explanation_of_a_wrong_signature_is_hidden(
    mock_provider: MockProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_SESSION_TOKEN", "a-session-token")
    text = (
        "The Canonical String for this request should have been 'POST\\nx-amz-security-token:a-session-token'"
    )
    body = json.dumps({"message": text}).encode()
    mock_provider.replay(body, status=403, content_type="application/json")
    with pytest.raises(ModelError, match="Canonical String") as caught:
        await collect(connect(mock_provider.url))
    assert "a-session-token" not in f"{caught.value!r} {caught.value}"
