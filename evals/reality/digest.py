"""What decides the answers of a visit: the model, the place, the questions and their checks.

A change of another page, template or checker leaves the digest as it is, so that its results still count.
"""

import ast
import inspect
import re
from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from pathlib import Path
from textwrap import dedent
from types import FunctionType
from typing import Any

from dovetail.data.shapes import is_mapping, is_sequence
from evals.digest import ROOT, compute_digest, list_model_parts
from evals.reality import outcome
from evals.reality.pages import find_blocks, steps_of
from evals.reality.visit import Question, Visit

_SHOWN = "evals.reality.shown"
_SHIPPED = [ROOT / "agents", ROOT / "extensions"]


def digest_visit(visit: Visit) -> str:
    """Return a digest of what decides whether the answers of a visit are right."""
    return compute_digest([*_list_common(), *list_parts(visit)])


@cache
def _list_common() -> list[str | Path]:
    return [*list_model_parts(), Path(outcome.__file__)]


def list_parts(visit: Visit) -> Iterator[str | Path]:
    """Yield what the place shows and brings, and the questions with their checks."""
    yield visit.face
    yield from visit.set_up.made_from
    shown = list(_read_place(visit))
    yield from shown
    if visit.face != "program" or any("Dovetail(" in _read_text(part) for part in shown):
        yield from _SHIPPED
    for question in visit.questions:
        yield from _describe_question(question)


def _read_place(visit: Visit) -> Iterator[str | Path]:
    page = ROOT / visit.place
    if visit.program:
        yield ROOT / visit.program if Path(visit.program).is_absolute() else page
        yield from (page.parent / "prompts", page.parent / "agents")
    elif visit.face == "program":
        yield from (block.code for block in find_blocks(page) if not block.skipped)
    elif visit.face == "page":
        yield from (f"{step.title}\n{step.code}" for step in steps_of(page))


def _read_text(part: str | Path) -> str:
    return part if isinstance(part, str) else part.read_text(encoding="utf-8") if part.is_file() else ""


def _describe_question(question: Question) -> Iterator[str]:
    for field in fields(question):
        if field.name != "checks":
            yield f"{field.name}={getattr(question, field.name)!r}"
    for check in question.checks:
        yield from describe(check)


def describe(value: Any) -> Iterator[str]:
    """Yield a check as text: its source, what it was made with, and the functions that it calls."""
    if isinstance(value, FunctionType):
        yield from _describe_function(value)
    elif is_mapping(value):
        for name, each in value.items():
            yield str(name)
            yield from describe(each)
    elif is_sequence(value):
        for each in value:
            yield from describe(each)
    else:  # the repr of a compiled pattern is cut off
        yield str(getattr(value, "pattern", repr(value)))


def _describe_function(function: FunctionType) -> Iterator[str]:
    if function.__name__ == "<lambda>":
        raise ValueError(f"A check must have a name of its own, so that its source is known: {function}.")
    source = dedent(inspect.getsource(function))
    yield source
    yield from describe(inspect.getclosurevars(function).nonlocals)
    if function.__module__.startswith(_SHOWN):
        yield from _describe_names(function, source)


def _describe_names(function: FunctionType, source: str) -> Iterator[str]:
    """Yield what a function uses of its module, if that module is not part of every digest."""
    used = sorted({node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)})
    for name in used:
        value = function.__globals__.get(name)
        is_ours = isinstance(value, FunctionType) and value.__module__.startswith(_SHOWN)
        if (is_ours and value is not function) or isinstance(value, (str, list, tuple, dict, re.Pattern)):
            yield name
            yield from describe(value)
