"""From an agent's inputs to the JSON Schema that its calls are checked against (rule S20)."""

import copy
from collections.abc import Mapping
from typing import Any

from dovetail.data.shapes import is_mapping
from dovetail.data.text import shorten
from dovetail.errors import ConfigError
from dovetail.subagents.definition import AgentInputs, InputConfig, read_config

_TYPES: dict[str, dict[str, Any]] = {
    "string": {"type": "string"},
    "number": {"type": "number"},
    "integer": {"type": "integer"},
    "boolean": {"type": "boolean"},
    "string[]": {"type": "array", "items": {"type": "string"}},
    "number[]": {"type": "array", "items": {"type": "number"}},
}


def convert_input_config_to_json_schema(input_config: InputConfig | Mapping[str, Any]) -> dict[str, Any]:
    """The JSON Schema of an agent's inputs; a type that is not known counts as string.

    Raises:
        ConfigError: the inputs, or one of them, are not described by a mapping.
    """
    config = read_config(InputConfig, input_config)
    if config.schema is not None:
        return copy.deepcopy(dict(config.schema))
    for name, spec in _check_mapping(config.inputs, "`inputs`").items():
        _check_mapping(spec, f"Input {name!r}")
    return {
        "type": "object",
        "properties": {name: _convert(spec) for name, spec in config.inputs.items()},
        "required": [name for name, spec in config.inputs.items() if spec.get("required")],
    }


def _check_mapping(value: Any, owner: str) -> Mapping[str, Any]:
    if not is_mapping(value):
        raise ConfigError(f"{owner} must be a mapping, got {shorten(value)}.")
    return value


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
    converted = {"type": shape["type"], "description": str(spec.get("description") or "")}
    if "items" in shape:
        converted["items"] = dict(shape["items"])
    if "default" in spec:
        converted["default"] = spec["default"]
    return converted


def _find_default(spec: Any) -> Any:
    return spec.get("default", "") if is_mapping(spec) else ""
