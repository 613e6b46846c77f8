"""Repair the values of arguments: "42" for 42, "yes" for true, another case of a name.

A repair counts only if it leaves fewer problems than before. An argument that cannot be read is an error: a
`dry_run` must not vanish. Left out are a null for an optional field in any call, and an unknown or invalid
optional field in a call that only reads; the latter is noted in the result.
"""

import copy
import json
import logging
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from dovetail.data.paths import write_path
from dovetail.data.shapes import is_dict, is_list, is_mapping, read_number
from dovetail.schema.problem import SchemaProblem, show_value
from dovetail.tools.tool import Tool

logger = logging.getLogger(__name__)

_MOST_REPAIRS = 20
_MOST_TRIED = 20
"""The number of problems tried in one round: each try checks all arguments again."""
_WORDS: dict[str, Any] = {
    "true": True,
    "false": False,
    "yes": True,
    "no": False,
    "on": True,
    "off": False,
    "y": True,
    "n": False,
    "t": True,
    "f": False,
    "null": None,
    "none": None,
}
_DIGITS = {"1": True, "0": False}


@dataclass(frozen=True, slots=True)
class Repaired:
    """Arguments after repair, the remaining problems, and notes on what was left out."""

    args: dict[str, Any]
    problems: list[SchemaProblem]
    notes: tuple[str, ...] = ()


def coerce_arguments(tool: Tool, args: dict[str, Any]) -> Repaired:
    """Repair the arguments where possible."""
    state = Repaired(args, tool.checker.find_problems(args))
    for _ in range(_MOST_REPAIRS):
        better = _reread_one(tool, state) or _leave_out_one(tool, state)
        if better is None:
            break
        state = better
    return state


def _reread_one(tool: Tool, state: Repaired) -> Repaired | None:
    """Repair one problem by another reading of a value or name."""
    for problem in state.problems[:_MOST_TRIED]:
        for args, words in _propose_readings(state.args, problem):
            left = tool.checker.find_problems(args)
            if _is_better(left, state.problems, problem):
                logger.info("[tool-repair] %s: %s", tool.name, words)
                return Repaired(args, left, state.notes)
    return None


def _leave_out_one(tool: Tool, state: Repaired) -> Repaired | None:
    """Repair one problem by leaving out the invalid field."""
    for problem in state.problems[:_MOST_TRIED]:
        for args, note in _propose_drops(tool, state.args, problem):
            left = tool.checker.find_problems(args)
            if len(left) < len(state.problems):
                logger.info("[tool-repair] %s: left out %s", tool.name, note or write_path(problem.path))
                notes = (*state.notes, f"left out {note}") if note else state.notes
                return Repaired(args, left, notes)
    return None


def _is_better(left: list[SchemaProblem], before: list[SchemaProblem], solved: SchemaProblem) -> bool:
    """Whether there are fewer problems, or this one was replaced by one deeper inside the value."""
    if len(left) < len(before):
        return True
    depth = len(solved.path)
    inside = [problem for problem in left if problem.path[:depth] == solved.path]
    return all(len(problem.path) > depth or problem.keyword == "required" for problem in inside)


def _propose_readings(args: dict[str, Any], problem: SchemaProblem) -> Iterator[tuple[dict[str, Any], str]]:
    if problem.keyword == "additionalProperties":
        yield from _propose_names(args, problem)
        return
    for value in _propose_values(problem) if problem.path else ():
        repaired = copy.deepcopy(args)
        _find_parent(repaired, problem.path)[problem.path[-1]] = value
        where = write_path(problem.path)
        yield repaired, f"{where}: {show_value(problem.value)} read as {show_value(value)}"


def _propose_names(args: dict[str, Any], problem: SchemaProblem) -> Iterator[tuple[dict[str, Any], str]]:
    """Propose a missing known name for another spelling of it: `userId` for `user_id`."""
    properties = problem.schema.get("properties") if problem.schema else None
    known = {_fold(name): name for name in properties} if is_mapping(properties) else {}
    for name in problem.names:
        right = known.get(_fold(name))
        if right is None:
            continue
        repaired = copy.deepcopy(args)
        target = _find_parent(repaired, (*problem.path, name))
        if right not in target:
            target[right] = target.pop(name)
            yield repaired, f"{write_path((*problem.path, name))} read as {right}"


def _propose_values(problem: SchemaProblem) -> Iterator[Any]:
    value = problem.value
    if isinstance(value, str):
        yield from _read_text(value, problem)
    elif isinstance(value, bool):
        yield str(value).lower()
    elif isinstance(value, int | float):
        yield str(value)
        if value in (0, 1):
            yield bool(value)
    if not is_list(value) and value is not None:
        yield [value]


def _read_text(text: str, problem: SchemaProblem) -> Iterator[Any]:
    word = text.strip()
    options = problem.schema.get("enum") if problem.schema else None
    if is_list(options):
        yield from (option for option in options if _fold(str(option)) == _fold(word))
    if word.casefold() in _WORDS:
        yield _WORDS[word.casefold()]
    yield from _read_number(word)
    if word in _DIGITS:
        yield _DIGITS[word]
    with suppress(ValueError, RecursionError):
        if not isinstance(value := json.loads(word), float):  # that would be one without an end
            yield value


def _read_number(word: str) -> Iterator[int | float]:
    """Return a number as Python reads it: `+5`, `05`, `.5`, `1_000`; a large one keeps its digits."""
    try:
        yield int(word)
    except ValueError:
        if (number := read_number(word)) is not None:
            yield number


def _propose_drops(
    tool: Tool, args: dict[str, Any], problem: SchemaProblem
) -> Iterator[tuple[dict[str, Any], str]]:
    """Return the arguments without a null, or without an invalid field of a reading call, and a note on it.

    A null needs no note: it means that the value is missing. The input of another agent may decide what
    that agent writes, so nothing of it is left out.
    """
    if problem.value is None and problem.path and isinstance(problem.path[-1], str):
        repaired = copy.deepcopy(args)
        _find_parent(repaired, problem.path).pop(problem.path[-1], None)
        yield repaired, ""
    if not tool.kind.is_read_only or tool.origin == "agent":
        return
    if problem.keyword == "additionalProperties":
        repaired = copy.deepcopy(args)
        for name in problem.names:
            _find_parent(repaired, (*problem.path, name)).pop(name)
        names = ", ".join(f"`{write_path((*problem.path, name))}`" for name in problem.names)
        yield repaired, f"{names}: {problem.message}"
    elif problem.path and problem.path[0] not in tool.parameters.get("required", ()):
        repaired = {name: value for name, value in args.items() if name != problem.path[0]}
        yield repaired, f"`{problem.path[0]}`: {problem.message}"


def _find_parent(args: dict[str, Any], path: tuple[str | int, ...]) -> Any:
    current: Any = args
    for step in path[:-1]:
        current = current[step]
    return current if is_dict(current) or is_list(current) else {}


def _fold(name: str) -> str:
    return name.replace("_", "").replace("-", "").replace(" ", "").casefold()
