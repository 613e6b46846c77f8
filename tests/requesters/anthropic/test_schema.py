"""Schemas stay within the limits of structured output."""

import pytest
from anthropic import transform_schema

from dovetail.requesters.anthropic.schema import limit_schema, write_parameters

ORDER = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "description": "Who buys", "minLength": 2, "format": "email"},
        "count": {"type": "integer", "minimum": 1, "maximum": 9},
        "tags": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 3},
        "state": {"enum": ["open", "paid"]},
        "price": {"anyOf": [{"type": "number"}, {"type": "null"}]},
        "item": {"$ref": "#/$defs/Item"},
    },
    "required": ["name"],
    "$defs": {"Item": {"type": "object", "properties": {"id": {"type": "string"}}}},
}


def test_what_the_decoder_cannot_enforce_moves_to_the_description() -> None:
    limited = limit_schema(ORDER)
    assert limited is not None
    properties = limited["properties"]
    assert properties["name"]["description"] == "Who buys (minLength: 2)"
    assert properties["count"] == {"type": "integer", "description": "minimum: 1, maximum: 9"}
    assert properties["tags"]["minItems"] == 1
    assert limited["additionalProperties"] is False
    assert limited["$defs"]["Item"]["additionalProperties"] is False


def test_the_official_sdk_keeps_the_same_keywords() -> None:
    def strip(schema: object) -> object:
        if isinstance(schema, dict):
            return {name: strip(value) for name, value in schema.items() if name != "description"}
        return [strip(item) for item in schema] if isinstance(schema, list) else schema

    assert strip(limit_schema(ORDER)) == strip(transform_schema(ORDER))


def test_several_types_become_alternatives() -> None:
    limited = limit_schema({"type": ["string", "null"], "description": "The name", "maxLength": 9})
    assert limited is not None
    assert limited["description"] == "The name"
    assert [choice["type"] for choice in limited["anyOf"]] == ["string", "null"]


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "additionalProperties": {"type": "integer"}},
        {"type": "object", "additionalProperties": True},
        {"type": "array", "items": {}},
        {
            "$ref": "#/$defs/Node",
            "$defs": {"Node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}}},
        },
    ],
)
def test_a_schema_without_an_equivalent_is_not_sent(schema: dict[str, object]) -> None:
    assert limit_schema(schema) is None


def test_parameters_are_always_an_object_without_alternatives() -> None:
    assert write_parameters({}) == {"type": "object"}
    written = write_parameters({"type": "object", "properties": {}, "anyOf": [{"required": ["a"]}]})
    assert written == {"type": "object", "properties": {}, "description": 'anyOf: [{"required": ["a"]}]'}
