"""Where a call comes from and whom it may talk to: the same for all calls of one turn."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import TypeAlias

from dovetail.events.asks import Asker
from dovetail.events.run_events import Emit, Event
from dovetail.policy.bus import MessageBus
from dovetail.policy.rule import Mode

Ask: TypeAlias = Asker
"""The former name of `Asker`."""


def _ignore_event(event: Event) -> None:
    """Nobody watches these calls."""


def _never() -> bool:
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class CallScope:
    """Who calls, where from, and whom the calls may talk to. Setting `cancelled` stops them all."""

    session_id: str | None = None
    run_path: tuple[str, ...] = ()
    agent_path: tuple[str, ...] = ()
    owner: str | None = None
    tab_id: str | None = None
    mode: Mode = "default"
    emit: Emit = _ignore_event
    ask: Asker | None = None
    bus: MessageBus | None = None
    """Where approvals are asked and audit records are published in addition; listeners may answer first."""
    pause: Callable[[], AbstractContextManager[None]] = nullcontext
    """Stops the clock of the run while a person is asked."""
    largest_result: int | None = None
    """Characters that a result may have before it is kept as an artifact; None: the pipeline's own limit."""
    cancelled: asyncio.Event = field(default_factory=asyncio.Event)
    settle: Callable[[], Awaitable[None]] | None = None
    """Waits until all events so far are stored; awaited before a tool that must not run twice."""
    is_abandoned: Callable[[], bool] = _never
    """Whether the run goes on elsewhere, or later: what has not begun here will begin there."""
