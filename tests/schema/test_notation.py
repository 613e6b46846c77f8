"""Fields and parameters in their notation become JSON Schema."""

from typing import Any

import pytest
from pydantic import BaseModel

from dovetail.schema.notation import read_parameters, write_notation, write_parameters


@pytest.mark.parametrize(
    ("notation", "schema"),
    [
        ([], {"type": "array"}),
        ([(int, "a size")], {"type": "array", "items": {"type": "integer", "description": "a size"}}),
        ([(int,), (str,)], {"type": "array", "items": {"type": "integer"}}),
    ],
)
def test_first_item_schema_of_a_list_counts(notation: Any, schema: dict[str, Any]) -> None:
    assert write_notation(notation) == schema


class Plank(BaseModel):
    wood: str


def test_notation_becomes_a_schema() -> None:
    notation: dict[str, Any] = {
        "count": (int, "how many"),
        "name": str,
        "mode": ("Literal['rip', 'cross']", "how"),
        "odd": ("no such type", "anything"),
        "size": {"length": (float, "in m"), "marks": [(int,)]},
        "plank": (Plank,),
        "free": "whatever fits",
        "empty": [],
    }
    schema = write_parameters(notation, optional=frozenset({"free", "empty"}))
    assert schema["required"] == ["count", "name", "mode", "odd", "size", "plank"]
    assert schema["properties"] == {
        "count": {"type": "integer", "description": "how many"},
        "name": {"type": "string"},
        "mode": {"enum": ["rip", "cross"], "description": "how"},
        "odd": {"description": "anything"},
        "size": {
            "type": "object",
            "properties": {
                "length": {"type": "number", "description": "in m"},
                "marks": {"type": "array", "items": {"type": "integer"}},
            },
            "required": ["length", "marks"],
            "additionalProperties": False,
        },
        "plank": {"type": "object", "properties": {"wood": {"type": "string"}}, "required": ["wood"]},
        "free": {"description": "whatever fits"},
        "empty": {"type": "array"},
    }


def test_schema_becomes_notation() -> None:
    schema = {
        "properties": {
            "plank": {"$ref": "#/$defs/Plank", "description": "which"},
            "planks": {"type": "array", "items": {"$ref": "#/$defs/Plank"}},
            "either": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "several": {"type": ["integer", "string"]},
            "any": {},
            "lost": {"$ref": "#/$defs/Lost"},
        },
        "required": ["plank", "any"],
        "$defs": {
            "Plank": {"type": "object", "properties": {"wood": {"type": "string"}}, "required": ["wood"]}
        },
    }
    assert read_parameters(schema) == {
        "plank": ({"wood": ("str", "")}, "which"),
        "planks": ([{"wood": ("str", "")}], "(optional)"),
        "either": ("str | None", "(optional)"),
        "several": ("int | str", "(optional)"),
        "any": ("Any", ""),
        "lost": ("Any", "(optional)"),
    }
    assert read_parameters({"type": "object"}) == {}
