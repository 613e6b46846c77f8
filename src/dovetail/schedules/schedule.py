"""The contract of schedules: when an agent runs by itself, and the record of each of its ticks.

A tick is one time that a schedule names. Whatever happens to it is stored as one row, in the transaction that
creates its run, so that it runs exactly once, whichever processes look at it.
"""

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from dovetail.agents.schedule import Missed
from dovetail.data.cron import Cron

Source: TypeAlias = Literal["api", "file", "removed"]
"""Where a schedule comes from; `removed` was in an agent file that no longer has it."""

TickState: TypeAlias = Literal["started", "queued", "skipped", "failed", "manual"]
"""What became of a tick: a run, a message that waits for the session's run to end, or neither.

A `manual` one was started by a person.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """What became of one tick; `detail` is the reason if it has no run."""

    schedule_id: str
    tick_at: float
    state: TickState
    run_id: str | None = None
    session_id: str | None = None
    detail: str | None = None
    created_at: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """An agent that is asked `message` at every time of `cron`; `next_at` is the next one, None if paused.

    Each tick opens a session, unless `session_id` names one.
    """

    id: str
    owner: str
    agent: str
    cron: Cron
    message: str
    title: str = ""
    model: str | None = None
    mode: str | None = None
    session_id: str | None = None
    missed: Missed = "latest"
    source: Source = "api"
    enabled: bool = True
    next_at: float | None = None
    created_at: float = 0.0
    last: Tick | None = None

    @property
    def request(self) -> dict[str, Any]:
        """What each tick asks, as it is stored."""
        return {name: getattr(self, name) for name in REQUEST}


REQUEST = ("message", "model", "mode", "session_id")
"""The fields of a schedule that are stored as one."""
