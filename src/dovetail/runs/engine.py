"""Runs inside this process: tasks on the event loop, journals in the database."""

import asyncio
import logging
from typing import Self

from dovetail.errors import CancelledRunError, ConflictError, DovetailError, NotFoundError
from dovetail.messages.cancel import CancelMode
from dovetail.messages.event import Entry, RunEnd, RunStart, TurnReset
from dovetail.runs.ask_store import AskStore
from dovetail.runs.asks import AskDesk
from dovetail.runs.block import Block
from dovetail.runs.failure import describe_error
from dovetail.runs.journal import Journal
from dovetail.runs.live import Desk, LiveRun
from dovetail.runs.reader import Reader
from dovetail.runs.replay import Replay, replay
from dovetail.runs.run import Job, Rebuild, RunHandle, RunOutcome, RunRecord, RunSpec
from dovetail.runs.store import RunStore
from dovetail.runs.writer import JournalWriter
from dovetail.store.database import Database
from dovetail.store.ids import new_id

logger = logging.getLogger(__name__)
CANCEL_GRACE = 10.0


class InProcessEngine:
    """Starts, cancels and recovers runs here; `async with` stops them so that they can go on later."""

    def __init__(self, database: Database) -> None:
        self.process_id = new_id("process")
        self.store = RunStore(database, self.process_id)
        self.asks = AskDesk(AskStore(database))
        writer = JournalWriter(self.store, self._abandon)
        self._desk = Desk(writer=writer, asks=self.asks, load=self.store.load)
        self._live: dict[str, LiveRun] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        tasks = [live.task for live in self._live.values() if live.task is not None]
        for run_id in list(self._live):
            self._abandon(run_id)
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._desk.writer.close()

    async def start(self, spec: RunSpec, job: Job, *, run_id: str | None = None) -> RunHandle:
        """Start a run and return at once; a session that has a running run is a `ConflictError`."""
        run_id = run_id or new_id("run")
        try:
            await self.store.create(run_id, spec)
        except ConflictError as error:
            raise ConflictError(
                f"session {spec.session_id!r} is busy: a run goes on in it",
                hint="Wait for its end or cancel it.",
            ) from error
        live = LiveRun(run_id=run_id, spec=spec, journal=Journal(run_id), desk=self._desk)
        event = RunStart(spec.agent, spec.model, spec.generation, spec.session_id)
        live.journal.append(event, (run_id,))
        return self._launch(live, job, Replay())

    async def cancel(self, run_id: str, mode: CancelMode = "now") -> None:
        """Ask a run to stop; an unknown run is a `NotFoundError`, an ended one a `ConflictError`."""
        live = self._live.get(run_id)
        if live is None:
            record = await self.store.get(run_id)
            reason = record.outcome.reason if record.outcome else "it goes on in another process"
            raise ConflictError(f"run {run_id!r} cannot be stopped: {reason}")
        live.cancel.request(mode)
        if mode == "now" and live.task is not None:
            asyncio.get_running_loop().call_later(CANCEL_GRACE, live.task.cancel)

    async def recover(self, rebuild: Rebuild) -> list[RunHandle]:
        """Continue the runs that a dead process has left behind; what cannot go on ends as interrupted."""
        handles: list[RunHandle] = []
        for record in await self.store.find(state="running"):
            if record.process_id != self.process_id and await self.store.take_over(record):
                handles.append(await self._resume(record, rebuild))
        return handles

    async def get(self, run_id: str, *, owner: str | None = None) -> RunRecord:
        """The stored run; one of another owner is a `NotFoundError`."""
        record = await self.store.get(run_id)
        if owner is not None and record.spec.owner != owner:
            raise NotFoundError(f"no run {run_id!r}")
        return record

    async def find_running(self, session_id: str) -> RunRecord | None:
        """The run that goes on in a session; one whose end was told already is waited for."""
        for record in await self.store.find(state="running", session_id=session_id, limit=1):
            live = self._live.get(record.id)
            if live is None and record.process_id == self.process_id:
                return None  # it ended while it was looked up
            if live is None or not live.journal.closed:
                return record
            await asyncio.shield(live.done)
        return None

    async def find_running_sessions(self, owner: str) -> dict[str, str]:
        """The running runs of an owner, by session."""
        running = await self.store.find(state="running", owner=owner)
        return {record.spec.session_id: record.id for record in running if record.spec.session_id}

    async def history(self, run_id: str, until: int | None = None) -> list[Entry]:
        """The events of a run so far, up to a number."""
        live = self._live.get(run_id)
        if live is not None:
            await live.settle()
        blocks: list[Block] = []
        while page := await self.store.load(run_id, blocks[-1].last if blocks else 0):
            blocks += page
        return [block.entry(run_id) for block in blocks if until is None or block.last <= until]

    async def read(self, run_id: str, after: int = 0) -> Reader:
        """A reader of the run's events after a number, while it goes on or long after."""
        live = self._live.get(run_id)
        if live is not None:
            return Reader(live.journal, after, self.store.load)
        record = await self.store.get(run_id)
        journal = Journal(run_id, dropped=record.last_number)
        journal.closed = record.state == "ended"
        return Reader(journal, after, self.store.load)

    async def _resume(self, record: RunRecord, rebuild: Rebuild) -> RunHandle:
        live = LiveRun(run_id=record.id, spec=record.spec, journal=Journal(record.id), desk=self._desk)
        while blocks := await self.store.load(record.id, live.journal.last):
            live.journal.extend(blocks)
        done = replay(live.journal.after(0), (record.id,))
        job = await rebuild(record)
        if done.has_partial:
            live.journal.append(TurnReset(), (record.id,))
        return self._launch(live, job or Job(_interrupted), done)

    def _launch(self, live: LiveRun, job: Job, done: Replay) -> RunHandle:
        self._live[live.run_id] = live
        self._desk.writer.mark(live.journal)
        live.task = asyncio.create_task(self._run(live, job, done), name=live.run_id)
        return RunHandle(live.run_id, live.done)

    async def _run(self, live: LiveRun, job: Job, done: Replay) -> None:
        context = live.context(done)
        try:
            outcome = await job.work(context)
        except asyncio.CancelledError:
            if live.journal.frozen:
                live.done.cancel()
                raise
            outcome = RunOutcome(reason="cancelled")
        except CancelledRunError:
            outcome = RunOutcome(reason="cancelled")
        except Exception as error:
            if not isinstance(error, DovetailError):
                logger.exception("run %s failed", live.run_id)
            outcome = RunOutcome(reason="error", error=describe_error(error))
        live.journal.close_calls()
        if job.on_end is not None:
            try:
                await job.on_end(context, outcome)
            except Exception:
                logger.exception("the end of run %s could not be kept", live.run_id)
        await self._end(live, outcome)

    async def _end(self, live: LiveRun, outcome: RunOutcome) -> None:
        await self.asks.store.close_run(live.run_id)
        event = RunEnd(outcome.reason, outcome.result, live.journal.usage, outcome.error)
        live.journal.append(event, (live.run_id,))
        await live.settle()
        self._live.pop(live.run_id, None)
        live.done.set_result(outcome)

    def _abandon(self, run_id: str) -> None:
        """Leave a run to another process, or to a later start of this one."""
        live = self._live.pop(run_id, None)
        if live is not None and live.task is not None:
            live.journal.frozen = True
            live.task.cancel()


async def _interrupted(context: object) -> RunOutcome:
    return RunOutcome(
        reason="interrupted", error={"type": "interrupted", "message": "the server was restarted"}
    )
