"""Both forms of `parameters` give JSON Schema; the pipeline takes and refuses what they say."""

import json
from typing import Any

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
        ({"city": {"required": "yes"}}, "True or False, got 'yes'"),
        ({3: {}}, "got 3"),
        ({"type": "string"}, "type 'object', got 'string'"),
        ({"type": "object", "properties": []}, "properties of the parameters must be a dict"),
        ({"type": "object", "required": "city"}, "must be a list of names"),
        ({"type": "object", "properties": {}, "required": ["city"]}, "required lists city"),
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


def test_type_names_of_the_table_are_read_in_the_json_schema_form_at_every_depth() -> None:
    schema = to_json_schema(
        {
            "type": "object",
            "properties": {
                "n": {"type": "int", "default": "int"},
                "f": {"type": ["float", "null"]},
                "when": {"type": "datetime", "enum": ["int"]},
                "list": {"type": "array", "items": {"type": "bool"}},
                "any": {"anyOf": [{"type": "int"}, {"$ref": "#/$defs/x"}]},
            },
            "$defs": {"x": {"type": "object", "properties": {"type": {"type": "float"}}}},
        }
    )
    assert schema["properties"] == {
        "n": {"type": "integer", "default": "int"},
        "f": {"type": ["number", "null"]},
        "when": {"type": "string", "enum": ["int"]},
        "list": {"type": "array", "items": {"type": "boolean"}},
        "any": {"anyOf": [{"type": "integer"}, {"$ref": "#/$defs/x"}]},
    }
    assert schema["$defs"]["x"]["properties"] == {"type": {"type": "number"}}


def test_type_names_inside_of_the_short_form_are_read_too() -> None:
    schema = to_json_schema({"sizes": {"type": "array", "items": {"type": "float"}, "required": True}})
    assert schema["properties"]["sizes"]["items"] == {"type": "number"}


def test_required_may_be_said_by_a_member_itself() -> None:
    where = {
        "type": "object",
        "properties": {"x": {"type": "float", "required": True}, "y": {"type": "float"}},
    }
    schema = to_json_schema({"type": "object", "properties": {"where": where}})
    assert schema["properties"]["where"]["required"] == ["x"]
    assert "required" not in schema["properties"]["where"]["properties"]["x"]


@pytest.mark.parametrize(
    "parameters",
    [
        {"properties": {"city": {"type": "string"}}, "required": ["city"]},
        {"properties": {"city": {"type": "string"}}},
        {"properties": {}, "required": []},
    ],
)
def test_a_json_schema_without_its_type_is_explained(parameters: dict[str, object]) -> None:
    with pytest.raises(ExtensionError, match="'type': 'object'"):
        to_json_schema(parameters)


def test_a_parameter_may_be_called_properties() -> None:
    assert to_json_schema({"properties": {"type": "string", "required": True}})["required"] == ["properties"]


TYPED = """
def show({names}):
    return repr(({names},))
TOOL = {{"label": "x", "name": "show", "description": "Shows", "execute": show, "parameters": {parameters}}}
"""


@pytest.mark.parametrize(
    ("parameters", "arguments", "reached"),
    [
        ({"days": {"type": "integer", "required": True}}, {"days": 2.0}, "(2,)"),
        ({"days": {"type": "int"}}, {"days": 2.0}, "(2,)"),
        ({"x": {"type": "number", "required": True}}, {"x": 1}, "(1.0,)"),
        ({"x": {"type": "float", "default": 1}}, {}, "(1.0,)"),
        ({"x": {"type": "int", "default": 2.0}}, {}, "(2,)"),
        ({"x": {"type": "bool", "required": True}}, {"x": "yes"}, "(True,)"),
        ({"x": {"type": "bool", "required": True}}, {"x": 0}, "(False,)"),
        ({"x": {"type": "datetime", "required": True}}, {"x": "now"}, "('now',)"),
        (
            {"type": "object", "properties": {"x": {"type": "array", "items": {"type": "float"}}}},
            {"x": [1]},
            "([1.0],)",
        ),
        ({"type": "object", "properties": {"x": {"type": "number", "default": 3}}}, {}, "(3.0,)"),
        ({"type": "object", "properties": {"x": {"type": "int"}}}, {"x": "7"}, "(7,)"),
    ],
)
async def test_values_reach_the_function_in_the_types_of_the_table(
    folders: Folders, parameters: dict[str, object], arguments: dict[str, object], reached: str
) -> None:
    names = "days" if "days" in parameters else "x"
    folders.write("one", TYPED.format(names=names, parameters=parameters))
    tools = (await ExtensionLoader(folders.root).reload()).tools
    assert await ask(tools, "show", **arguments) == reached


async def test_numbers_in_one_dict_are_typed_too(folders: Folders) -> None:
    folders.write(
        "one",
        """
        def show(arguments: dict):
            return repr(sorted(arguments.items()))
        TOOL = {"label": "x", "name": "show", "description": "Shows", "execute": show,
                "parameters": {"a": {"type": "float", "default": 1}, "b": {"type": "int"}}}
        """,
    )
    tools = (await ExtensionLoader(folders.root).reload()).tools
    assert await ask(tools, "show", b=2.0) == "[('a', 1.0), ('b', 2)]"


PURGE = """
def purge(table, dry_run=False, limit=1_000_000):
    return f"{dry_run} {limit}"
TOOL = {
    "label": "x", "name": "purge", "description": "Deletes", "execute": purge,
    "parameters": {
        "table": {"type": "string", "required": True}, "dry_run": {"type": "boolean", "default": False},
        "limit": {"type": "integer", "default": 1_000_000},
    },
}
"""


async def test_a_wrong_optional_argument_never_vanishes(folders: Folders) -> None:
    folders.write("one", PURGE)
    tools = (await ExtensionLoader(folders.root).reload()).tools
    for yes in ("yes", "on", "1", 1, "True"):
        assert await ask(tools, "purge", table="t", dry_run=yes) == "True 1000000"
    for wrong in ({"dry_run": "maybe"}, {"dry_run": ""}, {"limit": "10 rows"}, {"dryrun_": True, "x": 1}):
        outcome = await call_tool(tools, "purge", table="t", **wrong)
        assert outcome.status == "error"
        assert outcome.result.llm_content.startswith("Error: Invalid arguments for 'purge': ")


async def test_an_invented_argument_is_reported_whatever_the_schema_allows(folders: Folders) -> None:
    folders.write(
        "one",
        """
        def show(city):
            return city
        TOOL = {"label": "x", "name": "show", "description": "Shows", "execute": show,
                "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}
        """,
    )
    [tool] = (await ExtensionLoader(folders.root).reload()).tools
    assert "additionalProperties" not in tool.parameters
    said = await ask([tool], "show", city="Rome", zzz=1)
    assert said == "Error: Invalid arguments for 'show': `zzz` is not known; expected one of: city"


async def write_echo(folders: Folders, parameters: str) -> Any:
    """Load a tool `echo` that shows the value of `v`, and give its tools."""
    folders.write(
        "one",
        f"""
        def echo(v=None):
            text = repr(v)
            if isinstance(v, list):
                v.append("seen")
            return text

        TOOL = dict(label="x", name="echo", description="Shows v", parameters={parameters}, execute=echo)
        """,
    )
    snapshot = await ExtensionLoader(folders.root).reload()
    assert snapshot.failed_extensions == ()
    return snapshot.tools


async def test_a_default_is_not_changed_by_the_calls_that_get_it(folders: Folders) -> None:
    tools = await write_echo(folders, "{'v': {'type': 'array', 'default': []}}")
    assert [await ask(tools, "echo"), await ask(tools, "echo")] == ["[]", "[]"]
    assert tools[0].parameters["properties"]["v"]["default"] == []


async def test_members_that_an_object_of_the_short_form_requires_stay_required(folders: Folders) -> None:
    member = "{'type': 'object', 'properties': {'n': {'type': 'int'}}, 'required': ['n']}"
    tools = await write_echo(folders, f"{{'v': {member}}}")
    assert tools[0].parameters["required"] == []
    assert await ask(tools, "echo", v={"n": "2"}) == "{'n': 2}"
    assert "`v.n` is missing" in await ask(tools, "echo", v={})
    assert await ask(tools, "echo") == "None"


async def test_a_null_for_a_required_array_is_an_error(folders: Folders) -> None:
    tools = await write_echo(folders, "{'v': {'type': 'array', 'required': True}}")
    assert "`v` must be array, got null" in await ask(tools, "echo", v=None)


async def test_a_schema_that_lets_anything_pass_is_one(folders: Folders) -> None:
    tools = await write_echo(folders, "{'type': 'object', 'properties': {'v': True}}")
    assert await ask(tools, "echo", v=[1]) == "[1]"


async def test_models_get_plain_json_whatever_a_default_is(folders: Folders) -> None:
    tools = await write_echo(folders, "{'v': {'type': 'number', 'default': float('inf')}}")
    assert await ask(tools, "echo") == "inf"
    assert json.loads(json.dumps(tools[0].parameters, allow_nan=False))["properties"]["v"]["default"] is None


async def test_a_default_that_json_cannot_hold_fails_the_folder(folders: Folders) -> None:
    source = "import enum\nclass E(enum.Enum):\n    A = 1\n"
    tool = "TOOL = dict(label='x', name='t', description='d', execute=print, parameters=P)"
    folders.write("one", f"{source}P = {{'sep': {{'type': 'integer', 'default': E.A}}}}\n{tool}\n")
    [failure] = (await ExtensionLoader(folders.root).reload()).failed_extensions
    assert "not JSON serializable" in failure.error


@pytest.mark.parametrize(
    ("type_name", "default", "value"),
    [
        ("int", "'3'", "3"),
        ("integer", "2.0", "2"),
        ("number", "1", "1.0"),
        ("bool", "'yes'", "True"),
        ("string", "5", "'5'"),
        ("array", "'a'", "['a']"),
        ("int", "None", "None"),
        ("int", "'all'", "'all'"),
    ],
)
@pytest.mark.parametrize("kind", ["other", "read"])
async def test_a_default_is_read_as_an_argument_is(
    folders: Folders, type_name: str, default: str, value: str, kind: str
) -> None:
    parameters = f"{{'v': {{'type': '{type_name}', 'default': {default}}}}}, kind='{kind}'"
    tools = await write_echo(folders, parameters)
    assert await ask(tools, "echo") == value
