"""The contract of runs: what is started, what the work is given, what an engine can do.

A run is work beside its readers. An engine numbers its events, keeps them, and ends every run with exactly
one `run-end`, whatever happens to the work.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias

from dovetail.events.context import CancelMode, CancelSignal
from dovetail.events.delta import Usage
from dovetail.events.run_events import AskKind, Emit, EndReason, Entry
from dovetail.runs.replay import Replay
from dovetail.store.database import Keep

RunState: TypeAlias = Literal["running", "ended"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSpec:
    """What a run is about; `input` is all that the work needs to begin again after a crash."""

    agent: str
    model: str = ""
    generation: int = 0
    owner: str = "local"
    session_id: str | None = None
    message_id: str | None = None
    input: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOutcome:
    """How the work ended."""

    reason: EndReason = "goal"
    result: Any = None
    usage: Usage = field(default_factory=Usage)
    error: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord:
    """A run as it is stored."""

    id: str
    spec: RunSpec
    state: RunState
    outcome: RunOutcome | None
    last_number: int
    created_at: float
    ended_at: float | None
    process_id: str | None = None
    cancel_mode: CancelMode | None = None


class Asker(Protocol):
    """Asks somebody outside and waits; a time-out is the answer `{"status": "timeout"}`."""

    async def __call__(
        self, kind: AskKind, call_id: str, payload: Mapping[str, Any], time_limit: float | None = None, /
    ) -> Mapping[str, Any]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RunContext:
    """What the work is given.

    `emit` takes events and never blocks; `settle` waits until all that was emitted is stored, to be awaited
    before anything that must not happen twice; `replay` is what was done before a crash; `history` reads the
    events so far.
    """

    run_id: str
    spec: RunSpec
    path: tuple[str, ...]
    emit: Emit
    ask: Asker
    answer: Callable[[str, Mapping[str, Any]], bool]
    """Ends an ask about a call of the current run with an answer that came another way."""
    cancel: CancelSignal
    settle: Callable[[], Awaitable[None]]
    replay: Replay
    history: Callable[[], Awaitable[list[Entry]]]
    is_abandoned: Callable[[], bool]
    """Whether the run was left to another process, or to a later start of this one."""
    child: "Callable[[str], RunContext]"
    """The context of a child run with this id; its events carry the longer path."""


Work: TypeAlias = Callable[[RunContext], Awaitable[RunOutcome]]
OnEnd: TypeAlias = Callable[[RunContext, RunOutcome], Awaitable[Keep | None]]
"""Called once before `run-end`, also after a failure; says how to keep what must be kept of the run."""


@dataclass(frozen=True, slots=True)
class Job:
    """The work of a run and what is done when it ends."""

    work: Work
    on_end: OnEnd | None = None


@dataclass(frozen=True, slots=True)
class RunHandle:
    """A run that was started here; `done` ends with its outcome and never raises."""

    run_id: str
    done: "asyncio.Future[RunOutcome]"


Rebuild: TypeAlias = Callable[[RunRecord], Awaitable[Job | None]]
"""Makes the job of a stored run again; None when it cannot be continued."""


class RunEngine(Protocol):
    """The contract of engines: what starts, stops and continues runs, wherever they happen.

    `InProcessEngine` can also read runs and bring answers to their asks; chats and the server use that too.
    """

    async def start(
        self, spec: RunSpec, job: Job, *, run_id: str | None = None, opening: Keep | None = None
    ) -> RunHandle:
        """Start a run and return at once; a session that has a running run is a `ConflictError`.

        What `opening` stores and the run are stored together or not at all.
        """
        ...

    async def cancel(self, run_id: str, mode: CancelMode = "now") -> None:
        """Ask a run to stop; an unknown run is a `NotFoundError`, an ended one a `ConflictError`."""
        ...

    async def recover(self, rebuild: Rebuild) -> list[RunHandle]:
        """Continue the runs that a dead process has left behind."""
        ...
