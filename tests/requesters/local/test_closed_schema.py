"""Schemas are closed, joined without clashes of their definitions, and keep what they say."""

import json
from typing import Any

import pytest

from dovetail.requesters.local.closed_schema import build_grammar, close_schema

POINT = {
    "type": "object",
    "$defs": {"Color": {"enum": ["red", {"properties": 1}]}},
    "properties": {
        "color": {"$ref": "#/$defs/Color"},
        "properties": {"type": "array", "items": {"type": "object", "properties": {"x": {"type": "number"}}}},
        "code": {"type": "string", "pattern": "(?=a)b"},
        "extra": {"type": "object", "properties": {}, "additionalProperties": {"type": "string"}},
    },
    "required": ["color"],
}


def test_every_object_with_named_keys_is_closed() -> None:
    closed = close_schema(POINT)
    assert closed["additionalProperties"] is False
    assert closed["properties"]["properties"]["items"]["additionalProperties"] is False
    assert closed["properties"]["extra"]["additionalProperties"] == {"type": "string"}
    assert "additionalProperties" not in close_schema({"type": "object"})


def test_values_are_not_taken_for_schemas() -> None:
    assert close_schema(POINT)["$defs"]["Color"]["enum"] == ["red", {"properties": 1}]


def test_expressions_that_could_switch_the_schema_off_are_dropped() -> None:
    assert close_schema(POINT)["properties"]["code"] == {"type": "string"}


def test_given_schema_is_left_as_it_was() -> None:
    before = json.dumps(POINT)
    close_schema(POINT)
    assert json.dumps(POINT) == before


def test_grammar_holds_the_schema_and_one_spelling() -> None:
    head, _, text = build_grammar({"type": "object"}).partition("%json ")
    assert head == "%llguidance {}\nstart: "
    assert json.loads(text)["type"] == "object"
    assert json.loads(text)["x-guidance"]["whitespace_flexible"] is False


def read_list_grammar(schema: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    head, _, item = build_grammar(close_schema(schema)).partition("\nitem: %json ")
    return head.partition("start: ")[2], json.loads(item)


def test_list_is_written_one_item_per_line_as_the_prompt_shows_it() -> None:
    start, item = read_list_grammar({"type": "array", "items": {"type": "string"}})
    assert start == r'"[]" | "[\n  " item (",\n  " item){0,} "\n]"'
    assert item["type"] == "string"
    assert item["x-guidance"]["whitespace_flexible"] is False


def test_bounds_of_a_list_hold_for_its_lines() -> None:
    items = {"type": "array", "items": {"type": "integer"}}
    assert read_list_grammar({**items, "minItems": 2, "maxItems": 3})[0].startswith('"[')
    assert "{1,2}" in read_list_grammar({**items, "minItems": 2, "maxItems": 3})[0]
    assert read_list_grammar({**items, "maxItems": 0})[0] == '"[]"'


def test_items_of_a_list_keep_the_definitions_that_they_refer_to() -> None:
    planet = {"type": "object", "properties": {"name": {"type": "string"}}}
    schema = {"type": "array", "items": {"$ref": "#/$defs/Planet"}, "$defs": {"Planet": planet}}
    item = read_list_grammar(schema)[1]
    assert item["$ref"] == "#/$defs/Planet"
    assert item["$defs"]["Planet"]["additionalProperties"] is False


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array", "items": {"anyOf": [{"$ref": "#"}, {"type": "integer"}]}},
        {"type": "array", "prefixItems": [{"type": "string"}], "items": {"type": "integer"}},
        {"type": "array", "uniqueItems": True, "items": {"type": "integer"}},
        {"type": "array"},
    ],
)
def test_list_with_more_to_it_stays_one_schema(schema: dict[str, Any]) -> None:
    text = build_grammar(schema).partition("start: %json ")[2]
    assert json.loads(text).items() >= schema.items()
