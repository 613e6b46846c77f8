"""A prompt as data that JSON and YAML can hold and the configuration loader can read again."""

import json
import re
from collections.abc import Mapping
from typing import Any

from dovetail.data.annotations import describe_annotation, is_annotation, read_fields
from dovetail.data.layered import LayeredData
from dovetail.data.sanitize import sanitize
from dovetail.data.shapes import is_list, is_mapping, is_tuple
from dovetail.lazy import lazy
from dovetail.prompt.slots import wrap_class

_yaml = lazy("yaml")

_ODD_BREAKS = re.compile("[\x85\u2028\u2029]")


def to_serializable(data: Mapping[str, Any]) -> dict[str, Any]:
    """A prompt's data made plain; the tuples of its output become `{"$type", "$desc", "$default"}`."""
    if "output" in data:
        output = data["output"]
        if read_fields(output) is not None:
            output = wrap_class(output)
        data = {**data, "output": export_schema(output)}
    return sanitize(data)


def to_configuration(agent: LayeredData, request: LayeredData) -> dict[str, Any]:
    """An agent's two prompts as one configuration document."""
    return {
        ".agent": to_serializable(agent.get(inherit=False)),
        ".request": to_serializable(request.get(inherit=False)),
    }


def to_json(plain: Mapping[str, Any]) -> str:
    """Plain data as JSON text."""
    return json.dumps(plain, indent=2, ensure_ascii=False)


def to_yaml(plain: Mapping[str, Any]) -> str:
    """Plain data as YAML text."""
    text: str = _yaml.safe_dump(plain, indent=2, allow_unicode=True, sort_keys=False)
    if _ODD_BREAKS.search(text):
        # Written as they are, these would be read as ordinary line breaks; so everything is escaped.
        text = _yaml.safe_dump(plain, indent=2, sort_keys=False)
    return text


def export_schema(schema: Any) -> Any:
    """A schema with its tuples as mappings, at every depth."""
    if is_tuple(schema):
        return _export_field(schema) if schema else "()"
    if is_mapping(schema):
        return {key: export_schema(item) for key, item in schema.items()}
    if is_list(schema):
        return [export_schema(item) for item in schema]
    if is_annotation(schema):
        described = describe_annotation(schema)
        return described if isinstance(described, str) else export_schema(described)
    if hasattr(schema, "model_dump"):
        return str(schema)
    return schema


def _export_field(field: tuple[Any, ...]) -> dict[str, Any]:
    kind, description, default, *_ = *field, None, None
    exported = {"$type": export_schema(kind)}
    if description is not None:
        exported["$desc"] = description
    if len(field) > 2 and default is not None:
        exported["$default"] = default
    return exported
