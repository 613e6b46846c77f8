"""Wrong arguments are reported with place and allowed values, and no schema takes too long to check."""

from typing import Any

import pytest

from dovetail.errors import ConfigError
from dovetail.events.call import ToolCall
from dovetail.schema.problem import describe_problems
from dovetail.schema.validate import MOST_WORK, WorkMeter, compile_schema
from dovetail.tools import RunContext, ToolRunner, ToolSnapshot
from dovetail.tools.tool import Tool, ToolContext

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "mode": {"enum": ["rip", "cross"]},
        "count": {"type": "integer", "minimum": 1, "maximum": 9},
        "name": {"type": ["string", "null"], "minLength": 2},
        "grid": {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}, "maxItems": 2},
        "where": {"anyOf": [{"type": "string"}, {"$ref": "#/$defs/Place"}]},
        "exact": {"const": 4},
        "code": {"type": "string", "pattern": "^[a-z]+$"},
        "planks": {"type": "array", "uniqueItems": True},
        "tree": {"$ref": "#/$defs/Tree"},
    },
    "required": ["mode"],
    "additionalProperties": False,
    "$defs": {
        "Place": {
            "type": "object",
            "properties": {"x": {"type": "number", "description": "metres"}},
            "required": ["x"],
        },
        "Tree": {
            "type": "object",
            "properties": {"left": {"$ref": "#/$defs/Tree"}, "size": {"type": "integer"}},
        },
    },
}


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ({}, '`mode` is missing (one of "rip", "cross")'),
        ({"mode": "slant"}, '`mode` must be one of "rip", "cross", got "slant"'),
        ({"mode": "rip", "count": "x"}, '`count` must be integer, got "x"'),
        ({"mode": "rip", "count": 0}, "`count` must be at least 1, got 0"),
        ({"mode": "rip", "count": 10}, "`count` must be at most 9, got 10"),
        ({"mode": "rip", "name": 3}, "`name` must be string or null, got 3"),
        ({"mode": "rip", "name": "x"}, '`name` must have at least 2 characters, got "x"'),
        ({"mode": "rip", "grid": [[1], ["a"]]}, '`grid[1][0]` must be integer, got "a"'),
        ({"mode": "rip", "grid": [[], [], []]}, "`grid` must have at most 2 items, got [[], [], []]"),
        ({"mode": "rip", "where": 3}, "`where` must be string or Place, got 3"),
        (
            {"mode": "rip", "where": {}},
            "`where` must be string or Place, got {} (`where.x` is missing (number: metres))",
        ),
        ({"mode": "rip", "exact": 5}, "`exact` must be 4, got 5"),
        ({"mode": "rip", "code": "A"}, '`code` must match the pattern "^[a-z]+$", got "A"'),
        ({"mode": "rip", "planks": [1, 1]}, "`planks` must not hold the same item twice, got [1, 1]"),
        ({"mode": "rip", "cuont": 3}, "`cuont` is not known; did you mean `count`?"),
        (
            {"mode": "rip", "tree": {"left": {"left": {"size": "x"}}}},
            '`tree.left.left.size` must be integer, got "x"',
        ),
        ({"mode": "schräg\u2028😀"}, '`mode` must be one of "rip", "cross", got "schräg\u2028😀"'),
    ],
)
def test_problem_is_worded_so_that_a_model_can_act_on_it(args: dict[str, Any], words: str) -> None:
    checker = compile_schema(SCHEMA, owner="saw")
    assert not checker.is_valid(args)
    assert describe_problems(checker.find_problems(args)) == words


def test_valid_arguments_of_every_feature_pass() -> None:
    checker = compile_schema(SCHEMA, owner="saw")
    args = {
        "mode": "rip",
        "count": 3,
        "name": None,
        "grid": [[1, 2], []],
        "where": {"x": 1.5},
        "exact": 4,
        "code": "abc",
        "tree": {"left": {"size": 1}},
    }
    assert checker.is_valid(args)
    assert checker.find_problems(args) == []


def test_many_problems_are_reported_in_part() -> None:
    checker = compile_schema({"properties": {"a": {"items": {"type": "string"}}}}, owner="saw")
    text = describe_problems(checker.find_problems({"a": list(range(20))}))
    assert text.endswith("; and 12 more problems")


@pytest.mark.parametrize(
    ("schema", "complaint"),
    [
        ({"type": "array"}, "must be an object, got type 'array'"),
        ({"properties": {"a": {"type": "strin"}}}, "Invalid parameter schema of tool 'saw': \"strin\""),
        ({"properties": {"a": {"pattern": "(("}}}, "Invalid parameter schema"),
        ({"properties": {"a": {"$ref": "#/$defs/None"}}}, "Invalid parameter schema"),
        (
            {"properties": {"a": {"$ref": "https://schemas.example/a.json"}}},
            "remote references are not fetched",
        ),
    ],
)
def test_schema_that_cannot_be_compiled_is_a_clear_error(schema: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ConfigError) as caught:
        compile_schema(schema, owner="saw")
    assert complaint in str(caught.value)
    assert "'saw'" in str(caught.value)


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
    outcome = await ToolRunner().run_call(ToolSnapshot.of([tool]), call, RunContext())
    assert outcome.status == "error"
    assert "repeats itself too often for them to be validated" in str(outcome.result.llm_content)


def test_twelve_levels_are_counted_exactly_and_reported_as_one_problem() -> None:
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


def test_very_many_wrong_values_are_reported_as_the_first_of_them() -> None:
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
