"""Recovery: runs that no process works on are taken over and continued here.

Promises: exactly one of several processes takes a run over; a run that cannot be continued does not hold up
the others and is tried again; a run that fails again and again is ended as interrupted.
"""

import logging
from collections import Counter
from dataclasses import dataclass

from dovetail.errors import StoreError
from dovetail.events.run_context import RunContext
from dovetail.events.run_events import RunResume, TurnEnd, TurnReset
from dovetail.events.run_result import RunResult
from dovetail.loop.replay import Replay, replay
from dovetail.runs.journal import Block, Journal
from dovetail.runs.reader import RemoteJournals
from dovetail.runs.run import Rebuild, RunRecord, RunSpec, RunWork
from dovetail.runs.store import RunStore
from dovetail.runs.task import LiveRun, RunServices
from dovetail.store.database import SaveWork

logger = logging.getLogger(__name__)
MOST_RESUMES = 3
"""How often one process resumes the same run before giving up."""


class Recovery:
    """Take up runs that no process works on: after a crash, from a queue, or when they were woken."""

    def __init__(self, store: RunStore, remote: RemoteJournals, services: RunServices) -> None:
        self._store = store
        self._remote = remote
        self._services = services
        self._resumed: Counter[str] = Counter()

    async def begin(self, run_id: str, spec: RunSpec) -> LiveRun | None:
        """Make a run that was submitted here, and not touched since, one of this process; None otherwise."""
        created_at = await self._store.begin(run_id)
        if created_at is None:
            return None
        journal = self._remote.take(run_id)
        live = LiveRun(
            run_id=run_id, spec=spec, journal=journal, services=self._services, created_at=created_at
        )
        live.begin()
        return live

    async def take_up(self, record: RunRecord, rebuild: Rebuild) -> tuple[LiveRun, RunWork] | None:
        """Make a run that is stored one of this process; None if another process was faster.

        Raises what `rebuild` raises: the run can be taken up again later.
        """
        number = await self._store.take_over(record)
        if number is None:
            return None
        work = await self._rebuild(record, rebuild)
        blocks: list[Block] = []
        while record.last_number and (
            page := await self._store.load(record.id, blocks[-1].last if blocks else 0)
        ):
            blocks += page
        journal = self._remote.take(record.id)  # nothing is awaited from here on: readers must find the run
        journal.restore(blocks)
        live = LiveRun(
            run_id=record.id,
            spec=record.spec,
            journal=journal,
            services=self._services,
            created_at=record.created_at,
            started_at=record.started_at,
        )
        journal.has_asked = True  # an ask may be stored whose event is not
        if not journal.last:  # it was queued, or died before its first event was stored
            live.begin()
        if record.phase == "working":  # readers may have seen more than was stored
            repair(journal, number)
        if record.cancel_mode is not None:
            live.cancel.request(record.cancel_mode)
        logger.info("taking up run %s after event %d", record.id, number)
        return live, work

    async def _rebuild(self, record: RunRecord, rebuild: Rebuild) -> RunWork:
        has_crashed = record.phase == "working"
        gives_up = has_crashed and self._resumed[record.id] >= MOST_RESUMES
        if has_crashed:
            self._resumed[record.id] += 1
        try:
            work = await rebuild(record) or Interrupted()
        except StoreError:
            raise
        except Exception:
            if not gives_up:
                raise
            return Interrupted()
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
    """Void what broke off in the run and its children; return what the run has done so far.

    Events continue after `number`; what readers saw between the last stored event and it is reported as void.
    """
    root = (journal.run_id,)
    stored = journal.last
    journal.leap(number)
    journal.append(RunResume(stored), root)
    entries = journal.after(0)
    for path in journal.open_runs:
        done = replay(entries, path)
        if done.has_partial:
            journal.append(TurnReset(), path)
        elif done.is_in_turn and not done.pending:
            journal.append(TurnEnd(done.turns + 1, done.open_usage, "tool-calls"), path)
    return replay(journal.after(0), root)
