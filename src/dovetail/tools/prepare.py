"""The first steps of the pipeline: find the tool, read and repair its arguments, validate them."""

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from dovetail.errors import ToolError
from dovetail.messages.call import ToolCall
from dovetail.tools.breaker import LIMIT, Breaker
from dovetail.tools.coerce import Repaired, coerce_arguments
from dovetail.tools.problem import describe_problems
from dovetail.tools.registry import ToolSnapshot
from dovetail.tools.repair import find_by_near_name, read_arguments
from dovetail.tools.scope import CallScope
from dovetail.tools.tool import Tool

_MOST_NAMES = 20


@dataclass(frozen=True, slots=True)
class Prepared:
    """A call that may continue: its tool, its valid arguments and what was left out to make them valid."""

    tool: Tool
    args: dict[str, Any]
    notes: tuple[str, ...] = ()


class Preparer:
    """Finds tools and makes arguments valid; every refusal is a `ToolError` whose text is for the model."""

    def __init__(self, built_in: Iterable[Tool] = ()) -> None:
        self._built_in = {tool.name: tool for tool in built_in}
        self._breaker = Breaker()

    def prepare(self, call: ToolCall, snapshot: ToolSnapshot, scope: CallScope) -> Prepared:
        """The tool of a call and its valid arguments."""
        tool = snapshot.tools.get(call.name) or self._built_in.get(call.name)
        if tool is None:
            tool = find_tool(call.name, snapshot)
        if tool.needs_tab and scope.tab_id is None:
            raise ToolError(
                f"{tool.name!r} acts in the user's browser, and this request came without a tab id",
                type="no_tab",
            )
        prepared = self.validate(tool, read_arguments(tool, call.arguments), scope)
        meant, inner = tool.resolve(prepared.args)
        return prepared if meant is tool else self.validate(meant, inner, scope)

    def validate(self, tool: Tool, args: dict[str, Any], scope: CallScope) -> Prepared:
        """Valid arguments, repaired where they can be; not after three equal failures in one run."""
        try:
            if tool.checker.is_valid(args):
                return Prepared(tool, args)
            problems = tool.checker.find_problems(args)
            shape = describe_problems(problems)
            repaired = Repaired(args, problems)
            if self._breaker.count(scope.run_path, tool.name, shape) < LIMIT:
                repaired = coerce_arguments(tool, args)
        except ValueError as error:  # a value that JSON does not know
            raise ToolError(
                f"wrong arguments for {tool.name!r}: {error}", type="invalid_tool_params"
            ) from error
        if not repaired.problems:
            return Prepared(tool, repaired.args, repaired.notes)
        times = self._breaker.note(scope.run_path, tool.name, shape)
        again = f". This has now failed {times} times in the same way: do something else" * (times >= LIMIT)
        raise ToolError(
            f"wrong arguments for {tool.name!r}: {describe_problems(repaired.problems)}{again}",
            type="invalid_tool_params",
        )


def find_tool(name: str, snapshot: ToolSnapshot) -> Tool:
    """The tool of that name, or the one that is meant by it.

    Raises:
        ToolError: there is none; the text names the nearest ones.
    """
    tool = snapshot.tools.get(name) or find_by_near_name(name, snapshot)
    if tool is not None:
        return tool
    names = list(snapshot.tools)
    if near := difflib.get_close_matches(name, names, n=3, cutoff=0.5):
        hint = f"did you mean {' or '.join(near)}?"
    elif names:
        hint = f"there are: {', '.join(names[:_MOST_NAMES])}{', …' if len(names) > _MOST_NAMES else ''}"
    else:
        hint = "there are no tools"
    raise ToolError(f"no tool {name!r}; {hint}", type="tool_not_registered")
