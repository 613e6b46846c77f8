"""How a run hands in its result: the tool `complete_task`, and the check of an answer in words.

Agents as files, definitions and typed runs end this way. Whoever reads the messages of such a run later, its
caller or the next turn of a conversation, knows no such tool: for them the result is the answer.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from dovetail.errors import ToolError
from dovetail.events.call import ChatMessage, Kind
from dovetail.events.tool_context import ToolContext
from dovetail.tools.tool import Tool, ToolResult

COMPLETE_TASK = "complete_task"


@dataclass(frozen=True, slots=True)
class Rejection:
    """Why an answer is not the result; `is_final` if the same request would get the same answer again."""

    problem: str
    is_final: bool = False


CheckAnswer: TypeAlias = Callable[[str, str], Awaitable[Rejection | None]]
"""Says of an answer and its finish reason why it is not the result; None if it is."""


@dataclass(frozen=True, slots=True)
class AnswerRule:
    """What the answer of a run must be; one that is not is asked for again, at most `retries` times."""

    check: CheckAnswer
    retries: int = 3


def make_completion_tool(
    schema: Mapping[str, Any] | None = None,
    *,
    name: str = "result",
    description: str = "The result of the task.",
    check: Callable[[Any], object] | None = None,
) -> Tool:
    """Return `complete_task`, whose one argument is the result.

    `check` raises a ValueError or TypeError for a result that follows the schema and is still wrong.
    """
    described = dict(schema or {"type": "string", "minLength": 1})
    shared = {"$defs": described.pop("$defs")} if "$defs" in described else {}
    described.setdefault("description", description)

    async def complete(args: dict[str, Any], context: ToolContext) -> ToolResult:
        try:
            if check is not None:
                check(args[name])
        except (ValueError, TypeError) as error:
            raise ToolError(f"The result does not fit what was asked for: {error}") from error
        return ToolResult("The result was handed in.", data=args[name])

    return Tool(
        name=COMPLETE_TASK,
        display_name="Hand in the result",
        description="Hand in the result of the task. This ends your work; call it alone and only once.",
        parameters={
            "type": "object",
            "properties": {name: described},
            "required": [name],
            "additionalProperties": False,
            **shared,
        },
        execute=complete,
        kind=Kind.Think,
        origin="agent",
        idempotent=True,
    )


def write_as_answer(messages: Iterable[ChatMessage], text: str) -> list[ChatMessage]:
    """Return the messages of a run with the result that was handed in as its last answer.

    Calls of `complete_task` are left out: models that read them later have no such tool.
    """
    kept: list[ChatMessage] = []
    completions: set[str] = set()
    for message in messages:
        calls = message.get("tool_calls") or ()
        others = [call for call in calls if call["function"]["name"] != COMPLETE_TASK]
        if message.get("tool_call_id") in completions:
            continue
        if len(others) < len(calls):
            completions |= {call["id"] for call in calls if call not in others}
            if not others:
                continue
            message = {"role": "assistant", "content": message.get("content"), "tool_calls": others}
        kept.append(message)
    return [*kept, {"role": "assistant", "content": text}]
