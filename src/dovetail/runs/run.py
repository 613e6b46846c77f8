"""The contract of runs: what is started, what the work gets, what is stored.

A run continues without its readers. The engine numbers its events, stores them, and ends every run with
exactly one `run-end`, whatever happens to the work.
"""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias

from dovetail.events.cancel import CancelMode
from dovetail.events.run_context import RunContext
from dovetail.events.run_result import RunResult
from dovetail.store.database import SaveWork, Transaction

RunState: TypeAlias = Literal["running", "ended"]
RunPhase: TypeAlias = Literal["queued", "working", "waiting"]
"""What a running run does: it needs a process, has one, or only waits for answers and needs none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSpec:
    """The description of a run; `input` is all that the work needs to begin again after a crash.

    Engines with queues start runs of a higher `priority` first.
    """

    agent: str
    model: str = ""
    generation: int = 0
    owner: str = "local"
    session_id: str | None = None
    message_id: str | None = None
    input: Mapping[str, Any] = field(default_factory=dict[str, Any])
    queue: str = "default"
    priority: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord:
    """A run as it is stored; it was queued from `created_at` to `started_at`.

    A child of a run in progress has the `path` of run ids from its root to itself.
    """

    id: str
    spec: RunSpec
    state: RunState
    result: RunResult | None
    last_number: int
    created_at: float
    ended_at: float | None
    started_at: float | None = None
    process_id: str | None = None
    cancel_mode: CancelMode | None = None
    phase: RunPhase = "working"
    attempts: int = 0
    path: tuple[str, ...] = ()

    @property
    def root_id(self) -> str:
        """The id of the run whose journal has its events: its own, unless it is a child."""
        return self.path[0] if self.path else self.id


@dataclass(frozen=True, slots=True, kw_only=True)
class NextRun:
    """A run that answers a message which waits; it begins in the transaction that ends the run before it.

    `place` stores the message as its question; it raises `NotFoundError` or `ConflictError` if it cannot.
    """

    run_id: str
    spec: RunSpec
    message_id: str
    place: SaveWork


class RunWork(ABC):
    """What a run does; `sessions.chat_run.ChatRun` is the work of a chat's answer.

    The engine calls `begin` in the transaction that stores the run, `work` once the run has started, and
    `end` when the work has ended, failed or was cancelled.
    """

    def begin(self, transaction: Transaction) -> None:
        """Store what belongs to the run's beginning; called again if the transaction is repeated."""
        return None

    @abstractmethod
    async def work(self, context: RunContext) -> RunResult:
        """Do the work; an exception ends the run with an error."""

    async def end(self, context: RunContext, result: RunResult) -> SaveWork | None:
        """Return what is to be stored in the transaction of `run-end`, if anything."""
        return None


@dataclass(frozen=True, slots=True)
class RunHandle:
    """A run that was started from here, wherever a process works on it."""

    run_id: str
    _wait: Callable[[], Awaitable[RunResult]]

    async def result(self) -> RunResult:
        """Wait until the run has ended; raise `ConflictError` if this process stops before it."""
        return await self._wait()


class Rebuild(Protocol):
    """Make the work of a stored run again; None if it cannot be continued."""

    async def __call__(self, record: RunRecord, /) -> RunWork | None: ...
