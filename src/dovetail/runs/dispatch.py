"""Dispatch: runs are handed to the engine, and every few seconds it is checked that none is forgotten.

Promises: a run that was stored is submitted, also if the process that stored it died right after, or did not
hear from the database that it is stored; a run that waits continues after its answer, also if the process
that took the answer died right after.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress

from dovetail.errors import DovetailError, StoreError
from dovetail.lazy import lazy
from dovetail.runs.engine import Engine, Ticket, WakeReason
from dovetail.runs.engines.local import LocalEngine
from dovetail.runs.run import RunPhase, RunRecord, RunSpec
from dovetail.runs.store import RunStore
from dovetail.settings.sections import RunSettings
from dovetail.store.processes import ProcessLink

dbos = lazy("dovetail.runs.engines.dbos")
temporal = lazy("dovetail.runs.engines.temporal")
logger = logging.getLogger(__name__)


def choose_engine(settings: RunSettings) -> Engine:
    """Return the engine that the settings name."""
    if settings.engine == "dbos":
        return dbos.DbosEngine()
    return temporal.TemporalEngine() if settings.engine == "temporal" else LocalEngine()


def make_ticket(run_id: str, spec: RunSpec, attempt: int = 0) -> Ticket:
    """Return the ticket of a run."""
    return Ticket(
        run_id=run_id,
        owner=spec.owner,
        agent=spec.agent,
        session_id=spec.session_id,
        queue=spec.queue,
        priority=spec.priority,
        attempt=attempt,
    )


class Dispatch:
    """Hand runs to the engine; `is_here` says whether this process works on a run."""

    def __init__(
        self, store: RunStore, link: ProcessLink, engine: Engine, is_here: Callable[[str], bool]
    ) -> None:
        self._store = store
        self._link = link
        self._engine = engine
        self._is_here = is_here
        self._unsubmitted: dict[str, Ticket] = {}
        self._submitted: set[str] = set()  # those that may still be queued
        self._waking: set[str] = set()  # those that are submitted just now
        self._hurry = asyncio.Event()
        self.on_look: Callable[[], Awaitable[None]] | None = None
        """Called every few seconds, to find what else a dead process has left behind."""

    async def submit(self, ticket: Ticket) -> None:
        """Submit a run; if the engine cannot be reached, try again until it can."""
        try:
            await self._engine.submit(ticket)
            self._note(ticket)
        except Exception as error:
            self._keep(ticket, error)

    async def wake(self, run_id: str, reason: WakeReason) -> RunRecord | None:
        """Have a waiting run attempted again and return it; None if it does not wait."""
        self._submitted.discard(run_id)
        self._waking.add(run_id)
        try:
            if not await self._store.requeue(run_id):
                return None
            record = await self._store.get(run_id)
            await self._wake(make_ticket(run_id, record.spec, record.attempts), reason)
            return record
        finally:
            self._waking.discard(run_id)

    async def _wake(self, ticket: Ticket, reason: WakeReason) -> None:
        try:
            await self._engine.wake(ticket, reason)
            self._note(ticket)
        except Exception as error:
            self._keep(ticket, error)

    async def find_left(self) -> list[Ticket]:
        """Return the runs that dead processes were working on, and those of this one without a task."""
        return [_to_ticket(record) for record in await self._find("working", own=True)]

    async def watch(self, interval: float, *, works: bool) -> None:
        """Look every few seconds, and when a process has died, until cancelled."""
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._hurry.wait(), interval)
            self._hurry.clear()
            try:
                await self.look(works=works)
            except StoreError as error:
                logger.warning("cannot look for runs to take up: %s", error.message)
            except Exception:
                logger.exception("looking for runs to take up failed")

    def hurry(self) -> None:
        """Look at once: a process has died or stopped."""
        self._hurry.set()

    async def look(self, *, works: bool) -> None:
        """Submit what was not, wake what can continue, and have the engine find what was left."""
        for ticket in list(self._unsubmitted.values()):
            await self.submit(ticket)
        for record in await self._find("queued", own=True):
            if await self._store.adopt(record):
                await self.submit(_to_ticket(record))
        for run_id in await self._store.find_ready():
            await self.wake(run_id, "answer")
        if works:
            await self._engine.recover()
        if self.on_look is not None:
            await self.on_look()

    async def _find(self, phase: RunPhase, *, own: bool) -> list[RunRecord]:
        """Return the runs of dead processes in a phase; with `own` also those of this one without a task."""
        found: list[RunRecord] = []
        for process_id in await self._store.find_processes():
            is_own = process_id == self._link.process_id
            if own if is_own else not await self._link.is_alive(process_id):
                run_ids = await self._store.find_ids(phase=phase, process_id=process_id)
                for run_id in self._drop_submitted(run_ids) if is_own and phase == "queued" else run_ids:
                    if not self._is_here(run_id):
                        found += await self._store.find(id=run_id, state="running", phase=phase)
        return found

    def _drop_submitted(self, queued: Iterable[str]) -> set[str]:
        """Return those of this process's queued runs that the engine does not have yet."""
        waiting = set(queued)
        self._submitted &= waiting
        return waiting if self._engine.starts_here else waiting - self._submitted - self._waking

    def _note(self, ticket: Ticket) -> None:
        self._unsubmitted.pop(ticket.run_id, None)
        self._submitted.add(ticket.run_id)

    def _keep(self, ticket: Ticket, error: Exception) -> None:
        self._unsubmitted[ticket.run_id] = ticket
        reason = error.message if isinstance(error, DovetailError) else repr(error)
        logger.warning("run %s could not be submitted, trying again: %s", ticket.run_id, reason)


def _to_ticket(record: RunRecord) -> Ticket:
    return make_ticket(record.id, record.spec, record.attempts)
