"""The parameters of a tool in their notation (rule A20): `{"city": (str, "the city")}`.

Reads the notation as JSON Schema, and tells a JSON Schema in the notation for prompts.
"""

import json
from collections.abc import Mapping
from typing import Any

from dovetail.data.shapes import is_list, is_mapping
from dovetail.tools.notation import write_notation
from dovetail.tools.problem import show_value

_PYTHON_NAMES = {
    "string": "str",
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "null": "None",
    "array": "list",
    "object": "dict",
}


def write_parameters(kwargs: Mapping[str, Any], optional: frozenset[str] = frozenset()) -> dict[str, Any]:
    """The JSON Schema of parameters in the notation; all are required but the `optional` ones."""
    return {
        "type": "object",
        "properties": {name: write_notation(notation) for name, notation in kwargs.items()},
        "required": [name for name in kwargs if name not in optional],
        "additionalProperties": False,
    }


def read_parameters(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters from a JSON Schema in the notation: `{name: (type, description)}`."""
    properties = schema.get("properties")
    required = schema.get("required", ())
    if not is_mapping(properties):
        return {}
    return {
        name: (_read(inner, schema), _describe(inner, name in required)) for name, inner in properties.items()
    }


def _read(schema: Any, root: Mapping[str, Any], depth: int = 0) -> Any:
    """The type a schema describes: a name, or for an object with members the notation of these."""
    schema = _follow(schema, root)
    if not is_mapping(schema) or depth > 5:
        return "Any"
    if is_list(options := schema.get("enum")):
        return f"Literal[{', '.join(json.dumps(option, ensure_ascii=False) for option in options)}]"
    for keyword in ("anyOf", "oneOf"):
        if is_list(branches := schema.get(keyword)):
            return " | ".join(str(_read(branch, root, depth + 1)) for branch in branches)
    if is_mapping(properties := schema.get("properties")) and properties:
        return {
            name: (_read(inner, root, depth + 1), _describe(inner, name in schema.get("required", ())))
            for name, inner in properties.items()
        }
    return _name_type(schema, root, depth)


def _name_type(schema: Mapping[str, Any], root: Mapping[str, Any], depth: int) -> Any:
    kind = schema.get("type")
    if is_list(kind):
        return " | ".join(_PYTHON_NAMES.get(name, "Any") for name in kind)
    if kind == "array" and "items" in schema:
        item = _read(schema["items"], root, depth + 1)
        return f"list[{item}]" if isinstance(item, str) else [item]
    return _PYTHON_NAMES.get(str(kind), "Any")


def _follow(schema: Any, root: Mapping[str, Any]) -> Any:
    reference = schema.get("$ref") if is_mapping(schema) else None
    if not isinstance(reference, str) or not reference.startswith("#/"):
        return schema
    current: Any = root
    for step in reference[2:].split("/"):
        current = current.get(step) if is_mapping(current) else None
    return current


def _describe(schema: Any, is_required: bool) -> str:
    text = str(schema.get("description", "")) if is_mapping(schema) else ""
    if is_required:
        return text
    default = (
        f", {show_value(schema['default'])} by default" if is_mapping(schema) and "default" in schema else ""
    )
    return f"{text} (optional{default})".strip()
