"""The tool that hands in a result, and what later readers of the messages see of it."""

from dovetail.events.call import ToolCall, write_answer, write_result
from dovetail.loop.completion import COMPLETE_TASK, make_completion_tool, write_as_answer


def call(name: str, call_id: str) -> ToolCall:
    return ToolCall(call_id=call_id, name=name, arguments="{}")


def test_result_that_was_handed_in_reads_as_the_last_answer() -> None:
    messages = [
        write_answer("Let me see.", [call("find", "c1"), call(COMPLETE_TASK, "c2")]),
        write_result("c1", "3.50"),
        write_result("c2", "Error: wrong"),
        write_answer("", [call(COMPLETE_TASK, "c3")]),
        write_result("c3", "The result was handed in."),
    ]
    assert write_as_answer(messages, "3.5") == [
        write_answer("Let me see.", [call("find", "c1")]),
        write_result("c1", "3.50"),
        write_answer("3.5"),
    ]


def test_shared_definitions_of_a_schema_stay_where_its_references_find_them() -> None:
    item = {"$ref": "#/$defs/Part"}
    tool = make_completion_tool({"type": "array", "items": item, "$defs": {"Part": {"type": "object"}}})
    assert tool.parameters["$defs"] == {"Part": {"type": "object"}}
    assert "$defs" not in tool.parameters["properties"]["result"]
