"""Differences between Claude models: which forms of thinking they accept, and how much they write."""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypeAlias

Off: TypeAlias = Literal["omit", "disabled", "between_tools", "never"]
"""How a model is kept from thinking: without the field, with a type of thinking, or not at all."""

UNKNOWN_OUTPUT = 8192
"""Tokens that a model of unknown size may write."""

_NAME = re.compile(
    r"claude-(?:(?P<family>[a-z]+)-)?(?P<major>\d{1,2})(?!\d)(?:[-.](?P<minor>\d{1,2})(?!\d))?"
    r"(?:-(?P<late_family>[a-z]+))?"
)
_ALWAYS_THINKING = ("fable", "mythos")
_OUTPUT = [((4, 6), 128_000), ((4, 2), 64_000), ((4, 0), 32_000), ((3, 7), 64_000), ((3, 5), 8192)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Traits:
    """What one model accepts.

    It thinks by `effort` (adaptive thinking), by a `budget` of tokens, or both; `off` says how not to think.
    With `interleaves`, thinking between tool calls must be requested. `samples` is whether it takes a
    temperature, and `forces` whether it can be made to call a tool.
    """

    effort: bool = False
    budget: bool = True
    off: Off = "omit"
    interleaves: bool = False
    samples: bool = True
    forces: bool = True
    output: int = UNKNOWN_OUTPUT

    @property
    def thinks(self) -> bool:
        """Whether the model can think before it answers."""
        return self.effort or self.budget


@lru_cache(maxsize=256)
def find_traits(model: str) -> Traits:
    """Return the traits of a model by its name, which may have a prefix or a date.

    An unknown name, such as that of a compatible server, gets the traits that most servers have.
    """
    match = _NAME.search(model)
    if match is None:
        return Traits()
    family = match["family"] or match["late_family"] or ""
    version = (int(match["major"]), int(match["minor"] or 0))
    always = family in _ALWAYS_THINKING
    newest = version >= ((5, 1) if always else (5, 5))
    return Traits(
        effort=version >= (4, 6),
        budget=(3, 7) <= version < (4, 7),
        off=_find_off(family, version),
        interleaves=(4, 0) <= version < (4, 6),
        samples=version < (4, 7),
        forces=not (newest and (always or family == "opus")),
        output=_find_output(family, version),
    )


def _find_off(family: str, version: tuple[int, int]) -> Off:
    if family in _ALWAYS_THINKING or (family == "opus" and version >= (5, 5)):
        return "never"
    if version < (5, 0):
        return "omit"
    return "between_tools" if family == "sonnet" and version >= (5, 5) else "disabled"


def _find_output(family: str, version: tuple[int, int]) -> int:
    if family == "sonnet" and (4, 0) <= version < (4, 2):
        return 64_000
    return next((tokens for since, tokens in _OUTPUT if version >= since), 4096)
