"""Wrong arguments are told with what, where and which values are allowed."""

from typing import Any

import pytest

from dovetail.errors import ConfigError
from dovetail.schema.problem import describe_problems
from dovetail.schema.validate import compile_schema

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
def test_problem_is_told_in_words_a_model_can_act_on(args: dict[str, Any], words: str) -> None:
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


def test_many_problems_are_told_in_part() -> None:
    checker = compile_schema({"properties": {"a": {"items": {"type": "string"}}}}, owner="saw")
    text = describe_problems(checker.find_problems({"a": list(range(20))}))
    assert text.endswith("; and 12 more problems")


@pytest.mark.parametrize(
    ("schema", "complaint"),
    [
        ({"type": "array"}, "are of type 'array': they must be an object"),
        ({"properties": {"a": {"type": "strin"}}}, 'cannot be compiled: "strin"'),
        ({"properties": {"a": {"pattern": "(("}}}, "cannot be compiled"),
        ({"properties": {"a": {"$ref": "#/$defs/None"}}}, "cannot be compiled"),
        ({"properties": {"a": {"$ref": "https://schemas.example/a.json"}}}, "nothing is fetched"),
    ],
)
def test_schema_that_cannot_be_compiled_is_a_clear_error(schema: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ConfigError) as caught:
        compile_schema(schema, owner="saw")
    assert complaint in str(caught.value)
    assert "'saw'" in str(caught.value)
