"""The options of a chat, which its answers use unless a request names others.

`model` and `mode` are those of a request. `instructions` are added to those of the agent. `temperature`,
`max_tokens` and `thinking` are options of the model. `time_zone` is that of the person. All may be missing.
"""

from collections.abc import Mapping
from typing import Any, TypedDict

PARAMETERS = ("temperature", "max_tokens", "thinking")
"""The options of a chat that are sent to the model."""

LONGEST_INSTRUCTIONS = 20_000
"""The most characters of the instructions of a chat."""

_HEADING = "Instructions of the user for this conversation:"


class SessionChanges(TypedDict, total=False):
    """What can be changed of a session; `head_id` is a message above the new head, `options` are merged."""

    title: str
    head_id: str
    agent: str | None
    options: Mapping[str, Any]
    pinned: bool
    folder: str | None


def merge_options(stored: Mapping[str, Any] | None, change: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the options after a change, in which None removes one; None if none are left."""
    merged = {**(stored or {}), **change}
    return {name: value for name, value in merged.items() if value is not None} or None


def read_parameters(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that are sent to the model."""
    return {name: options[name] for name in PARAMETERS if name in options}


def add_instructions(preface: str, options: Mapping[str, Any]) -> str:
    """Return the preface of a chat with the instructions of its user, if any."""
    instructions = str(options.get("instructions") or "").strip()
    return "\n\n".join(text for text in (preface, instructions and f"{_HEADING}\n{instructions}") if text)
