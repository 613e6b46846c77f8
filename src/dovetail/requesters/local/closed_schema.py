"""Prepare JSON Schemas for the engine's grammar: closed, in one spelling, joined without name clashes."""

import json
import re
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


LIST_KEYS = {"type", "items", "minItems", "maxItems", "title", "description", "$defs", "definitions"}
"""Keywords of a list that is written one item per line."""

_OUTER_REFERENCE = re.compile(r'"\$ref": "#(?!/(\$defs|definitions)/)')


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
    if _is_plain_list(schema):
        return _build_list_grammar(schema)
    return f"%llguidance {{}}\nstart: {_write_json(schema)}"


def _write_json(schema: Mapping[str, Any]) -> str:
    return f"%json {json.dumps({**schema, **SPELLING})}"


def _is_plain_list(schema: Mapping[str, Any]) -> bool:
    is_list_of_items = schema.get("type") == "array" and is_mapping(schema.get("items"))
    return is_list_of_items and schema.keys() <= LIST_KEYS and not _OUTER_REFERENCE.search(json.dumps(schema))


def _build_list_grammar(schema: Mapping[str, Any]) -> str:
    definitions = {key: schema[key] for key in ("$defs", "definitions") if key in schema}
    least, most = schema.get("minItems", 0), schema.get("maxItems")
    return build_lines_grammar({**schema["items"], **definitions}, least=least, most=most)


def build_lines_grammar(item: Mapping[str, Any], *, least: int, most: int | None) -> str:
    """Return the grammar of a list with one item per line.

    The prompt shows lists like this: models begin them with a line break, and without one they write the next
    likely thing, a list of brackets.
    """
    bounds = f"{{{max(least - 1, 0)},{'' if most is None else most - 1}}}"
    further = (
        "" if most == 1 else f'(",\\n  " item){bounds} '
    )  # the engine drops a grammar that repeats 0 times
    items = f'"[\\n  " item {further}"\\n]"'
    empty = ['"[]"'] if least == 0 else []
    forms = " | ".join([*empty, *([] if most == 0 else [items])])
    return f"%llguidance {{}}\nstart: {forms}\nitem: {_write_json(item)}"
