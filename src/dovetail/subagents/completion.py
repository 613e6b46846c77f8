"""The tool an agent hands its result in with, checked like any other call."""

from typing import Any

from dovetail.messages.kind import Kind
from dovetail.subagents.definition import OutputConfig
from dovetail.tools.tool import Tool, ToolContext, ToolResult

COMPLETE_TASK = "complete_task"


def make_completion_tool(output: OutputConfig) -> Tool:
    """`complete_task` with one argument, the agent's result in its own schema."""
    name = output.output_name
    schema = dict(output.schema or {"type": "string", "minLength": 1})
    schema.setdefault("description", output.description)

    async def complete(args: dict[str, Any], context: ToolContext) -> ToolResult:
        return ToolResult("The result was handed in.", data=args[name])

    return Tool(
        name=COMPLETE_TASK,
        display_name="Hand in the result",
        description="Hand in the result of the task. This ends your work; call it alone and only once.",
        parameters={
            "type": "object",
            "properties": {name: schema},
            "required": [name],
            "additionalProperties": False,
        },
        execute=complete,
        kind=Kind.Think,
        origin="agent",
        idempotent=True,
    )
