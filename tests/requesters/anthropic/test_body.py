"""Requests have the fields that the Messages API expects, and no others."""

import itertools
import json
from typing import Any

import pytest

from dovetail.events.call import ModelRequest, ToolSpec
from dovetail.requesters.anthropic.body import build_body, find_refused_part
from dovetail.requesters.http.endpoint import Endpoint
from dovetail.requesters.refusal import Refusal

ADD = ToolSpec(
    name="add", description="Adds", parameters={"type": "object", "properties": {"a": {"type": "integer"}}}
)
USER = {"role": "user", "content": "hi"}
CALL = {"id": "t1", "type": "function", "function": {"name": "add", "arguments": '{"a": 1}'}}
CALLED = [
    USER,
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "t1", "content": "3"},
]
SIGNED = {"type": "thinking", "thinking": "h", "signature": "S"}
THOUGHT = [
    USER,
    {**CALLED[1], "provider_parts": [{"source": "anthropic", "text": 0, "calls": 0, "data": SIGNED}]},
    CALLED[2],
]
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}


def build(model: str = "claude-sonnet-4-5", **fields: Any) -> dict[str, Any]:
    names = {"body", "cache"} & fields.keys()
    endpoint = Endpoint(provider="anthropic", model=model, **{name: fields.pop(name) for name in names})
    without = fields.pop("without", set())
    return build_body(
        ModelRequest(**{"messages": [USER], "model": model, **fields}), endpoint, "anthropic", without
    )


def test_a_plain_request_has_nothing_but_what_is_needed() -> None:
    assert build() == {
        "model": "claude-sonnet-4-5",
        "max_tokens": 64_000,
        "messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}],
        "stream": True,
    }
    assert "stream" not in build(stream=False)


@pytest.mark.parametrize(
    ("choice", "written"), [("auto", None), ("none", {"type": "none"}), ("required", {"type": "any"})]
)
def test_tools_and_the_choice_among_them_are_written(choice: Any, written: Any) -> None:
    body = build(tools=[ADD], tool_choice=choice)
    assert body["tools"] == [{"name": "add", "description": "Adds", "input_schema": dict(ADD.parameters)}]
    assert body.get("tool_choice") == written


@pytest.mark.parametrize(
    ("model", "thinking"), [("claude-sonnet-4-5", "low"), ("claude-opus-5", "low"), ("claude-opus-5-5", None)]
)
def test_a_thinking_model_is_not_forced_to_call(model: str, thinking: Any) -> None:
    assert "tool_choice" not in build(model, tools=[ADD], tool_choice="required", thinking=thinking)


def test_earlier_calls_have_their_tools_even_if_no_more_may_be_made() -> None:
    body = build(messages=CALLED)
    assert [tool["name"] for tool in body["tools"]] == ["add"]
    assert body["tool_choice"] == {"type": "none"}


def test_thinking_with_a_budget_waits_until_open_calls_are_done() -> None:
    assert "thinking" not in build(messages=CALLED, tools=[ADD], thinking="low")
    assert "thinking" in build(messages=CALLED, tools=[ADD], thinking="low", model="claude-opus-4-8")
    done = [*CALLED, {"role": "assistant", "content": "3"}, USER]
    assert build(messages=done, tools=[ADD], thinking="low")["thinking"]["budget_tokens"] == 2048


def test_effort_and_schema_share_one_field() -> None:
    body = build("claude-opus-5", schema=SCHEMA, thinking="high", options={"output_config": {"x": 1}})
    schema = {**SCHEMA, "additionalProperties": False}
    assert body["output_config"] == {
        "effort": "high",
        "format": {"type": "json_schema", "schema": schema},
        "x": 1,
    }
    assert body["thinking"] == {"type": "adaptive", "display": "summarized"}
    assert "output_config" not in build(schema=SCHEMA, without={"response_format"})


def test_options_of_other_apis_have_their_names_here() -> None:
    body = build(options={"max_completion_tokens": 5, "stop": "END", "temperature": 0.5})
    assert (body["max_tokens"], body["stop_sequences"], body["temperature"]) == (5, ["END"], 0.5)


def test_tools_of_the_provider_are_added_to_ours() -> None:
    search = {"type": "web_search_20250305", "name": "web_search"}
    assert build(tools=[ADD], options={"tools": [search]})["tools"][-1] == search
    assert build(tools=[ADD], body={"tools": [search], "x": 1})["tools"][-1] == search
    assert build(body={"tools": [search]})["tools"] == [search]


def test_fields_of_the_body_win_over_options() -> None:
    assert build(options={"metadata": 1, "top_k": 2}, body={"metadata": 3})["metadata"] == 3


def test_three_turns_share_their_beginning_byte_by_byte() -> None:
    system = {"role": "system", "content": "Be brief. " * 300}
    answer = THOUGHT[1]
    result = {"role": "tool", "tool_call_id": "t1", "content": "3"}
    turns = [[system, USER], [system, USER, answer, result], [system, USER, answer, result, answer, result]]
    bodies = [build(messages=turn, tools=[ADD], thinking="low") for turn in turns]
    for earlier, later in itertools.pairwise(bodies):
        for name in ("tools", "system", "thinking", "max_tokens"):
            assert json.dumps(earlier[name]) == json.dumps(later[name])
        assert json.dumps(unmark(later["messages"])).startswith(json.dumps(unmark(earlier["messages"]))[:-1])
        marked = [place for place, message in enumerate(later["messages"]) if message != unmark([message])[0]]
        assert marked[0] == len(earlier["messages"]) - 1, "the end of the last request is read from the cache"


def unmark(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {
            **message,
            "content": [
                {name: value for name, value in block.items() if name != "cache_control"}
                for block in message["content"]
            ],
        }
        for message in messages
    ]


def test_the_cache_can_be_switched_off() -> None:
    messages = [{"role": "system", "content": "x" * 5000}, USER]
    assert "cache_control" in json.dumps(build(messages=messages))
    assert "cache_control" not in json.dumps(build(messages=messages, cache="off"))
    assert "cache_control" not in json.dumps(build(messages=messages, without={"cache_control"}))


@pytest.mark.parametrize(
    ("message", "fields", "part"),
    [
        ("output_config.format: Extra inputs are not permitted", {"schema": SCHEMA}, "response_format"),
        ("`temperature` is deprecated for this model.", {"options": {"temperature": 1}}, "temperature"),
        ('"thinking.type.enabled" is not supported for this model.', {"thinking": "low"}, "thinking"),
        (
            "tool_choice forces tool use, which is not supported",
            {"tools": [ADD], "tool_choice": "required"},
            "tool_choice",
        ),
        (
            "messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a "
            "different conversation. Remove it, or set `thinking.block_binding.prefix_mismatch_behavior`.",
            {"model": "claude-opus-5-5"},
            "thinking.block_binding",
        ),
        (
            "messages.1.content.0: Invalid `signature` in `thinking` block",
            {"messages": THOUGHT, "thinking": "low", "tools": [ADD]},
            "thinking blocks",
        ),
        ("max_tokens: 64000 > 8192, which is the maximum allowed", {}, "max_tokens 8192"),
        ("messages: roles must alternate", {"thinking": "low"}, None),
    ],
)
def test_a_refused_part_is_found_and_left_out(message: str, fields: dict[str, Any], part: str | None) -> None:
    body = build(**fields)
    assert find_refused_part(Refusal(400, message, "invalid_request_error"), body) == part
    assert find_refused_part(Refusal(500, message, "api_error"), body) is None
    if part is not None:
        again = build(**fields, without={part})
        assert again != body
        assert find_refused_part(Refusal(400, message, "invalid_request_error"), again) in (
            None,
            part,
            "thinking blocks",
        )


def test_without_earlier_thinking_open_calls_continue_without_any() -> None:
    body = build(messages=THOUGHT, tools=[ADD], thinking="low", without={"thinking blocks"})
    assert "thinking" not in body
    assert [block["type"] for block in body["messages"][1]["content"]] == ["tool_use"]


def test_thinking_of_another_conversation_is_dropped_by_the_server() -> None:
    body = build("claude-opus-5-5", without={"thinking.block_binding"})
    assert body["thinking"]["block_binding"] == {"prefix_mismatch_behavior": "drop_block"}
