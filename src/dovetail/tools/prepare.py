"""The first steps of the pipeline: find the tool, read and repair its arguments, validate them."""

import difflib
from dataclasses import dataclass
from typing import Any

from dovetail.errors import ToolError
from dovetail.messages.call import ToolCall
from dovetail.tools.registry import ToolSnapshot
from dovetail.tools.repair import find_name, read_arguments, repair_arguments
from dovetail.tools.schema import describe_problems
from dovetail.tools.scope import CallScope
from dovetail.tools.tool import Tool

_MOST_NAMES = 20


@dataclass(frozen=True, slots=True)
class Prepared:
    """A call that may go on: its tool and its valid arguments."""

    tool: Tool
    args: dict[str, Any]


def prepare(call: ToolCall, snapshot: ToolSnapshot, scope: CallScope) -> Prepared:
    """Find the tool of a call and make its arguments valid.

    Raises:
        ToolError: there is no such tool, or the arguments are wrong; the text is for the model.
    """
    tool = _find_tool(call.name, snapshot)
    if tool.needs_tab and scope.tab_id is None:
        raise ToolError(
            f"{tool.name!r} acts in the user's browser, and this request came without a tab id",
            type="no_tab",
        )
    args = read_arguments(call)
    if not tool.checker.is_valid(args):
        args = validate(tool, args)
    return Prepared(tool, args)


def validate(tool: Tool, args: dict[str, Any]) -> dict[str, Any]:
    """Valid arguments, repaired where they can be."""
    repaired = repair_arguments(tool, args)
    problems = tool.checker.find_problems(repaired)
    if problems:
        raise ToolError(
            f"wrong arguments for {tool.name!r}: {describe_problems(problems)}", type="invalid_tool_params"
        )
    return repaired


def _find_tool(name: str, snapshot: ToolSnapshot) -> Tool:
    tool = snapshot.tools.get(name) or find_name(name, snapshot)
    if tool is not None:
        return tool
    near = difflib.get_close_matches(name, list(snapshot.tools), n=3, cutoff=0.5)
    if near:
        hint = f"did you mean {' or '.join(near)}?"
    elif snapshot.tools:
        names = list(snapshot.tools)
        hint = f"there are: {', '.join(names[:_MOST_NAMES])}{', …' if len(names) > _MOST_NAMES else ''}"
    else:
        hint = "there are no tools"
    raise ToolError(f"no tool {name!r}; {hint}", type="tool_not_registered")
