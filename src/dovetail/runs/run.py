"""The contract of runs: what is started, what the work gets, what is stored.

A run continues without its readers. The engine numbers its events, stores them, and ends every run with
exactly one `run-end`, whatever happens to the work.
"""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias

from dovetail.events.cancel import CancelMode
from dovetail.events.run_context import RunContext
from dovetail.events.run_result import RunResult
from dovetail.store.database import SaveWork, Transaction

RunState: TypeAlias = Literal["running", "ended"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSpec:
    """The description of a run; `input` is all that the work needs to begin again after a crash."""

    agent: str
    model: str = ""
    generation: int = 0
    owner: str = "local"
    session_id: str | None = None
    message_id: str | None = None
    input: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord:
    """A run as it is stored."""

    id: str
    spec: RunSpec
    state: RunState
    result: RunResult | None
    last_number: int
    created_at: float
    ended_at: float | None
    process_id: str | None = None
    cancel_mode: CancelMode | None = None


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
    """A run that was started here; `done` ends with its result and never raises."""

    run_id: str
    done: "asyncio.Future[RunResult]"


class Rebuild(Protocol):
    """Make the work of a stored run again; None if it cannot be continued."""

    async def __call__(self, record: RunRecord, /) -> RunWork | None: ...
