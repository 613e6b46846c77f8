"""Schemas have only keywords that Gemini accepts, and mean the same."""

from typing import Any

import pytest

from dovetail.requesters.google.schemas import KEPT, write_schema

TEXT = {"type": "string"}


@pytest.mark.parametrize(
    ("schema", "written"),
    [
        ({"$schema": "x", "type": "object", "properties": {"a": TEXT}, "examples": [1]}, {"a": TEXT}),
        ({"type": "object", "properties": {"a": {"const": "x"}}}, {"a": {"enum": ["x"]}}),
        (
            {"type": "object", "properties": {"a": {"oneOf": [TEXT, True], "discriminator": {}}}},
            {"a": {"anyOf": [TEXT, {}]}},
        ),
        (
            {"type": "object", "properties": {"a": {"type": "number", "exclusiveMinimum": 0, "maximum": 5}}},
            {"a": {"type": "number", "maximum": 5}},
        ),
        (
            {"type": "object", "properties": {"const": TEXT, "examples": {"type": "array", "items": TEXT}}},
            {"const": TEXT, "examples": {"type": "array", "items": TEXT}},
        ),
        (
            {
                "properties": {
                    "a": {"allOf": [{"properties": {"x": TEXT}, "required": ["x"]}, {"required": ["y"]}]}
                }
            },
            {"a": {"properties": {"x": TEXT}, "required": ["x", "y"]}},
        ),
    ],
)
def test_keywords_that_gemini_rejects_are_dropped_or_spelled_otherwise(
    schema: dict[str, Any], written: dict[str, Any]
) -> None:
    assert write_schema(schema)["properties"] == written


def test_references_lead_to_the_definitions_of_the_schema() -> None:
    schema = {"properties": {"a": {"$ref": "#/definitions/A"}}, "definitions": {"A": {"const": 1}}}

    assert write_schema(schema) == {
        "properties": {"a": {"$ref": "#/$defs/A"}},
        "$defs": {"A": {"enum": [1]}},
    }


def test_a_reference_with_a_description_is_replaced_by_its_target() -> None:
    schema = {
        "properties": {
            "a": {"$ref": "#/$defs/A", "description": "first"},
            "b": {"allOf": [{"$ref": "#/$defs/A"}]},
        },
        "$defs": {"A": TEXT},
    }

    assert write_schema(schema)["properties"] == {"a": {**TEXT, "description": "first"}, "b": TEXT}


def test_a_recursive_schema_ends() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node", "description": "more"}}}

    written = write_schema({"$ref": "#/$defs/Node", "description": "tree", "$defs": {"Node": node}})

    assert written["description"] == "tree"
    assert written["properties"]["next"] == {"$ref": "#/$defs/Node"}
    assert written["$defs"]["Node"]["properties"]["next"]["description"] == "more"


@pytest.mark.parametrize("reference", ["#/$defs/Missing", "https://example.org/schema", "#/properties/a"])
def test_a_reference_that_leads_nowhere_allows_anything(reference: str) -> None:
    written = write_schema({"properties": {"a": {"$ref": reference, "description": "x"}}})

    assert written["properties"]["a"] == {"description": "x"}


def test_the_kept_keywords_are_those_of_the_official_types() -> None:
    types = pytest.importorskip("google.genai.types")
    official = {field.alias for field in types.JSONSchema.model_fields.values()}

    assert KEPT - {"propertyOrdering", "prefixItems"} <= official
