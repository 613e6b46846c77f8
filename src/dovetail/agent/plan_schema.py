"""The closed schema of a plan: no tool but the known ones can be named, each only with its own arguments."""

from collections.abc import Iterable, Mapping
from typing import Any

from dovetail.messages.request import ToolSpec


def write_plan_schema(tools: Iterable[ToolSpec]) -> dict[str, Any]:
    """Whether a tool is needed, and which: one form of command for each tool, or null."""
    return _close({"use_tool": {"type": "boolean"}, "tool_command": _write_choice(tools, {"type": "null"})})


def write_reply_schema(tools: Iterable[ToolSpec], *, must_call: bool) -> dict[str, Any]:
    """A plan whose last field is the answer, where no tool is needed."""
    if must_call:
        return _close({"use_tool": {"const": True}, "tool_command": _write_choice(tools)})
    plan = write_plan_schema(tools)
    return _close({**plan["properties"], "answer": {"type": ["string", "null"]}})


def _write_choice(tools: Iterable[ToolSpec], *others: Mapping[str, Any]) -> dict[str, Any]:
    return {"anyOf": [*others, *(_write_command(tool) for tool in tools)]}


def _write_command(tool: ToolSpec) -> dict[str, Any]:
    return _close(
        {
            "purpose": {"type": "string"},
            "tool_name": {"type": "string", "const": tool.name},
            "tool_kwargs": dict(tool.parameters),
        }
    )


def _close(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
