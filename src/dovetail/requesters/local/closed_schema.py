"""Prepare JSON Schemas for the engine's grammar: closed, in one spelling, joined without name clashes."""

import json
from collections.abc import Mapping
from typing import Any

from dovetail.data.shapes import is_list, is_mapping

SPELLING = {
    "x-guidance": {
        "whitespace_flexible": False,
        "item_separator": ", ",
        "key_separator": ": ",
        "lenient": True,
    }
}
"""How the engine writes JSON: in one spelling only, ignoring unknown keywords."""


# One wrong expression would switch the whole schema off, and dialects differ; arguments are validated anyway.
DROPPED = {"pattern", "patternProperties", "$schema", "$id"}


def close_schema(schema: Mapping[str, Any], root: str = "#") -> dict[str, Any]:
    """Return the schema without room for unnamed keys; references start at `root`."""
    return {key: _close(key, value, root) for key, value in _shut(schema).items() if key not in DROPPED}


def _shut(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    if is_mapping(schema.get("properties")) and "additionalProperties" not in schema:
        return {**schema, "additionalProperties": False}
    return schema


def _close(key: str, value: Any, root: str) -> Any:
    if key == "$ref" and isinstance(value, str) and value.startswith("#"):
        return root + value[1:]
    if key in ("const", "enum", "default", "examples"):
        return value
    if key in ("properties", "$defs", "definitions") and is_mapping(value):
        return {name: _close("", inner, root) for name, inner in value.items()}
    if is_mapping(value):
        return close_schema(value, root)
    if is_list(value):
        return [_close("", item, root) for item in value]
    return value


def build_grammar(schema: Mapping[str, Any]) -> str:
    """Return the grammar that restricts the engine to the schema."""
    return f"%llguidance {{}}\nstart: %json {json.dumps({**schema, **SPELLING})}"


PLAIN_TEXT = "%llguidance {}\nstart: /[^{\\s](?s:.*)/"
"""The grammar of text that does not begin with a brace, as a choice does."""


def join_choices(choices: Mapping[str, Mapping[str, Any] | None], field: str, payload: str) -> dict[str, Any]:
    """Return a closed choice: `{field: name}`, with `payload` for the names that have a schema."""
    definitions = {
        f"choice{number}": close_schema(schema, f"#/$defs/choice{number}")
        for number, schema in enumerate(choices.values())
        if schema is not None
    }
    branches = [
        _build_branch(name, field, None if schema is None else {payload: f"#/$defs/choice{number}"})
        for number, (name, schema) in enumerate(choices.items())
    ]
    return {"anyOf": branches, "$defs": definitions}


def _build_branch(name: str, field: str, references: Mapping[str, str] | None) -> dict[str, Any]:
    properties: dict[str, Any] = {field: {"const": name}}
    for key, reference in (references or {}).items():
        properties[key] = {"$ref": reference}
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
