"""Provider parts go back to the API that made them; what an API cannot read does no harm."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dovetail.events.call import ModelRequest
from dovetail.requesters.http.endpoint import Endpoint
from dovetail.requesters.http.protocol import ChatProtocol
from dovetail.requesters.resolve import PROTOCOLS

NAMES = st.sampled_from(
    [
        "type",
        "kind",
        "part",
        "fields",
        "field",
        "text",
        "thinking",
        "signature",
        "data",
        "id",
        "tool_use_id",
        "name",
        "input",
        "content",
        "citations",
        "summary",
        "encrypted_content",
        "phase",
        "reasoning_details",
        "extra_content",
        "reasoningText",
        "redactedContent",
        "length",
        "model",
        "calls",
        "role",
        "tool_calls",
        "thoughtSignature",
        "functionCall",
    ]
)
WORDS = st.sampled_from(
    [
        "text",
        "thinking",
        "redacted_thinking",
        "tool_use",
        "tool_result",
        "server_tool_use",
        "web_search_tool_result",
        "part",
        "call",
        "metadata",
        "reasoning",
        "message",
        "function_call",
        "reasoning_content",
        "content",
        "content.thinking",
        "content.think",
        "tool_calls",
        "role",
        "gemini-3-pro",
        "Hello",
    ]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | WORDS | st.just(""),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=6,
)
CALL = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": "{}"}}


def make(api: Any, provider: str = "mine") -> ChatProtocol:
    module, name = PROTOCOLS[api]
    address = "https://bedrock-runtime.us-east-1.amazonaws.com"
    return getattr(module, name)(Endpoint(provider=provider, model="some-model", base_url=address))


@pytest.mark.parametrize("api", PROTOCOLS)
@settings(max_examples=150, deadline=None)
@given(parts=st.lists(st.dictionaries(NAMES, VALUES, max_size=5), min_size=1, max_size=3))
def test_a_provider_part_that_an_api_cannot_read_does_no_harm(api: Any, parts: list[Any]) -> None:
    protocol = make(api)
    own = [{"source": protocol.source, "text": 2, "calls": 0, "data": part} for part in parts]
    messages: list[Any] = [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "Hello", "tool_calls": [CALL], "provider_parts": own},
        {"role": "tool", "tool_call_id": "c1", "content": "3"},
        {"role": "assistant", "content": None, "provider_parts": own},
        {"role": "user", "content": "Why?"},
    ]
    for count in (3, 4, 5):
        body = protocol.build_body(ModelRequest(messages=messages[:count], model="some-model"), set())
        assert "llo" in json.dumps(body), "the text is still there"


@pytest.mark.parametrize(
    ("provider", "api", "source"),
    [
        ("deepseek", "chat", "deepseek"),
        ("deepseek", "anthropic", "deepseek-anthropic"),
        ("anthropic", "anthropic", "anthropic"),
        ("anthropic", "chat", "anthropic-chat"),
        ("openai", "chat", "openai"),
        ("openai", "responses", "openai-responses"),
        ("google", "google", "google"),
        ("google", "chat", "google-chat"),
        ("mine", "chat", "mine"),
    ],
)
def test_the_apis_of_one_provider_do_not_read_the_parts_of_each_other(
    provider: str, api: str, source: str
) -> None:
    assert make(api, provider).source == source
