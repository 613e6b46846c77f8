"""The run that code is below: anything called from a tool can find it, in threads too."""

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from dovetail.messages.budget import Budget
from dovetail.messages.cancel import CancelSignal
from dovetail.tools.registry import ToolSnapshot
from dovetail.tools.runner import CallScope


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
