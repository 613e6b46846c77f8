"""What the original is given in place of a case, where a rule of Dovetail comes in before anything is shown.

Given the translation, it must show what Dovetail shows for the case itself.
"""

import textwrap
from typing import Any

RENDERED = ("system", "developer", "action_results", "info", "instruct", "examples", "input", "output")


def dedent_first(case: dict[str, Any]) -> dict[str, Any]:
    """The case with dedented texts.

    Dovetail dedents before it strips; the original strips first, after which the first line has lost its
    indent and nothing can be dedented.
    """
    if "layers" not in case:
        return case
    return {**case, "layers": [[_dedent(operation) for operation in layer] for layer in case["layers"]]}


def _dedent(operation: list[Any]) -> list[Any]:
    name, first, *rest = operation
    if name == "update":
        return [name, {"dict": [[key, _dedent_text(value)] for key, value in first["dict"]]}, *rest]
    if name in ("set", "append"):
        return [name, first, _dedent_text(rest[0]), *rest[1:]]
    return operation


def _dedent_text(value: Any) -> Any:
    return textwrap.dedent(value) if isinstance(value, str) else value


class Shown(int):
    """A zero or False that does not count as empty: Dovetail renders it, the original would leave it out."""

    original: Any

    def __bool__(self) -> bool:
        return True

    def __str__(self) -> str:
        return str(self.original)


def show_zeros(data: dict[str, Any]) -> bool:
    """Replace the zeros in a layer's slots by `Shown`; return whether there were any."""
    found = False
    for slot in RENDERED:
        value = data.get(slot)
        if type(value) in (int, float, bool) and not value:
            shown = Shown(0)
            shown.original = value
            data[slot] = shown
            found = True
    return found
