"""The inputs of an agent become a JSON Schema (rule S20)."""

from dovetail.subagents.definition import InputConfig
from dovetail.subagents.schema import convert_input_config_to_json_schema


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
