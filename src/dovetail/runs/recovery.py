"""Recovery: runs whose process died are found, taken over and continued here.

Promises: exactly one of several processes takes a run over; a run that cannot be continued does not hold up
the others and is tried again; a run that fails again and again is ended as interrupted.
"""

import asyncio
import logging
from collections import Counter
from dataclasses import dataclass
from typing import Protocol

from dovetail.errors import StoreError
from dovetail.events.run_context import RunContext
from dovetail.events.run_events import RunResume, TurnEnd, TurnReset
from dovetail.events.run_result import RunResult
from dovetail.loop.replay import Replay, replay
from dovetail.runs.journal import Journal
from dovetail.runs.run import Rebuild, RunHandle, RunRecord, RunWork
from dovetail.runs.store import RunStore
from dovetail.runs.task import LiveRun, RunServices
from dovetail.store.database import SaveWork
from dovetail.store.processes import ProcessLink

logger = logging.getLogger(__name__)
MOST_RESUMES = 3
"""How often one process resumes the same run before giving up."""


class Launcher(Protocol):
    """Starts the tasks of runs; the engine."""

    def is_here(self, run_id: str) -> bool:
        """Whether this process works on the run."""
        ...

    def launch(self, live: LiveRun, work: RunWork) -> RunHandle:
        """Start the task of a run."""
        ...


class Recovery:
    """Find and continue the runs of dead processes."""

    def __init__(self, store: RunStore, link: ProcessLink, services: RunServices, launcher: Launcher) -> None:
        self._store = store
        self._link = link
        self._services = services
        self._launcher = launcher
        self._resumed: Counter[str] = Counter()

    async def take_over(self, rebuild: Rebuild) -> list[RunHandle]:
        """Resume the runs of dead processes, and runs of this one that no task works on."""
        handles: list[RunHandle] = []
        alive: dict[str, bool] = {self._link.process_id: False}
        for record in await self._store.find(state="running"):
            owner = record.process_id or ""
            if owner not in alive:
                alive[owner] = await self._link.is_alive(owner)
            if alive[owner] or self._launcher.is_here(record.id):
                continue
            number = await self._store.take_over(record)
            if number is not None:
                handles += await self._try_resume(record, number, rebuild)
        return handles

    async def watch(self, rebuild: Rebuild, interval: float) -> None:
        """Resume runs that are left behind from now on, until cancelled."""
        while True:
            await asyncio.sleep(interval)
            try:
                await self.take_over(rebuild)
            except StoreError as error:
                logger.warning("cannot look for runs to resume: %s", error.message)

    async def _try_resume(self, record: RunRecord, number: int, rebuild: Rebuild) -> list[RunHandle]:
        try:
            return [await self._resume(record, number, rebuild)]
        except Exception:
            logger.exception("run %s could not be resumed", record.id)
            return []

    async def _resume(self, record: RunRecord, number: int, rebuild: Rebuild) -> RunHandle:
        live = LiveRun(
            run_id=record.id,
            spec=record.spec,
            journal=Journal(record.id),
            services=self._services,
            created_at=record.created_at,
        )
        live.journal.has_asked = True  # an ask may be stored whose event is not
        while blocks := await self._store.load(record.id, live.journal.last):
            live.journal.extend(blocks)
        if not live.journal.last:  # it died before its first event was stored
            live.begin()
        repair(live.journal, number)
        await self._services.asks.store.close_children(record.id)
        if record.cancel_mode is not None:
            live.cancel.request(record.cancel_mode)
        work = await self._rebuild(record, rebuild)
        logger.info("resuming run %s after event %d", record.id, number)
        return self._launcher.launch(live, work)

    async def _rebuild(self, record: RunRecord, rebuild: Rebuild) -> RunWork:
        gives_up = self._resumed[record.id] >= MOST_RESUMES
        try:
            work = await rebuild(record) or Interrupted()
        except StoreError:
            raise
        except Exception:
            if not gives_up:
                self._resumed[record.id] += 1
                raise
            return Interrupted()
        self._resumed[record.id] += 1
        return Interrupted(work) if gives_up else work


@dataclass(frozen=True, slots=True)
class Interrupted(RunWork):
    """The work of a run that cannot be continued; what it has done so far is stored as by `rest`, if any."""

    rest: RunWork | None = None

    async def work(self, context: RunContext) -> RunResult:
        """End the run as interrupted."""
        message = "The server restarted and could not resume this response."
        return RunResult(reason="interrupted", error={"type": "interrupted", "message": message})

    async def end(self, context: RunContext, result: RunResult) -> SaveWork | None:
        """Store what the run has done so far."""
        return await self.rest.end(context, result) if self.rest else None


def repair(journal: Journal, number: int) -> Replay:
    """Close what cannot continue and void what broke off; return what was done so far.

    Events continue after `number`; what readers saw between the last stored event and it is reported as void.
    """
    root = (journal.run_id,)
    stored = journal.last
    journal.leap(number)
    journal.append(RunResume(stored), root)
    journal.close_children()
    done = replay(journal.after(0), root)
    if done.has_partial:
        journal.append(TurnReset(), root)
    elif done.is_in_turn and not done.pending:
        journal.append(TurnEnd(done.turns + 1, done.open_usage, "tool-calls"), root)
    return replay(journal.after(0), root)
