"""Fields and parameters in their notation become JSON Schema."""

from typing import Any

import pytest
from pydantic import BaseModel, create_model

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


class Item(BaseModel):
    name: str


class Order(BaseModel):
    first: Item
    items: list[Item]


class Tree(BaseModel):
    children: list["Tree"]


def test_definitions_of_nested_models_are_at_the_root_where_references_look_for_them() -> None:
    schema = write_notation({"order": (Order, "an order"), "trees": [Tree], "again": (Order,)})
    order = {
        "type": "object",
        "properties": {
            "first": {"$ref": "#/$defs/Item"},
            "items": {"type": "array", "items": {"$ref": "#/$defs/Item"}},
        },
        "required": ["first", "items"],
    }
    assert schema["properties"] == {
        "order": {**order, "description": "an order"},
        "trees": {"type": "array", "items": {"$ref": "#/$defs/Tree"}},
        "again": order,
    }
    assert list(schema["$defs"]) == ["Item", "Tree"]
    assert "$defs" in write_parameters({"order": Order}, frozenset({"order"}))


def test_definitions_of_one_name_with_different_content_do_not_clash() -> None:
    other_item = create_model("Item", price=(float, ...))
    other_order = create_model("Order", first=(other_item, ...), second=(other_item, ...))
    schema = write_notation({"a": Order, "b": other_order, "c": [other_order]})
    assert schema["properties"]["a"]["properties"]["first"] == {"$ref": "#/$defs/Item"}
    assert schema["properties"]["b"]["properties"]["first"] == {"$ref": "#/$defs/Item2"}
    assert schema["properties"]["c"]["items"] == schema["properties"]["b"]
    assert {name: list(part["properties"]) for name, part in schema["$defs"].items()} == {
        "Item": ["name"],
        "Item2": ["price"],
    }
