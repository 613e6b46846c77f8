"""Numbers reach a function in the type that its schema names."""

import math
from typing import Any

import pytest

from dovetail.events.call import ToolCall
from dovetail.schema.number_types import make_converter
from dovetail.tools import RunContext, ToolRunner, ToolSnapshot, make_tool
from dovetail.tools.manager import ToolManager

INTEGER, NUMBER = {"type": "integer"}, {"type": "number"}


def show(value: Any) -> str:
    return repr(value)


@pytest.mark.parametrize(
    ("schema", "given", "typed"),
    [
        (INTEGER, 2.0, "2"),
        (INTEGER, -0.0, "0"),
        (NUMBER, 1, "1.0"),
        (NUMBER, True, "True"),
        (NUMBER, 10**400, str(10**400)),
        (NUMBER, 175928847299117063, "175928847299117063"),
        ({"type": ["number", "null"]}, 1, "1.0"),
        ({"type": ["number", "null"]}, None, "None"),
        ({"type": ["integer", "number"]}, 2.0, "2.0"),
        ({"anyOf": [NUMBER, {"type": "null"}]}, 1, "1.0"),
        ({"oneOf": [INTEGER, {"type": "string"}]}, 2.0, "2"),
        ({"anyOf": [INTEGER, NUMBER]}, 1, "1"),
        ({}, 1, "1"),
        ({"enum": [1, 2]}, 1, "1"),
        ({"type": "array", "items": NUMBER}, [1, 2.5], "[1.0, 2.5]"),
        ({"type": "array", "prefixItems": [NUMBER], "items": INTEGER}, [1, 2.0, 3.0], "[1.0, 2, 3]"),
        ({"properties": {"a": {"properties": {"b": INTEGER}}}}, {"a": {"b": 3.0}}, "{'a': {'b': 3}}"),
        ({"type": "object", "additionalProperties": NUMBER}, {"x": 1}, "{'x': 1.0}"),
        ({"allOf": [{"properties": {"a": NUMBER}}, {"items": INTEGER}]}, {"a": 1}, "{'a': 1.0}"),
        ({"anyOf": [{"type": "array", "items": NUMBER}, {"type": "null"}]}, [1], "[1.0]"),
        ({"anyOf": [{"type": "array", "items": NUMBER}, {"type": "array", "items": INTEGER}]}, [1], "[1]"),
        ({"$ref": "#/$defs/tree"}, {"kg": 1, "next": {"kg": 2}}, "{'kg': 1.0, 'next': {'kg': 2.0}}"),
        ({"$ref": "#/$defs/none"}, 1, "1"),
    ],
)  # fmt: skip
def test_numbers_at_every_depth(schema: dict[str, Any], given: Any, typed: str) -> None:
    tree = {"type": "object", "properties": {"kg": NUMBER, "next": {"$ref": "#/$defs/tree"}}}
    convert = make_converter({"properties": {"value": schema}, "$defs": {"tree": tree}})
    arguments = {"value": given}
    before = repr(arguments)
    assert show((convert(arguments) if convert else arguments)["value"]) == typed
    assert repr(arguments) == before


def test_a_schema_without_numbers_needs_no_conversion() -> None:
    assert make_converter({"type": "object", "properties": {"a": {"type": "string"}, "b": {}}}) is None


async def test_a_float_annotation_gets_a_float_and_an_int_annotation_an_int() -> None:
    async def scale(factor: float, times: int = 1, sizes: list[float] | None = None) -> str:
        return show((factor, times, sizes))

    call = ToolCall(call_id="1", name="scale", arguments='{"factor": 2, "times": 3.0, "sizes": [1]}')
    outcome = await ToolRunner().run_call(ToolSnapshot.of([make_tool(scale)]), call, RunContext())
    assert outcome.result.data == "(2.0, 3, [1.0])"


def test_a_registered_float_gets_a_float() -> None:
    manager = ToolManager()
    manager.register("root", "The root.", {"x": (float, "of what")}, lambda x: f"{x} {math.sqrt(x)}")
    assert manager.call_tool("root", {"x": 4}) == "4.0 2.0"


async def test_an_argument_that_the_function_lacks_is_reported_as_invalid() -> None:
    def find(city: str, days: int = 1) -> str:
        return city * days

    schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    tool = make_tool(find, parameters=schema)
    assert tool.parameters == schema
    call = ToolCall(call_id="1", name="find", arguments={"city": "Rome", "zzz": 1})
    outcome = await ToolRunner().run_call(ToolSnapshot.of([tool]), call, RunContext())
    assert outcome.result.error is not None
    assert outcome.result.error.type == "invalid_tool_params"
    assert "`zzz` is not known; expected one of: city" in outcome.result.error.message


async def test_a_function_that_takes_any_argument_gets_them_all() -> None:
    def find(city: str, **more: Any) -> str:
        return f"{city} {more}"

    tool = make_tool(find, parameters={"type": "object", "properties": {"city": {"type": "string"}}})
    call = ToolCall(call_id="1", name="find", arguments={"city": "Rome", "zzz": 1})
    outcome = await ToolRunner().run_call(ToolSnapshot.of([tool]), call, RunContext())
    assert outcome.result.data == "Rome {'zzz': 1}"
