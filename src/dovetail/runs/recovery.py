"""Runs that nobody works on any more: found, taken over, and continued here.

Promises: of several processes one takes a run over; one that cannot be continued holds up no other and is
tried again; one that fails again and again is ended as interrupted.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from dovetail.errors import StoreError
from dovetail.events.run_events import RunResume, TurnEnd, TurnReset
from dovetail.runs.journal import Journal
from dovetail.runs.replay import Replay, count_spent, replay
from dovetail.runs.run import Job, Rebuild, RunHandle, RunRecord
from dovetail.runs.store import RunStore
from dovetail.runs.task import Desk, LiveRun, interrupt
from dovetail.store.processes import ProcessLink


def mend(journal: Journal, number: int) -> Replay:
    """Close what cannot go on and void what broke off; gives what was done so far.

    Events go on after `number`; what readers saw between the last stored event and it is told to be void.
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
    entries = journal.after(0)
    return replace(replay(entries, root), spent=count_spent(entries))


logger = logging.getLogger(__name__)
MOST_RESUMES = 3
"""How often one process takes up one run before it gives it up."""


class Orphans:
    """Finds and continues them; `is_here` tells the runs that this process works on."""

    def __init__(
        self,
        store: RunStore,
        link: ProcessLink,
        desk: Desk,
        is_here: Callable[[str], bool],
        launch: Callable[[LiveRun, Job, Replay], RunHandle],
    ) -> None:
        self._store = store
        self._link = link
        self._desk = desk
        self._is_here = is_here
        self._launch = launch
        self._resumed: Counter[str] = Counter()

    async def take_over(self, rebuild: Rebuild) -> list[RunHandle]:
        """Take up the runs of dead processes, and those of this one that fell out of its hands."""
        handles: list[RunHandle] = []
        alive: dict[str, bool] = {self._link.process_id: False}
        for record in await self._store.find(state="running"):
            owner = record.process_id or ""
            if owner not in alive:
                alive[owner] = await self._link.is_alive(owner)
            if alive[owner] or self._is_here(record.id):
                continue
            number = await self._store.take_over(record)
            if number is not None:
                handles += await self._try_resume(record, number, rebuild)
        return handles

    async def watch(self, rebuild: Rebuild, interval: float) -> None:
        """Take up what is left behind from now on, until cancelled."""
        while True:
            await asyncio.sleep(interval)
            try:
                await self.take_over(rebuild)
            except StoreError as error:
                logger.warning("cannot look for runs that were left behind: %s", error.message)

    async def _try_resume(self, record: RunRecord, number: int, rebuild: Rebuild) -> list[RunHandle]:
        try:
            return [await self._resume(record, number, rebuild)]
        except Exception:
            logger.exception("run %s could not be taken up", record.id)
            return []

    async def _resume(self, record: RunRecord, number: int, rebuild: Rebuild) -> RunHandle:
        live = LiveRun(
            run_id=record.id,
            spec=record.spec,
            journal=Journal(record.id),
            desk=self._desk,
            created_at=record.created_at,
        )
        live.journal.has_asked = True  # an ask may be stored whose event is not
        while blocks := await self._store.load(record.id, live.journal.last):
            live.journal.extend(blocks)
        if not live.journal.last:  # it died before its first event was stored
            live.begin()
        done = mend(live.journal, number)
        await self._desk.asks.store.close_children(record.id)
        if record.cancel_mode is not None:
            live.cancel.request(record.cancel_mode)
        job = await self._make_job(record, rebuild)
        logger.info("run %s goes on after number %d", record.id, number)
        return self._launch(live, job, done)

    async def _make_job(self, record: RunRecord, rebuild: Rebuild) -> Job:
        gives_up = self._resumed[record.id] >= MOST_RESUMES
        try:
            job = await rebuild(record) or Job(interrupt)
        except StoreError:
            raise
        except Exception:
            if not gives_up:
                self._resumed[record.id] += 1
                raise
            return Job(interrupt)
        self._resumed[record.id] += 1
        return Job(interrupt, job.on_end) if gives_up else job
