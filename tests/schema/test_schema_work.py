"""A schema that repeats itself is counted before it is checked, so no schema takes for ever."""

from typing import Any

import pytest

from dovetail.errors import ConfigError
from dovetail.events.call import ToolCall
from dovetail.schema.validate import MOST_WORK, WorkMeter, compile_schema
from dovetail.tools import CallScope, ToolRunner, ToolSnapshot
from dovetail.tools.tool import Tool, ToolContext


def double(levels: int, leaf: Any, **extra: Any) -> dict[str, Any]:
    """A schema that applies its leaf 2 ** levels times to the same value."""
    definitions = {f"d{level}": {"allOf": [{"$ref": f"#/$defs/d{level + 1}"}] * 2} for level in range(levels)}
    return {
        "type": "object",
        "$defs": {**definitions, f"d{levels}": leaf},
        "$ref": "#/$defs/d0",
        **extra,
    }


def nest(depth: int) -> Any:
    value: Any = {}
    for _ in range(depth):
        value = {"a": value}
    return value


TWICE_EACH_LEVEL = {
    "type": "object",
    "$defs": {"n": {"allOf": [{"properties": {"a": {"$ref": "#/$defs/n"}}}] * 2}},
    "$ref": "#/$defs/n",
}
BY_NAME = {
    "$id": "https://example.org/root",
    "type": "object",
    "$defs": {f"d{n}": {"$id": f"d{n}", "allOf": [{"$ref": f"d{n + 1}"}] * 2} for n in range(30)}
    | {"d30": {"$id": "d30", "required": ["x"]}},
    "$ref": "d0",
}
BY_ANCHOR = {
    "type": "object",
    "$defs": {f"d{n}": {"$anchor": f"a{n}", "anyOf": [{"$ref": f"#a{n + 1}"}] * 2} for n in range(30)}
    | {"d30": {"$anchor": "a30", "required": ["x"]}},
    "$ref": "#a0",
}


@pytest.mark.parametrize(
    ("schema", "args"),
    [
        (double(30, {"required": ["x"]}), {}),
        (double(30, {"required": ["x"]}), {"x": 1}),
        (TWICE_EACH_LEVEL, nest(40)),
        (BY_NAME, {}),
        (BY_ANCHOR, {}),
    ],
)
async def test_arguments_that_cannot_be_checked_are_an_error(schema: Any, args: Any) -> None:
    async def execute(args: dict[str, Any], context: ToolContext) -> str:
        return "never"

    tool = Tool(name="hostile", description="x", parameters=schema, execute=execute)
    call = ToolCall(call_id="c", name="hostile", arguments=args)
    outcome = await ToolRunner().run_call(ToolSnapshot.of([tool]), call, CallScope())
    assert outcome.status == "error"
    assert "repeats itself so often that they cannot be checked" in str(outcome.result.llm_content)


def test_twelve_levels_are_counted_exactly_and_told_as_one_problem() -> None:
    schema = double(12, {"required": ["x"]})
    assert WorkMeter(schema).count({}) == 4 * 2**12 - 2
    problems = compile_schema(schema, owner="t").find_problems({})
    assert [problem.message for problem in problems] == ["`x` is missing"]


def test_ordinary_references_and_recursion_are_checked_as_before() -> None:
    tree = {
        "type": "object",
        "$defs": {
            "node": {
                "type": "object",
                "properties": {
                    "and": {"type": "array", "items": {"$ref": "#/$defs/node"}},
                    "or": {"type": "array", "items": {"$ref": "#/$defs/node"}},
                    "field": {"type": "string"},
                },
                "additionalProperties": False,
            }
        },
        "properties": {"filter": {"$ref": "#/$defs/node"}},
    }
    value: Any = {"field": "x"}
    for _ in range(60):
        value = {"and": [value, {"field": "y"}], "or": [{"field": "z"}]}
    checker = compile_schema(tree, owner="t")
    assert checker.is_valid({"filter": value})
    assert not checker.is_valid({"filter": {"and": [{"field": 1}]}})
    assert [each.path for each in checker.find_problems({"filter": {"and": [{"field": 1}]}})] == [
        ("filter", "and", 0, "field")
    ]


def test_very_many_wrong_values_are_told_as_the_first_of_them() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "integer"}}}}
    problems = compile_schema(schema, owner="t").find_problems({"a": ["x"] * 100_000})
    assert [problem.path for problem in problems] == [("a", 0)]


def test_a_reference_to_itself_ends() -> None:
    schema = {"type": "object", "$defs": {"a": {"allOf": [{"$ref": "#/$defs/a"}]}}, "$ref": "#/$defs/a"}
    assert compile_schema(schema, owner="t").is_valid({})
    assert WorkMeter(schema).count({}) < MOST_WORK


def test_a_schema_that_is_nested_too_deeply_is_an_error() -> None:
    schema: dict[str, Any] = {"type": "object"}
    for _ in range(5000):
        schema = {"type": "object", "properties": {"a": schema}}
    with pytest.raises(ConfigError, match="'deep'"):
        compile_schema(schema, owner="deep")
