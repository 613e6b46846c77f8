"""An output schema of the prompt as JSON Schema, for models that can be held to one."""

from collections.abc import Mapping
from typing import Any

from dovetail.data.annotations import is_annotation
from dovetail.data.shapes import is_list, is_mapping, is_tuple
from dovetail.lazy import lazy
from dovetail.tools.annotation import write_annotation

_type_names = lazy("dovetail.prompt.type_names")


def write_json_schema(output: Any) -> dict[str, Any]:
    """The JSON Schema of an output schema: fields in their order, all of them required."""
    if is_mapping(output):
        return _write_object(output)
    if is_list(output):
        items = [write_json_schema(item) for item in output]
        return {"type": "array", "items": items[0] if len(items) == 1 else {"anyOf": items} if items else {}}
    if is_tuple(output):
        return _write_field(*output[:2])
    if is_annotation(output):
        return write_annotation(output)
    return {"description": str(output)} if output else {}


def _write_object(fields: Mapping[Any, Any]) -> dict[str, Any]:
    properties = {str(name): write_json_schema(field) for name, field in fields.items()}
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _write_field(kind: Any = Any, description: Any = None) -> dict[str, Any]:
    if isinstance(kind, str):
        kind = _type_names.resolve_type_name(kind, Any)
    schema = write_json_schema(kind)
    return {**schema, "description": str(description)} if description else schema
