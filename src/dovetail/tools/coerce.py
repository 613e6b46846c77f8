"""Repairs the values of arguments: "42" for 42, another case, unknown and invalid optional fields.

A repair counts only when it leaves fewer problems than before. Nothing is dropped from calls of tools that
declare to change the world: a `dry_run` that cannot be read must not vanish.
"""

import copy
import json
import logging
import math
from collections.abc import Iterator
from typing import Any

from dovetail.data.shapes import is_dict, is_list, is_mapping
from dovetail.messages.kind import Kind
from dovetail.tools.problem import Problem, format_path, show_value
from dovetail.tools.tool import Tool

logger = logging.getLogger(__name__)

_MOST_REPAIRS = 20
_WORDS: dict[str, Any] = {"true": True, "false": False, "null": None, "none": None, "": None}


def coerce_arguments(tool: Tool, args: dict[str, Any]) -> tuple[dict[str, Any], list[Problem]]:
    """The arguments with what can be repaired repaired, and the problems that are left."""
    problems = tool.checker.find_problems(args)
    for _ in range(_MOST_REPAIRS):
        better = _repair_one(tool, args, problems)
        if better is None:
            break
        args, problems = better
    return args, problems


def _repair_one(
    tool: Tool, args: dict[str, Any], problems: list[Problem]
) -> tuple[dict[str, Any], list[Problem]] | None:
    """Repair one problem by another reading of a value or name; only when there is none, leave it out."""
    for propose in (_propose_readings, _propose_drops):
        for problem in problems:
            for repaired, words in propose(tool, args, problem):
                left = tool.checker.find_problems(repaired)
                if _is_better(left, problems, problem):
                    logger.info("[tool-repair] %s: %s", tool.name, words)
                    return repaired, left
    return None


def _is_better(left: list[Problem], before: list[Problem], solved: Problem) -> bool:
    """Fewer problems; or this one is gone, and what came in its place lies deeper inside of the value."""
    if len(left) < len(before):
        return True
    depth = len(solved.path)
    inside = [problem for problem in left if problem.path[:depth] == solved.path]
    return all(len(problem.path) > depth or problem.keyword == "required" for problem in inside)


def _propose_readings(
    tool: Tool, args: dict[str, Any], problem: Problem
) -> Iterator[tuple[dict[str, Any], str]]:
    if problem.keyword == "additionalProperties":
        yield from _propose_names(args, problem)
        return
    for value in _propose_values(problem) if problem.path else ():
        repaired = copy.deepcopy(args)
        _find_parent(repaired, problem.path)[problem.path[-1]] = value
        where = format_path(problem.path)
        yield repaired, f"{where}: {show_value(problem.value)} read as {show_value(value)}"


def _propose_names(args: dict[str, Any], problem: Problem) -> Iterator[tuple[dict[str, Any], str]]:
    """Another spelling of a known name that is not there: `userId` for `user_id`."""
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
            yield repaired, f"{format_path((*problem.path, name))} read as {right}"


def _propose_values(problem: Problem) -> Iterator[Any]:
    value = problem.value
    if isinstance(value, str):
        yield from _read_text(value, problem)
    elif isinstance(value, bool):
        yield str(value).lower()
    elif isinstance(value, int | float):
        yield str(value)
    if not is_list(value):
        yield [value]


def _read_text(text: str, problem: Problem) -> Iterator[Any]:
    word = text.strip()
    options = problem.schema.get("enum") if problem.schema else None
    if is_list(options):
        yield from (option for option in options if _fold(str(option)) == _fold(word))
    if word.casefold() in _WORDS:
        yield _WORDS[word.casefold()]
    try:
        value = json.loads(word)
    except (ValueError, RecursionError):
        return
    if not isinstance(value, float) or math.isfinite(value):
        yield value


def _propose_drops(
    tool: Tool, args: dict[str, Any], problem: Problem
) -> Iterator[tuple[dict[str, Any], str]]:
    """Without the unknown members, or without the optional top-level field that is wrong."""
    may_drop = tool.kind.is_read_only or tool.kind is Kind.Other or problem.value is None
    if not may_drop:
        return
    if problem.keyword == "additionalProperties":
        repaired = copy.deepcopy(args)
        for name in problem.names:
            _find_parent(repaired, (*problem.path, name)).pop(name)
        yield repaired, f"left out {', '.join(problem.names)}, which is not known"
    elif problem.path and problem.path[0] not in tool.parameters.get("required", ()):
        repaired = {name: value for name, value in args.items() if name != problem.path[0]}
        yield repaired, f"left out {problem.path[0]}: {problem.message}"


def _find_parent(args: dict[str, Any], path: tuple[str | int, ...]) -> Any:
    current: Any = args
    for step in path[:-1]:
        current = current[step]
    return current if is_dict(current) or is_list(current) else {}


def _fold(name: str) -> str:
    return name.replace("_", "").replace("-", "").replace(" ", "").casefold()
