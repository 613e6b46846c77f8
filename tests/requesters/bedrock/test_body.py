"""The body of a Converse request: options, tools, thinking, caching and the answer's schema."""

import json
from typing import Any

import pytest

from dovetail.events.call import ModelRequest, ToolSpec
from dovetail.requesters.bedrock.body import build_body, find_refused_part
from dovetail.requesters.http.endpoint import Endpoint
from dovetail.requesters.refusal import Refusal

CLAUDE = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
NOVA = "amazon.nova-pro-v1:0"
USER = {"role": "user", "content": "Hello"}
LOOK = ToolSpec(name="look", description="", parameters={"type": "object", "properties": {}})
CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
CALLED = [
    USER,
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": "a cat"},
]


def build(model: str = CLAUDE, without: set[str] | None = None, **fields: Any) -> dict[str, Any]:
    own = {name: fields.pop(name) for name in ("cache", "body") if name in fields}
    endpoint = Endpoint(provider="bedrock", model=model, base_url="https://example.com", **own)
    request = ModelRequest(**{"messages": [USER], "model": model, **fields})
    return build_body(request, endpoint, "bedrock-anthropic", without or set())


def test_common_options_are_inference_and_others_the_models_own() -> None:
    options = {
        "max_completion_tokens": 5,
        "top_p": 0.5,
        "top_k": 3,
        "guardrailConfig": {"guardrailIdentifier": "g"},
        "additionalModelRequestFields": {"x": 1},
    }
    body = build(options=options, body={"serviceTier": {"type": "flex"}})
    assert body["inferenceConfig"] == {"maxTokens": 5, "topP": 0.5}
    assert body["additionalModelRequestFields"] == {"top_k": 3, "x": 1}
    assert body["guardrailConfig"] == {"guardrailIdentifier": "g"}
    assert body["serviceTier"] == {"type": "flex"}


def test_schema_of_the_answer_is_sent_as_text() -> None:
    schema = {"type": "object", "properties": {"age": {"type": "integer"}}, "required": ["age"]}
    written = build(schema=schema)["outputConfig"]["textFormat"]["structure"]["jsonSchema"]
    assert json.loads(written["schema"]) == {**schema, "additionalProperties": False}
    assert "outputConfig" not in build(CLAUDE, {"response_format"}, schema=schema)


def test_tools_that_were_called_are_described_even_if_they_are_gone() -> None:
    (tool,) = build(messages=CALLED)["toolConfig"]["tools"]
    assert tool["toolSpec"]["name"] == "look"
    assert "toolConfig" not in build(tools=[LOOK], tool_choice="none")
    assert build(tools=[LOOK])["toolConfig"]["tools"][0]["toolSpec"]["description"] == "look"


def test_call_is_forced_unless_the_model_thinks() -> None:
    assert build(tools=[LOOK], tool_choice="required")["toolConfig"]["toolChoice"] == {"any": {}}
    body = build(tools=[LOOK], tool_choice="required", thinking="low")
    assert "toolChoice" not in body["toolConfig"]


@pytest.mark.parametrize(
    ("model", "thinking", "fields"),
    [
        (
            CLAUDE,
            "medium",
            {
                "thinking": {"type": "enabled", "budget_tokens": 8192},
                "anthropic_beta": ["interleaved-thinking-2025-05-14"],
            },
        ),
        (CLAUDE, "off", None),
        (
            "global.amazon.nova-2-lite-v1:0",
            "low",
            {"reasoningConfig": {"type": "enabled", "maxReasoningEffort": "low"}},
        ),
        ("amazon.nova-2-lite-v1:0", "off", {"reasoningConfig": {"type": "disabled"}}),
        ("openai.gpt-oss-120b-1:0", 20_000, {"reasoning_effort": "high"}),
        ("meta.llama3-1-8b-instruct-v1:0", "low", None),
    ],
)
def test_thinking_is_written_as_each_family_takes_it(
    model: str, thinking: str | int, fields: dict[str, Any] | None
) -> None:
    assert build(model, thinking=thinking).get("additionalModelRequestFields") == fields


def test_thinking_leaves_room_for_the_answer_and_takes_no_temperature() -> None:
    body = build(thinking="low", options={"max_tokens": 1000, "temperature": 0.5})
    assert body["inferenceConfig"]["maxTokens"] > 2048
    assert "temperature" not in body["inferenceConfig"]


def test_claude_does_not_think_in_a_turn_that_began_without_thinking() -> None:
    assert "additionalModelRequestFields" not in build(messages=CALLED, thinking="low")
    part = {
        "source": "bedrock-anthropic",
        "text": 0,
        "calls": 0,
        "data": {"reasoningText": {"text": "Hm.", "signature": "s"}},
    }
    thought = [CALLED[0], {**CALLED[1], "provider_parts": [part]}, CALLED[2]]
    assert "additionalModelRequestFields" in build(messages=thought, thinking="low")
    assert "additionalModelRequestFields" in build(
        messages=[*CALLED, {"role": "assistant", "content": "A cat."}, USER], thinking="low"
    )


def test_long_beginnings_are_marked_for_the_cache() -> None:
    system = {"role": "system", "content": "Rule. " * 500}
    long_tool = ToolSpec(name="long", description="Word. " * 500, parameters={})
    fields: dict[str, Any] = {"messages": [system, *CALLED], "tools": [long_tool]}
    point = {"cachePoint": {"type": "default"}}
    body = build(**fields)
    assert body["toolConfig"]["tools"][-1] == point
    assert body["system"][-1] == point
    assert [message["content"][-1] == point for message in body["messages"]] == [True, False, True]
    nova = build(NOVA, **fields)
    assert nova["toolConfig"]["tools"][-1] != point
    assert nova["system"][-1] == point
    for other in (
        build("meta.llama3-1-8b-instruct-v1:0", **fields),
        build(cache="off", **fields),
        build(CLAUDE, {"cache"}, **fields),
        build(tools=[LOOK]),
    ):
        assert "cachePoint" not in json.dumps(other)
    assert build(cache="1h", **fields)["system"][-1] == {"cachePoint": {"type": "default", "ttl": "1h"}}


@pytest.mark.parametrize(
    ("message", "fields", "part"),
    [
        (
            "outputConfig is not supported",
            {"schema": {"type": "object", "properties": {"a": {"type": "string"}}}},
            "response_format",
        ),
        ("This model doesn't support temperature", {"options": {"temperature": 1}}, "temperature"),
        ("temperature", {}, None),
        (
            "did not allow prompt caching",
            {"messages": [{"role": "system", "content": "x" * 3000}, USER]},
            "cache",
        ),
        ("extended thinking is not supported", {"thinking": "low"}, "thinking"),
    ],
)
def test_rejected_part_is_found_if_it_was_sent(
    message: str, fields: dict[str, Any], part: str | None
) -> None:
    assert find_refused_part(Refusal(400, message, ""), build(**fields)) == part
    assert find_refused_part(Refusal(500, message, ""), build(**fields)) is None
