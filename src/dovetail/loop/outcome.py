"""How a loop ended."""

from dataclasses import dataclass
from typing import Any

from dovetail.errors import DovetailError
from dovetail.events.call import ChatMessage
from dovetail.events.delta import Usage
from dovetail.events.run_events import EndReason


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopOutcome:
    """How a loop ended. `messages` are the new ones, each call in them with its result; `usage` counts
    children too; `limit` names what was reached when a grace turn saved the answer."""

    reason: EndReason
    text: str
    data: Any
    messages: list[ChatMessage]
    usage: Usage
    turns: int
    limit: EndReason | None = None
    error: DovetailError | None = None
