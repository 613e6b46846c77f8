"""`background_tasks`: the tool with which a model lists, reads, messages and cancels its tasks."""

from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from dovetail.data.text import to_text
from dovetail.errors import ConfigError, DovetailError, ToolError
from dovetail.events.background import Background, Task, TaskReport
from dovetail.events.call import Kind
from dovetail.events.run_context import current_run
from dovetail.events.tool_context import ToolContext
from dovetail.loop.budget import Budget, find_budget
from dovetail.loop.tree import write_rest
from dovetail.tools.tool import Tool, ToolResult

TASKS = "background_tasks"
_ACTIONS = ("list", "read", "message", "cancel")


async def _manage(args: dict[str, Any], context: ToolContext) -> ToolResult:
    run = current_run()
    if run is None or run.background is None:
        raise ToolError("This conversation has no background tasks.", type="no_background")
    try:
        return await _act(run.background, args, find_budget(run) or Budget())
    except DovetailError as error:
        raise ToolError(str(error), type=error.wire_name) from error


async def _act(background: Background, args: dict[str, Any], budget: Budget) -> ToolResult:
    action = args["action"]
    if action == "list":
        tasks = await background.list()
        text = "\n".join(describe_task(task) for task in tasks) or "There are no background tasks."
        return ToolResult(text, data=[asdict(task) for task in tasks])
    task_id = args.get("task_id")
    if not task_id:
        raise ConfigError(f"The action {action!r} needs `task_id`.", hint="The action 'list' shows the ids.")
    if action == "read":
        report = await background.read(task_id)
        return ToolResult(_describe_report(report), data=asdict(report.task))
    if action == "cancel":
        task = await background.cancel(task_id)
        return ToolResult(f"Task {task_id!r} was asked to stop.", data=asdict(task))
    return await _send(background, task_id, args.get("message") or "", budget)


async def _send(background: Background, task_id: str, message: str, budget: Budget) -> ToolResult:
    if not message.strip():
        raise ConfigError("The action 'message' needs `message`.")
    before = next((task for task in await background.list() if task.task_id == task_id), None)
    if before is not None and before.state == "ended":
        budget.child()  # it works once more: counts it, or refuses it
    task = await background.message(task_id, message, write_rest(budget))
    has_revived = before is not None and before.run_id != task.run_id
    text = "continues with this message" if has_revived else "gets this message in its next turn"
    return ToolResult(f"Task {task_id!r} {text}.", data=asdict(task))


def describe_task(task: Task) -> str:
    """Return a task in one line."""
    began = datetime.fromtimestamp(task.created_at, UTC).strftime("%Y-%m-%d %H:%M UTC")
    state = f"ended by {task.reason}" if task.state == "ended" else task.state
    return f"{task.task_id}: {task.agent}, {state}, began {began}: {task.title}"


def _describe_report(report: TaskReport) -> str:
    lines = [describe_task(report.task)]
    if report.error:
        lines.append(f"Error: {report.error.get('message', '')}")
    if report.result is not None:
        lines.append(f"Result:\n{to_text(report.result)}")
    elif report.text:
        lines.append(f"Its last text:\n{report.text}")
    return "\n".join(lines)


task_tool = Tool(
    name=TASKS,
    display_name="Background tasks",
    description=(
        "Manage the agents that work in the background of this conversation: list them, read what one has "
        "said or its whole result, send one a message (one that has ended continues), or cancel one. "
        "You get a notice when a task ends, so do not poll."
    ),
    parameters={
        "type": "object",
        "properties": {
            "action": {"enum": list(_ACTIONS), "description": "What to do."},
            "task_id": {"type": "string", "description": "Which task; not needed to list them."},
            "message": {"type": "string", "description": "The text to send with the action 'message'."},
        },
        "required": ["action"],
        "additionalProperties": False,
    },
    execute=_manage,
    kind=Kind.Think,
    origin="agent",
)
