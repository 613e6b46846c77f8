"""The notation of fields (rule A20), `{"city": (str, "the city")}`, as JSON Schema.

Outputs of prompts and parameters of tools are written in it.
"""

from collections.abc import Mapping
from typing import Any

from dovetail.data.annotations import is_annotation
from dovetail.data.shapes import is_list, is_mapping, is_tuple
from dovetail.lazy import lazy
from dovetail.tools.annotation import write_annotation

_type_names = lazy("dovetail.prompt.type_names")


def write_notation(notation: Any) -> dict[str, Any]:
    """The JSON Schema of what the notation describes: fields in their order, all of them required."""
    if is_mapping(notation):
        return _write_object(notation)
    if is_list(notation):
        # Of several item schemas the first counts, as in the output model.
        return {"type": "array", "items": write_notation(notation[0])} if notation else {"type": "array"}
    if is_tuple(notation):
        return _write_field(*notation[:2])
    if is_annotation(notation):
        return write_annotation(notation)
    return {"description": str(notation)} if notation else {}


def _write_object(fields: Mapping[Any, Any]) -> dict[str, Any]:
    properties = {str(name): write_notation(field) for name, field in fields.items()}
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _write_field(kind: Any = Any, description: Any = None) -> dict[str, Any]:
    if isinstance(kind, str):
        kind = _type_names.resolve_type_name(kind, Any)
    schema = write_notation(kind)
    return {**schema, "description": str(description)} if description else schema
