"""Errors as programs and people outside may see them."""

from typing import Any

from dovetail.data.clean import clean_text
from dovetail.errors import DovetailError

INTERNAL: dict[str, Any] = {"type": "internal_error", "message": "something failed here; the log has it"}
"""What is told of an error that is not ours: its text may hold what nobody outside should read."""


def describe_error(error: BaseException) -> dict[str, Any]:
    """`{type, message, hint?}`; the type is the class's wire name in snake_case."""
    if not isinstance(error, DovetailError):
        return INTERNAL
    name = error.wire_name
    kind = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name).strip("_")
    described: dict[str, Any] = {"type": kind, "message": clean_text(error.message)}
    return described | {"hint": clean_text(error.hint)} if error.hint else described
