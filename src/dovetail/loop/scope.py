"""The run that code is below: anything called from a tool can find it, in threads too."""

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from dovetail.errors import DovetailError
from dovetail.events.call import ChatMessage
from dovetail.events.context import CancelSignal
from dovetail.events.delta import Usage
from dovetail.events.run_events import EndReason
from dovetail.loop.budget import Budget
from dovetail.tools.pipeline.runner import CallScope
from dovetail.tools.registry import ToolSnapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class RunScope:
    """One run as its tools see it: how its calls are made, what it may still use, and which tools it has."""

    calls: CallScope
    budget: Budget
    cancel: CancelSignal
    tools: ToolSnapshot


_current: ContextVar[RunScope | None] = ContextVar("dovetail_run", default=None)


def current_run() -> RunScope | None:
    """The run that this code works for, or None outside of one."""
    return _current.get()


@contextmanager
def entered(run: RunScope) -> Generator[None]:
    """Make `run` the current one."""
    token = _current.set(run)
    try:
        yield
    finally:
        _current.reset(token)


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
