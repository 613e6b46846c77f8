"""Render an output schema as the JSON structure a model should write, with descriptions as comments."""

from collections.abc import Collection, Mapping
from typing import Any

from dovetail.data.sanitize import PLAIN, sanitize
from dovetail.data.shapes import is_dict, is_list, is_mapping, is_open_set, is_tuple

_BUILTINS = {kind: f"<{kind.__name__}>" for kind in (str, int, float, bool, list, dict, tuple, set, bytes)}


def render_structure(schema: Any) -> str:
    """Return the structure of a schema: types in `<…>`, descriptions after `//`, lists ending in `...`.

    A tuple as the whole schema is its type alone.
    """
    return _render_mapping(schema, 0) if is_mapping(schema) and schema else _render(schema, 0)


def _render(schema: Any, depth: int) -> str:
    if is_tuple(schema) and schema:
        first = schema[0] if type(schema[0]) in _FAST else sanitize(schema[0])
        return f"<{first}>" if is_tuple(first) else _render_value(first, depth + 1)
    return _render_value(schema, depth)


def _render_value(value: Any, depth: int) -> str:
    if type(value) is type and value in _BUILTINS:
        return _BUILTINS[value]
    if is_dict(value):
        return _render_mapping(value, depth)
    if is_list(value):
        return _render_list(value, depth)
    plain = value if type(value) in PLAIN else sanitize(value)
    if is_dict(plain):
        return _render_mapping(plain, depth)
    return _render_list(plain, depth) if is_list(plain) or is_open_set(plain) else f"<{plain}>"


_FAST = frozenset({*PLAIN, type, dict, list})
"""Classes of values that need no sanitizing."""


def _describe(field: Any) -> str:
    """Return the comment of a field, empty if it has no description."""
    if not is_tuple(field) or len(field) < 2:
        return ""
    text = field[1]
    if type(text) is not str:
        text = sanitize(text)
    return f" // {text}" if text else ""


def _render_mapping(mapping: Mapping[Any, Any], depth: int) -> str:
    if not mapping:
        return "{}"
    indent = "  " * (depth + 1)
    rows: list[str] = []
    key = text = comment = ""
    for key, schema in mapping.items():
        if is_tuple(schema) and len(schema) == 2 and type(kind := schema[0]) is type and kind in _BUILTINS:
            text = _BUILTINS[kind]
            said = schema[1]
            comment = f" // {said}" if said and type(said) is str else _describe(schema) or " //"
        else:
            text = _render(schema, depth + 1)
            comment = _describe(schema) or (" //" if is_tuple(schema) and len(schema) > 1 else "")
        rows.append(f'{indent}"{key}": {text},{comment}')
    rows[-1] = f'{indent}"{key}": {text}{comment}'
    return "{\n" + "\n".join(rows) + f"\n{indent[2:]}}}"


def _render_list(items: Collection[Any], depth: int) -> str:
    if not items:
        return "[]"
    indent = "  " * (depth + 1)
    rows = [f"{indent}{_render(schema, depth + 1)},{_describe(schema)}" for schema in items]
    return "[\n" + "\n".join(rows) + f"\n{indent}...\n{'  ' * depth}]"
