"""From an agent's inputs to the JSON Schema that its calls are checked against."""

from collections.abc import Mapping
from typing import Any

from dovetail.subagents.definition import InputConfig

_TYPES: dict[str, dict[str, Any]] = {
    "string": {"type": "string"},
    "number": {"type": "number"},
    "integer": {"type": "integer"},
    "boolean": {"type": "boolean"},
    "string[]": {"type": "array", "items": {"type": "string"}},
    "number[]": {"type": "array", "items": {"type": "number"}},
}


def convert_input_config_to_json_schema(config: InputConfig) -> dict[str, Any]:
    """The JSON Schema of an agent's inputs; a type that is not known counts as string."""
    if config.schema is not None:
        return dict(config.schema)
    return {
        "type": "object",
        "properties": {name: _convert(spec) for name, spec in config.inputs.items()},
        "required": [name for name, spec in config.inputs.items() if spec.get("required")],
    }


def _convert(spec: Mapping[str, Any]) -> dict[str, Any]:
    shape = _TYPES.get(str(spec.get("type", "string")), _TYPES["string"])
    converted = {"type": shape["type"], "description": spec.get("description", "")}
    return converted | ({"items": dict(shape["items"])} if "items" in shape else {})
