"""The notation of fields (rule A20), `{"city": (str, "the city")}`, as JSON Schema.

Outputs of prompts and parameters of tools are written in it.
"""

import datetime
import json
import re
from collections.abc import Mapping
from typing import Any, Literal, Optional, Union

from dovetail.data.shapes import is_list, is_mapping, is_tuple
from dovetail.schema.from_annotation import is_annotation, write_annotation
from dovetail.schema.problem import show_value
from dovetail.schema.reference import find_reference

_NAMES: dict[str, Any] = {
    "str": str,
    "int": int,
    "float": float,
    "bool": bool,
    "list": list,
    "dict": dict,
    "tuple": tuple,
    "set": set,
    "Any": Any,
    "None": None,
    "NoneType": None,
    "date": datetime.date,
    "datetime": datetime.datetime,
}
_GENERIC = re.compile(r"(\w+)\[(.*)\]", re.DOTALL)
_NUMBER = re.compile(r"-?\d+")


def resolve_schema(schema: Any) -> Any:
    """Return the schema with known type names replaced by types; everything else is unchanged."""
    if isinstance(schema, str):
        return resolve_type_name(schema, schema)
    if is_mapping(schema):
        return {key: resolve_schema(item) for key, item in schema.items()}
    if is_list(schema):
        return [resolve_schema(item) for item in schema]
    if is_tuple(schema) and schema:
        return (resolve_schema(schema[0]), *schema[1:])
    return schema


def resolve_type_name(text: str, default: Any = None) -> Any:
    """Return the type of a name, or `default` if it is unknown."""
    try:
        return _read(text.strip())
    except (LookupError, TypeError):
        return default


def _read(text: str) -> Any:
    alternatives = _split(text, "|")
    if len(alternatives) > 1:
        return Union[tuple(_read(part) for part in alternatives)]  # noqa: UP007 (made from values)
    generic = _GENERIC.fullmatch(text)
    if generic is None:
        return _NAMES[text]
    name, arguments = generic[1], _split(generic[2], ",")
    if name == "Literal":
        return Literal[tuple(_read_choice(choice) for choice in arguments)]
    if name == "Optional":
        return Optional[_read(arguments[0])]  # noqa: UP045 (made from values)
    if name == "Union":
        return Union[tuple(_read(part) for part in arguments)]  # noqa: UP007 (made from values)
    parameters = tuple(... if part == "..." else _read(part) for part in arguments)
    return _NAMES[name.lower()][parameters]


def _read_choice(text: str) -> Any:
    if _NUMBER.fullmatch(text):
        return int(text)
    if text in ("True", "False"):
        return text == "True"
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" else text


def _split(text: str, separator: str) -> list[str]:
    """Split the text at separators outside brackets."""
    parts: list[str] = []
    depth = begin = 0
    for position, character in enumerate(text):
        depth += (character == "[") - (character == "]")
        if character == separator and depth == 0:
            parts.append(text[begin:position].strip())
            begin = position + 1
    return [*parts, text[begin:].strip()]


def write_notation(notation: Any) -> dict[str, Any]:
    """Return the JSON Schema of the notation: fields in their order, all required."""
    definitions: dict[str, Any] = {}
    schema = _write(notation, definitions)
    return {**schema, "$defs": definitions} if definitions else schema


def write_parameters(fields: Mapping[Any, Any], optional: frozenset[str] = frozenset()) -> dict[str, Any]:
    """Return the JSON Schema of named fields in the notation; all but the `optional` ones are required."""
    schema = write_notation(fields)
    return {**schema, "required": [name for name in schema["required"] if name not in optional]}


def _write(notation: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a notation; `definitions` collects what its references name."""
    if is_mapping(notation):
        return _write_fields(notation, definitions)
    if is_list(notation):
        # Of several item schemas the first counts, as in the output model.
        return {"type": "array", "items": _write(notation[0], definitions)} if notation else {"type": "array"}
    if is_tuple(notation):
        return _write_field(definitions, *notation[:2])
    if is_annotation(notation):
        return _lift_definitions(write_annotation(notation), definitions)
    return {"description": str(notation)} if notation else {}


def _write_fields(fields: Mapping[Any, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    properties = {str(name): _write(field, definitions) for name, field in fields.items()}
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _write_field(definitions: dict[str, Any], kind: Any = Any, description: Any = None) -> dict[str, Any]:
    if isinstance(kind, str):
        kind = resolve_type_name(kind, Any)
    schema = _write(kind, definitions)
    return {**schema, "description": str(description)} if description else schema


def _lift_definitions(schema: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    """Move a type's definitions to the root, where its references look for them, and return the rest.

    If another type has a definition of the same name and other content, these get a number: `Item2`.
    """
    own = schema.pop("$defs", {})
    renamed, references, number = own, dict[str, str](), 1
    while any(definitions.get(name, part) != part for name, part in renamed.items()):
        number += 1
        references = {f"#/$defs/{name}": f"#/$defs/{name}{number}" for name in own}
        renamed = {f"{name}{number}": _rename(part, references) for name, part in own.items()}
    definitions.update(renamed)
    return _rename(schema, references)


def _rename(schema: Any, references: Mapping[str, str]) -> Any:
    if is_mapping(schema):
        return {name: _rename(part, references) for name, part in schema.items()}
    if is_list(schema):
        return [_rename(part, references) for part in schema]
    return references.get(schema, schema) if isinstance(schema, str) else schema


_PYTHON_NAMES = {
    "string": "str",
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "null": "None",
    "array": "list",
    "object": "dict",
}


def read_parameters(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a JSON Schema in the notation: `{name: (type, description)}`."""
    properties = schema.get("properties")
    required = schema.get("required", ())
    if not is_mapping(properties):
        return {}
    return {
        name: (_read_type(inner, schema), _describe(inner, name in required))
        for name, inner in properties.items()
    }


def _read_type(schema: Any, root: Mapping[str, Any], depth: int = 0) -> Any:
    """Return the type of a schema: a name, or the notation of an object's members."""
    schema = _follow(schema, root)
    if not is_mapping(schema) or depth > 5:
        return "Any"
    if is_list(options := schema.get("enum")):
        return f"Literal[{', '.join(json.dumps(option, ensure_ascii=False) for option in options)}]"
    for keyword in ("anyOf", "oneOf"):
        if is_list(branches := schema.get(keyword)):
            return " | ".join(str(_read_type(branch, root, depth + 1)) for branch in branches)
    if is_mapping(properties := schema.get("properties")) and properties:
        return {
            name: (
                _read_type(inner, root, depth + 1),
                _describe(inner, name in schema.get("required", ())),
            )
            for name, inner in properties.items()
        }
    return _name_type(schema, root, depth)


def _name_type(schema: Mapping[str, Any], root: Mapping[str, Any], depth: int) -> Any:
    kind = schema.get("type")
    if is_list(kind):
        return " | ".join(_PYTHON_NAMES.get(name, "Any") for name in kind)
    if kind == "array" and "items" in schema:
        item = _read_type(schema["items"], root, depth + 1)
        return f"list[{item}]" if isinstance(item, str) else [item]
    return _PYTHON_NAMES.get(str(kind), "Any")


def _follow(schema: Any, root: Mapping[str, Any]) -> Any:
    reference = schema.get("$ref") if is_mapping(schema) else None
    if not isinstance(reference, str) or not reference.startswith("#/"):
        return schema
    return find_reference(root, reference)


def _describe(schema: Any, is_required: bool) -> str:
    text = str(schema.get("description", "")) if is_mapping(schema) else ""
    if is_required:
        return text
    default = (
        f", {show_value(schema['default'])} by default" if is_mapping(schema) and "default" in schema else ""
    )
    return f"{text} (optional{default})".strip()


_TUPLE_LENGTHS = (2, 3)


def read_output(value: Any) -> Any:
    """Return an output schema with `$type`/`$desc` (or `.type`/`.desc`) mappings as tuples at any depth."""
    if is_list(value):
        return [read_output(item) for item in value]
    if not is_mapping(value):
        return value
    kind, description = _pick(value, "type"), _pick(value, "desc")
    if not kind and not description:
        return {key: read_output(item) for key, item in value.items()}
    default = _pick(value, "default")
    field = (Any if kind is None else read_output(kind), description)
    return field if default is None else (*field, default)


def _pick(value: Mapping[str, Any], name: str) -> Any:
    """Return the value under `.name`, which takes precedence over `$name`."""
    dotted = f".{name}"
    return value[dotted] if dotted in value else value.get(f"${name}")


def read_tools(value: Any) -> Any:
    """Return tools with exported tuples in their parameters and results restored: `[int, length]`."""
    if is_list(value):
        return [read_tools(item) for item in value]
    if not is_mapping(value):
        return value
    return {key: _read_types(item) if key in ("kwargs", "returns") else item for key, item in value.items()}


def _read_types(value: Any) -> Any:
    if is_list(value):
        items = [_read_types(item) for item in value]
        return tuple(items) if _is_tuple(items) else items
    if is_mapping(value):
        return {key: _read_types(item) for key, item in value.items()}
    return value


def _is_tuple(items: list[Any]) -> bool:
    """Return whether a list was a type with its description: JSON and YAML have no tuples."""
    return (
        len(items) in _TUPLE_LENGTHS
        and (isinstance(items[0], (str, dict, list)))
        and (items[1] is None or isinstance(items[1], str))
    )
