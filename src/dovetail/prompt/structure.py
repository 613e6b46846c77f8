"""Shows an output schema as the JSON structure a model shall write, with descriptions as comments."""

import datetime
import enum
from collections.abc import Mapping, Sequence
from typing import Any

from dovetail.data.annotations import describe_annotation, is_annotation
from dovetail.data.sanitize import sanitize
from dovetail.data.shapes import is_mapping, is_sequence, is_set, is_tuple

_BUILTINS = {kind: f"<{kind.__name__}>" for kind in (str, int, float, bool, list, dict, tuple, set, bytes)}


def render_structure(schema: Any) -> str:
    """The structure of a schema: types in `<…>`, descriptions after `//`, lists ending in `...`."""
    text, comment = _render(schema, 0)
    return text + comment


def _render(schema: Any, depth: int) -> tuple[str, str]:
    """A schema's text and the comment that follows it."""
    if not is_tuple(schema):
        return _render_value(schema, depth), ""
    if not schema:
        return "<()>", ""
    text = _render_value(schema[0], depth + 1)
    if len(schema) == 1:
        return text, ""
    return text, f" // {schema[1]}" if schema[1] else " //"


def _render_value(value: Any, depth: int) -> str:
    if isinstance(value, str):
        return f"<{value}>"
    if is_mapping(value):
        return _render_mapping(value, depth)
    if is_sequence(value) and not is_tuple(value):
        return _render_list(value, depth)
    return _render_leaf(value, depth)


def _render_leaf(value: Any, depth: int) -> str:
    if type(value) is type and value in _BUILTINS:
        return _BUILTINS[value]
    if is_annotation(value):
        described = describe_annotation(value)
        return f"<{described}>" if isinstance(described, str) else _render_value(described, depth)
    return f"<{_leaf_text(value)}>"


def _leaf_text(value: Any) -> str:
    if is_tuple(value) or is_set(value) or isinstance(value, (datetime.date, datetime.time, enum.Enum)):
        return str(sanitize(value))
    return str(value)


def _render_mapping(mapping: Mapping[str, Any], depth: int) -> str:
    if not mapping:
        return "{}"
    indent = "  " * (depth + 1)
    rows: list[str] = []
    key = text = comment = ""
    for key, schema in mapping.items():
        if is_tuple(schema) and len(schema) == 2 and type(kind := schema[0]) is type and kind in _BUILTINS:
            text, comment = _BUILTINS[kind], f" // {schema[1]}" if schema[1] else " //"
        else:
            text, comment = _render(schema, depth + 1)
        rows.append(f'{indent}"{key}": {text},{comment}')
    rows[-1] = f'{indent}"{key}": {text}{comment}'
    return "{\n" + "\n".join(rows) + f"\n{indent[2:]}}}"


def _render_list(items: Sequence[Any], depth: int) -> str:
    if not items:
        return "[]"
    indent = "  " * (depth + 1)
    rendered = [_render(schema, depth + 1) for schema in items]
    rows = [f"{indent}{text},{comment}" for text, comment in rendered]
    return "[\n" + "\n".join(rows) + f"\n{indent}...\n{'  ' * depth}]"
