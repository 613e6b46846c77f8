"""A plain question, and a chat of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from evals.reality.outcome import Check, is_text, says


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainQuestion:
    """A question whose answer must match patterns; one about files has no bare way."""

    text: str
    checks: Sequence[Check]
    about_files: bool = False


Chat: TypeAlias = Sequence[PlainQuestion]
Folder: TypeAlias = Mapping[str, str]


def single(text: str, *patterns: str, files: bool = False) -> PlainQuestion:
    """Return a question whose answer is a text, not a loop, and matches each pattern."""
    return PlainQuestion(text=text, checks=[says(*patterns), is_text(1)], about_files=files)
