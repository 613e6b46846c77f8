"""A tool call as a model asked for it."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from dovetail.data.clean import clean_data

CallStatus: TypeAlias = Literal["ok", "error", "denied", "timeout", "interrupted"]
"""How a call ended; every call ends in exactly one of these."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One call: `arguments` is the model's text as it came, or a mapping when it is known already."""

    call_id: str
    name: str
    arguments: str | Mapping[str, Any]

    @property
    def shown_arguments(self) -> Any:
        """The arguments as data for those who watch, or a text that is no JSON as it is.

        The pipeline reads them for itself, and may repair them.
        """
        if not isinstance(self.arguments, str):
            return dict(self.arguments)
        try:
            return clean_data(json.loads(self.arguments or "{}"))
        except (ValueError, RecursionError):
            return self.arguments


def new_call_id() -> str:
    """An id that no other call has, for a call to which the model gave none."""
    return f"call_{os.urandom(16).hex()}"
