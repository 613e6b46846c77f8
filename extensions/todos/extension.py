"""A to-do list with which an agent plans its work; the page and the terminal keep it in sight."""

from collections.abc import Sequence
from typing import Any

from dovetail.errors import ToolError
from dovetail.tools import ToolResult

STATUSES = ("pending", "in_progress", "completed")
MOST_TODOS = 50
LONGEST_TODO = 500


def write_todos(todos: Sequence[dict[str, Any]]) -> ToolResult:
    """Replace the list and report where it stands."""
    if len(todos) > MOST_TODOS:
        raise ToolError(f"The list has {len(todos)} entries; at most {MOST_TODOS} are allowed.")
    kept = [_read(todo, number) for number, todo in enumerate(todos, start=1)]
    return ToolResult(llm_content=_describe(kept), return_display={"todos": kept})


def _read(todo: dict[str, Any], number: int) -> dict[str, str]:
    content = str(todo["content"]).strip()
    if not content or len(content) > LONGEST_TODO:
        raise ToolError(f"Entry {number} must have 1 to {LONGEST_TODO} characters.")
    return {"content": content, "status": todo["status"]}


def _describe(todos: list[dict[str, str]]) -> str:
    if not todos:
        return "The to-do list is empty."
    done = sum(todo["status"] == "completed" for todo in todos)
    open_ones = [todo for todo in todos if todo["status"] != "completed"]
    if not open_ones:
        return "The to-do list is done."
    current = next((todo for todo in open_ones if todo["status"] == "in_progress"), None)
    step = f"In progress: {current['content']}." if current else f"Next: {open_ones[0]['content']}."
    return f"{done} of {len(todos)} done. {step}"


TOOL = {
    "label": "plan",
    "name": "write_todos",
    "title": "To-do list",
    "description": (
        "Plan a task of three or more steps as a to-do list that the user sees. Send the whole list every "
        "time: before you begin, when you start an entry (in_progress) and as soon as one is done "
        "(completed). Not for simple questions."
    ),
    "kind": "think",
    "parameters": {
        "type": "object",
        "properties": {
            "todos": {
                "type": "array",
                "description": "All entries of the list, in order",
                "items": {
                    "type": "object",
                    "properties": {
                        "content": {"type": "string", "description": "What is to be done, in a few words"},
                        "status": {"type": "string", "enum": list(STATUSES)},
                    },
                    "required": ["content", "status"],
                    "additionalProperties": False,
                },
            }
        },
        "required": ["todos"],
        "additionalProperties": False,
    },
    "execute": write_todos,
}
