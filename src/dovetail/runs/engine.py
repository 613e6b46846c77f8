"""The contract of engines: which process works on a run, and which one takes it up when that process is gone.

The journal in the database is the one truth about what happened in a run. An engine carries only tickets, and
calls `RunHost.attempt` in some process; attempting a run twice is safe, because only one process owns it.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from dovetail.settings.sections import RunSettings
from dovetail.store.database import Database
from dovetail.store.processes import ProcessLink

AttemptEnd: TypeAlias = Literal["ended", "waiting", "left"]
"""How an attempt ended: the run is over, it only waits for answers, or another process works on it."""
WakeReason: TypeAlias = Literal["answer", "message", "cancel"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ticket:
    """A run that needs a process; `attempt` counts how often it was woken or taken up again."""

    run_id: str
    owner: str
    agent: str
    session_id: str | None = None
    queue: str = "default"
    priority: int = 0
    attempt: int = 0


class RunHost(Protocol):
    """The runs of this process, as far as an engine needs them."""

    @property
    def process_id(self) -> str: ...

    @property
    def settings(self) -> RunSettings: ...

    @property
    def database(self) -> Database: ...

    @property
    def link(self) -> ProcessLink: ...

    async def attempt(self, run_id: str) -> AttemptEnd:
        """Take the run up in this process and work on it until it ends, only waits, or is left.

        A failure of the run is its end. Raises `StoreError` if the database is away: try again later.
        """
        ...

    async def cancel(self, run_id: str) -> None:
        """Ask a run to stop; raise `NotFoundError` or `ConflictError` if it is gone or has ended."""
        ...

    async def is_alive(self, process_id: str) -> bool:
        """Whether a process that shares the database is alive."""
        ...

    async def find_left(self) -> list[Ticket]:
        """Return the runs that dead processes were working on, and those of this one without a task."""
        ...


class Engine(ABC):
    """Decide which process attempts a run, and when again."""

    starts_here: bool = False
    """Whether a run starts at once in the process that it was sent to."""

    @abstractmethod
    async def open(self, host: RunHost, *, works: bool) -> None:
        """Connect; with `works` this process takes runs, otherwise it only submits them."""

    @abstractmethod
    async def submit(self, ticket: Ticket) -> None:
        """Have some process attempt the run soon; submitting the same attempt again changes nothing."""

    async def wake(self, ticket: Ticket, reason: WakeReason) -> None:
        """Have a run that was waiting attempted again; the ticket has the number of the new attempt."""
        await self.submit(ticket)

    async def recover(self) -> None:
        """Find runs that dead processes have left and have them attempted again; called every few seconds."""
        return None

    def hear(self, kind: str, subject: str) -> None:
        """React to news that the engine of another process has announced."""
        return None

    async def drain(self) -> None:
        """Take no more runs; those in progress continue."""
        return None

    @abstractmethod
    async def close(self) -> None:
        """Disconnect; the runs in progress in this process have been left already."""
