"""From an agent's inputs to the JSON Schema that its calls are checked against (rule S20)."""

from collections.abc import Mapping
from typing import Any

from dovetail.data.shapes import is_mapping
from dovetail.subagents.definition import AgentInputs, InputConfig

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


def fill_defaults(config: InputConfig, inputs: AgentInputs) -> dict[str, Any]:
    """The inputs as templates see them: one that was left out has its default, otherwise it is empty text."""
    properties: Any = convert_input_config_to_json_schema(config).get("properties")
    known: Mapping[str, Any] = properties if is_mapping(properties) else {}
    return {name: _find_default(spec) for name, spec in known.items()} | dict(inputs)


def find_unknown_types(config: InputConfig) -> dict[str, str]:
    """The inputs whose type is not known and therefore counts as string, with that type."""
    types = {name: str(spec.get("type", "string")) for name, spec in config.inputs.items()}
    return {name: type for name, type in types.items() if type not in _TYPES}


def _convert(spec: Mapping[str, Any]) -> dict[str, Any]:
    shape = _TYPES.get(str(spec.get("type", "string")), _TYPES["string"])
    converted = {"type": shape["type"], "description": spec.get("description", "")}
    if "items" in shape:
        converted["items"] = dict(shape["items"])
    if "default" in spec:
        converted["default"] = spec["default"]
    return converted


def _find_default(spec: Any) -> Any:
    return spec.get("default", "") if is_mapping(spec) else ""
