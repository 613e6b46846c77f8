"""Both forms of `parameters` give JSON Schema; the pipeline takes and refuses what they say."""

import pytest

from dovetail.errors import ExtensionError
from dovetail.extensions import ExtensionLoader
from dovetail.extensions.parameters import to_json_schema
from extension_folders import Folders, ask, call_tool


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("string", "string"),
        ("integer", "integer"),
        ("int", "integer"),
        ("number", "number"),
        ("float", "number"),
        ("boolean", "boolean"),
        ("bool", "boolean"),
        ("array", "array"),
        ("object", "object"),
        ("datetime", "string"),
    ],
)
def test_type_names_of_the_short_form(written: str, meant: str) -> None:
    schema = to_json_schema({"value": {"type": written, "required": True}})
    assert schema["properties"] == {"value": {"type": meant}}


def test_the_short_form_keeps_every_other_word() -> None:
    schema = to_json_schema(
        {
            "days": {"type": "int", "minimum": 1, "maximum": 7, "description": "How many", "required": True},
            "tags": {"type": "array", "items": {"type": "string"}, "required": True},
        }
    )
    assert schema == {
        "type": "object",
        "properties": {
            "days": {"type": "integer", "minimum": 1, "maximum": 7, "description": "How many"},
            "tags": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["days", "tags"],
        "additionalProperties": False,
    }


def test_a_default_makes_a_required_parameter_optional() -> None:
    schema = to_json_schema({"unit": {"type": "string", "required": True, "default": "c"}})
    assert schema["required"] == []
    assert schema["properties"]["unit"] == {"type": "string", "default": "c"}


def test_an_optional_parameter_without_default_may_be_null() -> None:
    schema = to_json_schema({"unit": {"type": "string", "enum": ["c", "f"]}, "cwd": {}})
    assert schema["properties"] == {
        "unit": {"type": ["string", "null"], "enum": ["c", "f", None]},
        "cwd": {"type": ["string", "null"]},
    }


def test_a_parameter_may_be_called_type() -> None:
    assert to_json_schema({"type": {"type": "string", "required": True}})["required"] == ["type"]


def test_json_schema_is_kept_whole() -> None:
    schema = {
        "type": "object",
        "properties": {
            "city": {"type": "string", "enum": ["Kyoto", "Rome"]},
            "days": {"type": "integer", "minimum": 1, "default": 1},
            "where": {"type": "object", "properties": {"x": {"type": "number"}}, "required": ["x"]},
        },
        "required": ["city"],
        "additionalProperties": True,
    }
    assert to_json_schema(schema) == schema
    assert to_json_schema({"type": "object"}) == {"type": "object", "properties": {}}


@pytest.mark.parametrize(
    ("parameters", "complaint"),
    [
        ({"city": "string"}, "parameter 'city' must be a dict"),
        ({"city": {"required": "yes"}}, "True or False, not 'yes'"),
        ({3: {}}, "not 3"),
        ({"type": "string"}, "type 'object', not 'string'"),
        ({"type": "object", "properties": []}, "properties of the parameters must be a dict"),
        ({"type": "object", "required": "city"}, "must be a list of names"),
        ({"type": "object", "properties": {}, "required": ["city"]}, "required names city"),
    ],
)
def test_wrong_parameters_are_explained(parameters: dict[str, object], complaint: str) -> None:
    with pytest.raises(ExtensionError, match=complaint):
        to_json_schema(parameters)


OPTIONAL = """
def search(query, limit, unit="k"):
    return f"{query} {limit} {unit}"
TOOL = {
    "label": "x", "name": "search", "description": "Finds",
    "parameters": {
        "query": {"required": True, "enum": ["a", "b"]}, "limit": {"type": "int"}, "unit": {"default": "m"},
    },
    "execute": search,
}
"""


async def test_what_a_call_leaves_out_gets_its_default_or_none(folders: Folders) -> None:
    folders.write("one", OPTIONAL)
    tools = (await ExtensionLoader(folders.root).reload()).tools
    assert await ask(tools, "search", query="a") == "a None m"
    assert await ask(tools, "search", query="a", limit=None, unit="x") == "a None x"
    outcome = await call_tool(tools, "search", query="c")
    assert outcome.status == "error"
    assert "query" in outcome.result.llm_content


async def test_an_explicit_null_for_an_optional_parameter_of_a_json_schema_counts_as_left_out(
    folders: Folders,
) -> None:
    folders.write(
        "one",
        """
        def show(city, days):
            return f"{city} {days}"

        TOOL = {
            "label": "x", "name": "show", "description": "Shows", "execute": show,
            "parameters": {
                "type": "object",
                "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
                "required": ["city"],
            },
        }
        """,
    )
    tools = (await ExtensionLoader(folders.root).reload()).tools
    assert await ask(tools, "show", city="Rome", days=None) == "Rome None"


@pytest.mark.parametrize(
    "head",
    [
        "def execute(arguments: dict) -> str:",
        "async def execute(arguments):",
        "def execute(arguments: 'dict[str, int]'):",
    ],
)
async def test_a_function_may_take_all_arguments_as_one_dict(folders: Folders, head: str) -> None:
    folders.write(
        "one",
        f"""
{head}
    return " ".join(f"{{name}}={{value}}" for name, value in sorted(arguments.items()))

TOOL = {{"label": "x", "name": "show", "description": "Shows",
        "parameters": {{"b": {{"type": "int", "default": 2}}, "a": {{"type": "int", "required": True}}}},
        "execute": execute}}
""",
    )
    tools = (await ExtensionLoader(folders.root).reload()).tools
    assert await ask(tools, "show", a=1) == "a=1 b=2"
