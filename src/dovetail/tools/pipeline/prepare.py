"""The first steps of the pipeline: find the tool, read, repair and validate its arguments."""

import json
import logging
import re
from collections import Counter, OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from dovetail.data.clean import clean_texts
from dovetail.data.shapes import is_dict
from dovetail.data.text import explain_unknown
from dovetail.errors import ToolError
from dovetail.events.call import ToolCall
from dovetail.events.run_context import RunContext
from dovetail.response.field_event import FieldEvent
from dovetail.response.parser import InstantParser
from dovetail.schema.problem import describe_problems
from dovetail.tools.pipeline.coerce import Repaired, coerce_arguments
from dovetail.tools.snapshot import ToolSnapshot
from dovetail.tools.tool import Tool

logger = logging.getLogger(__name__)

LIMIT = 3
"""How often a call may fail in the same way before its arguments are no longer repaired."""
_MOST_RUNS = 1000
_DIGITS = re.compile(r"\d+")
DEEPEST = 64
"""The deepest nesting of arguments; validators and tools recurse into them."""
MOST = 1000
"""The largest number of arguments of one call; each unknown one is compared with the known names."""
LONGEST_REPAIRED = 100_000
"""The largest number of characters that are read leniently, which is much slower than reading JSON."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A call ready to run: its tool, its valid arguments, and notes on what was left out of them."""

    tool: Tool
    args: dict[str, Any]
    notes: tuple[str, ...] = ()


class Preparer:
    """Find tools and make arguments valid; every refusal is a `ToolError` whose message is for the model."""

    def __init__(self, built_in: Iterable[Tool] = ()) -> None:
        self._built_in = {tool.name: tool for tool in built_in}
        self._breaker = Breaker()

    def prepare(self, call: ToolCall, snapshot: ToolSnapshot, run: RunContext) -> Prepared:
        """Return the tool of a call and its valid arguments."""
        tool = snapshot.tools.get(call.name) or self._built_in.get(call.name)
        if tool is None:
            tool = find_tool(call.name, snapshot)
        if tool.needs_tab and run.tab_id is None:
            raise ToolError(
                f"{tool.name!r} runs in the user's browser, but this request has no tab id.",
                type="no_tab",
            )
        prepared = self.validate(tool, read_arguments(tool, call.arguments), run)
        meant, inner = tool.resolve(prepared.args)
        return prepared if meant is tool else self.validate(meant, inner, run)

    def validate(self, tool: Tool, args: dict[str, Any], run: RunContext) -> Prepared:
        """Return valid arguments, repaired if possible; not after three equal failures in one run."""
        try:
            if tool.checker.is_valid(args):
                return Prepared(tool, args)
            problems = tool.checker.find_problems(args)
            shape = describe_problems(problems)
            repaired = Repaired(args, problems)
            if self._breaker.count(run.run_path, tool.name, shape) < LIMIT:
                repaired = coerce_arguments(tool, args)
        except ValueError as error:  # a value that JSON does not know
            raise ToolError(
                f"Invalid arguments for {tool.name!r}: {error}", type="invalid_tool_params"
            ) from error
        if not repaired.problems:
            return Prepared(tool, repaired.args, repaired.notes)
        times = self._breaker.note(run.run_path, tool.name, shape)
        again = f". This failed {times} times in the same way: try something else" * (times >= LIMIT)
        raise ToolError(
            f"Invalid arguments for {tool.name!r}: {describe_problems(repaired.problems)}{again}",
            type="invalid_tool_params",
        )


def find_tool(name: str, snapshot: ToolSnapshot) -> Tool:
    """Return the tool of that name, or the one that is meant by it.

    Raises:
        ToolError: the tool is unknown; the message names the nearest ones.
    """
    tool = snapshot.tools.get(name) or find_by_near_name(name, snapshot)
    if tool is not None:
        return tool
    raise ToolError(explain_unknown("tool", name, snapshot.tools), type="tool_not_registered")


def find_by_near_name(name: str, snapshot: ToolSnapshot) -> Tool | None:
    """Return the one tool whose name differs only in case, `-` for `_`, or a prefix such as `functions.`."""
    wanted = _normalize(name)
    found = [tool for tool in snapshot if _normalize(tool.name) == wanted]
    if len(found) != 1:
        return None
    logger.info("[tool-repair] name %r read as %r", name, found[0].name)
    return found[0]


def read_arguments(tool: Tool, arguments: str | Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a call as an object, from JSON text or a mapping.

    Raises:
        ToolError: the text is not an object, even if read leniently, or it is nested too deeply.
    """
    args = _read_text(tool, arguments) if isinstance(arguments, str) else dict(arguments)
    if len(args) > MOST:
        raise _wrong(tool, f"are too many: {len(args)}, at most {MOST} are allowed")
    try:
        return clean_texts(args, DEEPEST + 1)
    except ValueError as error:
        raise _wrong(tool, f"are nested deeper than {DEEPEST} levels") from error


def _read_text(tool: Tool, text: str) -> dict[str, Any]:
    try:
        value: Any = json.loads(text or "{}")
    except RecursionError as error:
        raise _wrong(tool, f"are nested deeper than {DEEPEST} levels") from error
    except ValueError as error:
        return _read_leniently(tool, text, error)
    if is_dict(value):
        return value
    if value is None:
        return {}
    if isinstance(value, str) and value.lstrip().startswith("{"):
        logger.info("[tool-repair] %s: arguments inside of a string read as an object", tool.name)
        return _read_text(tool, value)
    raise _wrong(tool, f"must be an object, got {text[:80]!r}")


def _read_leniently(tool: Tool, text: str, error: ValueError) -> dict[str, Any]:
    """Read code fences, comments, single quotes and the like; but never arguments that were cut off.

    What is missing would turn into its default: `dry_run` into false.
    """
    if not text.strip():
        return {}
    if len(text) > LONGEST_REPAIRED:
        raise _wrong(tool, f"are not JSON: {error}") from error
    parser = InstantParser(tool.parameters.get("properties"))
    complete = parser.feed(text)
    is_found = parser.data is not None
    left_open = parser.finish()
    if parser.is_too_deep:
        raise _wrong(tool, f"are nested deeper than {DEEPEST} levels") from error
    if not is_dict(parser.data):
        raise _wrong(tool, f"are not JSON: {error}") from error
    if parser.is_cut_off:
        place = _find_cut(complete, left_open) if is_found else ""
        raise _wrong(tool, f"are cut off{place}: send them again in full") from error
    logger.info("[tool-repair] %s: arguments read leniently, they are not JSON: %s", tool.name, error)
    return parser.data


def _find_cut(complete: list[FieldEvent], left_open: list[FieldEvent]) -> str:
    """Return where arguments end: inside a value, or after the last one."""
    if left_open:
        return f" inside `{left_open[0].path}`"
    last = next((event for event in reversed(complete) if event.is_complete), None)
    return f" after `{last.path}`" if last else ""


def _wrong(tool: Tool, what: str) -> ToolError:
    return ToolError(f"The arguments of {tool.name!r} {what}.", type="invalid_tool_params")


class Breaker:
    """Count, per run, how often calls of a tool failed in the same way; digits make no difference."""

    def __init__(self) -> None:
        self._runs: OrderedDict[tuple[str, ...], Counter[tuple[str, str]]] = OrderedDict()

    def count(self, run_path: tuple[str, ...], tool: str, failure: str) -> int:
        """Return how often this failure was noted in this run."""
        failures = self._runs.get(run_path)
        return failures[tool, _DIGITS.sub("0", failure)] if failures else 0

    def note(self, run_path: tuple[str, ...], tool: str, failure: str) -> int:
        """Note a failure and return how often it was seen. Calls outside of a run are not counted."""
        if not run_path:
            return 1
        failures = self._runs.setdefault(run_path, Counter())
        self._runs.move_to_end(run_path)
        if len(self._runs) > _MOST_RUNS:
            self._runs.popitem(last=False)
        failures[tool, _DIGITS.sub("0", failure)] += 1
        return failures[tool, _DIGITS.sub("0", failure)]


def _normalize(name: str) -> str:
    return name.rpartition(".")[2].strip().replace("-", "_").casefold()
