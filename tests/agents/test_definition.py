"""The inputs of an agent become a JSON Schema (rule S20)."""

from typing import Any

import pytest

from dovetail.agents.definition import (
    AgentDefinition,
    InputConfig,
    RunConfig,
    convert_input_config_to_json_schema,
)
from dovetail.errors import ConfigError


def test_the_documents_own_example() -> None:
    config = InputConfig(
        inputs={
            "objective": {"description": "Investigation goal", "type": "string", "required": True},
            "max_files": {"description": "Maximum files to analyze", "type": "integer", "required": False},
        }
    )
    assert convert_input_config_to_json_schema(config) == {
        "type": "object",
        "properties": {
            "objective": {"type": "string", "description": "Investigation goal"},
            "max_files": {"type": "integer", "description": "Maximum files to analyze"},
        },
        "required": ["objective"],
    }


def test_all_six_types_and_the_unknown_one() -> None:
    names = ["string", "number", "integer", "boolean", "string[]", "number[]", "date"]
    config = InputConfig(inputs={name: {"type": name, "description": name} for name in names})
    properties = convert_input_config_to_json_schema(config)["properties"]
    assert [(properties[name]["type"], properties[name].get("items")) for name in names] == [
        ("string", None),
        ("number", None),
        ("integer", None),
        ("boolean", None),
        ("array", {"type": "string"}),
        ("array", {"type": "number"}),
        ("string", None),
    ]


def test_whole_json_schema_is_taken_as_it_is() -> None:
    schema = {"type": "object", "properties": {"mode": {"enum": ["a", "b"]}}}
    assert convert_input_config_to_json_schema(InputConfig(schema=schema)) == schema


def test_configs_may_be_plain_data() -> None:
    inputs = {"task": {"description": "Task to perform", "type": "string", "required": True}}
    schema = convert_input_config_to_json_schema({"inputs": inputs})
    assert schema == convert_input_config_to_json_schema(InputConfig(inputs=inputs))
    fields: dict[str, Any] = {"input_config": {"inputs": inputs}, "run_config": {"max_turns": 3}}
    definition = AgentDefinition(name="my_agent", description="Does something useful", **fields)
    assert definition.input_config == InputConfig(inputs=inputs)
    assert definition.run_config == RunConfig(max_turns=3)
    with pytest.raises(ConfigError, match=r"Unknown key 'input' in InputConfig\. Did you mean 'inputs'\?"):
        convert_input_config_to_json_schema({"input": inputs})


@pytest.mark.parametrize("spec", [{"type": "string"}, {"type": "string", "description": None}])
def test_input_without_a_description_has_an_empty_one(spec: dict[str, Any]) -> None:
    schema = convert_input_config_to_json_schema(InputConfig(inputs={"x": spec}))
    assert schema["properties"] == {"x": {"type": "string", "description": ""}}
    assert schema["required"] == []


@pytest.mark.parametrize("inputs", [None, ["x"], {"x": "string"}])
def test_input_that_is_not_described_by_a_mapping_is_an_error(inputs: Any) -> None:
    with pytest.raises(ConfigError, match="must be a mapping, got"):
        convert_input_config_to_json_schema(InputConfig(inputs=inputs))


def test_changing_a_schema_changes_no_definition() -> None:
    config = InputConfig(schema={"type": "object", "properties": {"x": {"type": "string"}}})
    convert_input_config_to_json_schema(config)["properties"]["y"] = {}
    assert convert_input_config_to_json_schema(config)["properties"] == {"x": {"type": "string"}}
