"""Bodies of requests, as far as a server's answer does not show them."""

import copy
from typing import Any

import pytest

from dovetail.events.call import ModelRequest, ToolSpec
from dovetail.requesters.openai.body import build_body, build_tool, is_closed

CLOSED: dict[str, Any] = {
    "type": "object",
    "properties": {"a": {"type": "string", "enum": ["x"]}},
    "required": ["a"],
    "additionalProperties": False,
}


def wrap(inner: Any) -> dict[str, Any]:
    return {**CLOSED, "properties": {"a": inner}}


@pytest.mark.parametrize(
    ("schema", "closed"),
    [
        (CLOSED, True),
        ({"type": "array", "items": CLOSED}, True),
        (wrap({"anyOf": [CLOSED, {"type": "null"}]}), True),
        ({"$ref": "#/$defs/A", "$defs": {"A": CLOSED}}, True),
        (wrap({"type": "string", "default": {"type": "object"}}), True),
        ({**CLOSED, "additionalProperties": True}, False),
        ({**CLOSED, "required": []}, False),
        ({"type": "object"}, False),
        (wrap({"type": "object"}), False),
        (wrap({"type": "array", "items": {"type": "object", "properties": {}}}), False),
        ({"$ref": "#/$defs/A", "$defs": {"A": {"type": "object"}}}, False),
    ],
)
def test_strict_is_asked_for_only_where_the_schema_is_closed_at_every_depth(
    schema: Any, closed: bool
) -> None:
    assert is_closed(schema) == closed
    body = build_body(ModelRequest(messages=[], schema=schema), extra={}, without=set())
    assert body["response_format"]["json_schema"].get("strict", False) == closed


def test_what_a_server_refused_is_left_out() -> None:
    request = ModelRequest(messages=[], model="m", schema=CLOSED)
    body = build_body(request, extra={"user": "me"}, without={"response_format", "stream_options"})
    assert body == {"model": "m", "messages": [], "stream": True, "user": "me"}


def test_own_choice_of_options_goes_over_ours() -> None:
    body = build_body(ModelRequest(messages=[], options={"stream_options": None}), extra={}, without=set())
    assert body["stream_options"] is None


def test_every_array_of_a_tool_says_what_its_items_are() -> None:
    parameters = {
        "type": "object",
        "properties": {
            "tags": {"type": "array", "description": "Any tags"},
            "enum": {"type": ["array", "null"], "default": [{"type": "array"}]},
            "rows": {"type": "array", "items": {"anyOf": [{"type": "array"}, {"$ref": "#/$defs/row"}]}},
            "pair": {"type": "array", "prefixItems": [{"type": "integer"}]},
        },
        "required": ["tags"],
        "$defs": {"row": {"type": "array"}},
    }
    before = copy.deepcopy(parameters)
    built = build_tool(ToolSpec(name="f", description="", parameters=parameters))["function"]["parameters"]
    assert built == {
        "type": "object",
        "properties": {
            "tags": {"type": "array", "description": "Any tags", "items": {}},
            "enum": {"type": ["array", "null"], "default": [{"type": "array"}], "items": {}},
            "rows": {
                "type": "array",
                "items": {"anyOf": [{"type": "array", "items": {}}, {"$ref": "#/$defs/row"}]},
            },
            "pair": {"type": "array", "prefixItems": [{"type": "integer"}]},
        },
        "required": ["tags"],
        "$defs": {"row": {"type": "array", "items": {}}},
    }
    assert parameters == before
