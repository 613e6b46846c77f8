"""Turn a tool's declared `parameters` into JSON Schema, and plan how its function is called with them.

Parameters are written in a short form or as JSON Schema (rules F30 and F40).
"""

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from dovetail.data.shapes import is_class, is_list, is_mapping
from dovetail.errors import ExtensionError
from dovetail.schema.from_function import read_signature
from dovetail.schema.number_types import Convert, make_converter

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
"""Type names and their meaning, in both forms and at every depth; any other name means `string`."""

_ONE_SCHEMA = ("items", "additionalProperties", "contains", "propertyNames", "not", "if", "then", "else")
_SEVERAL_SCHEMAS = ("anyOf", "oneOf", "allOf", "prefixItems")
_NAMED_SCHEMAS = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")


def to_json_schema(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON Schema of a tool's arguments; the short form is translated, a JSON Schema is kept."""
    try:
        return _read_form(parameters)
    except RecursionError as error:
        raise ExtensionError("parameters contain themselves, or are nested too deeply") from error


def _read_form(parameters: Mapping[str, Any]) -> dict[str, Any]:
    if isinstance(parameters.get("type"), str):
        return _check_schema(parameters)
    if _lacks_type(parameters):
        raise ExtensionError(
            "parameters look like a JSON Schema without its 'type'",
            hint="Add 'type': 'object' next to 'properties'.",
        )
    required: list[str] = []
    properties: dict[str, Any] = {}
    for name, value in parameters.items():
        _check_name(name)
        specification = _check_specification(name, value)
        is_required = specification.get("required") is True and "default" not in specification
        if isinstance(specification.get("required"), bool):  # otherwise it is the list of an object's members
            del specification["required"]
        if is_required:
            required.append(name)
        properties[name] = _translate(specification, is_required)
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _lacks_type(parameters: Mapping[str, Any]) -> bool:
    """Return whether `properties` and `required` are keywords of a JSON Schema, not names of parameters."""
    members = parameters.get("properties")
    if "type" in parameters or not is_mapping(members):
        return False
    return is_list(parameters.get("required")) or (bool(members) and all(map(is_mapping, members.values())))


def _check_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    if schema["type"].lower() != "object":
        raise ExtensionError(
            f"parameters as JSON Schema must have type 'object', got {schema['type']!r}",
            hint="Name each parameter: {'city': {'type': 'string', 'required': True}}.",
        )
    properties = schema.get("properties", {})
    if not is_mapping(properties):
        raise ExtensionError(f"properties of the parameters must be a dict, got {properties!r}")
    for name in properties:
        _check_name(name)
    required = schema.get("required", [])
    if not is_list(required) or not all(isinstance(name, str) for name in required):
        raise ExtensionError(f"required of the parameters must be a list of names, got {required!r}")
    if unknown := [name for name in required if name not in properties]:
        raise ExtensionError(f"required lists {', '.join(unknown)}, missing from properties")
    return _read_types({"properties": {}, **schema})


def _check_name(name: Any) -> None:
    if not isinstance(name, str) or not name:
        raise ExtensionError(f"a parameter's name must be a non-empty string, got {name!r}")


def _check_specification(name: str, value: Any) -> dict[str, Any]:
    if not is_mapping(value):
        raise ExtensionError(
            f"parameter {name!r} must be a dict such as {{'type': 'string', 'required': True}}, got {value!r}"
        )
    required = value.get("required", False)
    if not isinstance(required, bool) and not (is_list(required) and is_mapping(value.get("properties"))):
        raise ExtensionError(
            f"required of parameter {name!r} must be True or False, got {value['required']!r}"
        )
    return dict(value)


def _translate(specification: dict[str, Any], is_required: bool) -> dict[str, Any]:
    """Return one parameter's schema; an optional one without a default may also be null."""
    schema = _read_types({"type": "string", **specification})
    if not is_required and "default" not in schema:
        kinds = schema["type"] if is_list(schema["type"]) else [schema["type"]]
        schema["type"] = list(dict.fromkeys([*kinds, "null"]))
        if is_list(choices := schema.get("enum")) and None not in choices:
            schema["enum"] = [*choices, None]
    return schema


def _read_types(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema with every type name looked up in `TYPES`, at every depth."""
    read = dict(schema)
    if "type" in schema:
        kinds = schema["type"]
        read["type"] = list(dict.fromkeys(map(_read_type, kinds))) if is_list(kinds) else _read_type(kinds)
    for keyword in _ONE_SCHEMA:
        if is_mapping(part := schema.get(keyword)):
            read[keyword] = _read_types(part)
    for keyword in _SEVERAL_SCHEMAS:
        if is_list(parts := schema.get(keyword)):
            read[keyword] = [_read_types(part) if is_mapping(part) else part for part in parts]
    for keyword in _NAMED_SCHEMAS:
        if is_mapping(parts := schema.get(keyword)):
            read[keyword] = {
                name: _read_types(part) if is_mapping(part) else part for name, part in parts.items()
            }
    return _move_required(read)


def _read_type(name: Any) -> str:
    text = (name.__name__ if is_class(name) else str(name)).lower()
    return "null" if text == "null" else TYPES.get(text, "string")


def _move_required(schema: dict[str, Any]) -> dict[str, Any]:
    """Move `required: True` of members, as in the short form, into the object's own list."""
    members = schema.get("properties")
    if not is_mapping(members):
        return schema
    said = {
        name: member["required"]
        for name, member in members.items()
        if is_mapping(member) and isinstance(member.get("required"), bool)
    }
    if not said:
        return schema
    plain = {
        name: {key: value for key, value in member.items() if key != "required"} if name in said else member
        for name, member in members.items()
    }
    listed = schema.get("required")
    named = [*(listed if is_list(listed) else ()), *(name for name, value in said.items() if value)]
    return {**schema, "properties": plain, "required": list(dict.fromkeys(named))}


@dataclass(frozen=True, slots=True, kw_only=True)
class CallPlan:
    """How declared arguments are passed to a function.

    `absent` holds the values of parameters that a call omits: their default, or None if the function has
    none. `dict_name` is the parameter of a function that takes all arguments as one dict; `type_numbers`
    converts the numbers in it to the declared types.
    """

    absent: Mapping[str, Any]
    dict_name: str | None = None
    type_numbers: Convert | None = None

    def apply(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments to call the function with."""
        values = {name: deepcopy(value) for name, value in self.absent.items() if name not in arguments}
        values.update(arguments)
        if self.dict_name is None:
            return values
        return {self.dict_name: values if self.type_numbers is None else self.type_numbers(values)}


def plan_call(function: Callable[..., Any], schema: Mapping[str, Any]) -> CallPlan:
    """Plan how the function is called; raise if it can never be called with these parameters."""
    own = read_signature(function, {}, is_described=True).schema
    declared: Mapping[str, Any] = schema.get("properties", {})
    needed: list[str] = own.get("required", [])
    defaults = {
        name: value["default"] for name, value in declared.items() if is_mapping(value) and "default" in value
    }
    problem = _find_misfit(own, needed, declared)
    if problem is None:
        optional = [name for name in declared if name not in schema.get("required", [])]
        absent = {name: None for name in optional if name in needed}
        return CallPlan(absent={**absent, **defaults})
    if len(needed) == 1 and _can_be_dict(own["properties"][needed[0]], declared):
        return CallPlan(absent=defaults, dict_name=needed[0], type_numbers=make_converter(schema))
    raise ExtensionError(problem)


def _find_misfit(own: Mapping[str, Any], needed: list[str], declared: Mapping[str, Any]) -> str | None:
    names = own["properties"]
    unknown = [name for name in declared if name not in names]
    if unknown and not own["additionalProperties"]:
        return f"execute has no parameter {', '.join(unknown)}; expected one of: {', '.join(names) or 'none'}"
    if undeclared := [name for name in needed if name not in declared]:
        return f"execute needs {', '.join(undeclared)}, which the parameters do not declare"
    return None


def _can_be_dict(schema: Mapping[str, Any], declared: Mapping[str, Any]) -> bool:
    """Return whether a parameter is a dict by its annotation, or, without one, by the number of arguments."""
    return schema.get("type") == "object" or ("type" not in schema and len(declared) > 1)
