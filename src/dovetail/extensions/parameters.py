"""Reads a tool's `parameters` in both forms of document 001 and gives JSON Schema."""

from collections.abc import Mapping
from typing import Any

from dovetail.data.shapes import is_list, is_mapping
from dovetail.errors import ExtensionError

TYPES = {
    "string": "string",
    "integer": "integer",
    "int": "integer",
    "number": "number",
    "float": "number",
    "boolean": "boolean",
    "bool": "boolean",
    "array": "array",
    "object": "object",
}
"""Type names of the short form and what they mean; any other name means `string`."""


def to_json_schema(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON Schema of a tool's arguments; a JSON Schema is kept as it is, the short form translated."""
    if isinstance(parameters.get("type"), str):
        return _check_schema(parameters)
    required: list[str] = []
    properties: dict[str, Any] = {}
    for name, value in parameters.items():
        specification = _check_specification(name, value)
        is_required = specification.pop("required", False) and "default" not in specification
        if is_required:
            required.append(name)
        properties[name] = _translate(specification, is_required)
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _check_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    if schema["type"] != "object":
        raise ExtensionError(
            f"parameters as JSON Schema must have type 'object', not {schema['type']!r}",
            hint="Name each parameter: {'city': {'type': 'string', 'required': True}}.",
        )
    properties = schema.get("properties", {})
    if not is_mapping(properties):
        raise ExtensionError(f"properties of the parameters must be a dict, not {properties!r}")
    required = schema.get("required", [])
    if not is_list(required) or not all(isinstance(name, str) for name in required):
        raise ExtensionError(f"required of the parameters must be a list of names, not {required!r}")
    if unknown := [name for name in required if name not in properties]:
        raise ExtensionError(f"required names {', '.join(unknown)}, which the properties do not have")
    return {"properties": {}, **schema}


def _check_specification(name: Any, value: Any) -> dict[str, Any]:
    if not isinstance(name, str) or not name:
        raise ExtensionError(f"a parameter's name must be a text, not {name!r}")
    if not is_mapping(value):
        raise ExtensionError(
            f"parameter {name!r} must be a dict such as {{'type': 'string', 'required': True}}, not {value!r}"
        )
    if not isinstance(value.get("required", False), bool):
        raise ExtensionError(
            f"required of parameter {name!r} must be True or False, not {value['required']!r}"
        )
    return dict(value)


def _translate(specification: dict[str, Any], is_required: bool) -> dict[str, Any]:
    """One parameter's schema; one that may be left out and has no default may be null, too."""
    schema = {**specification, "type": TYPES.get(str(specification.get("type", "string")).lower(), "string")}
    if not is_required and "default" not in schema:
        schema["type"] = [schema["type"], "null"]
        if is_list(choices := schema.get("enum")) and None not in choices:
            schema["enum"] = [*choices, None]
    return schema
