"""Runs inside this process: tasks on the event loop, journals in the database.

Several processes may share a database: each run belongs to one of them, and all can read it, answer its
questions and stop it. A run whose process died is taken over by another one.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack
from functools import partial
from typing import Any, Self

from dovetail.errors import ConflictError, InvalidDataError, NotFoundError
from dovetail.events.cancel import CancelMode
from dovetail.events.run_events import Entry, Event
from dovetail.ids import new_id
from dovetail.runs.ask_store import AskStore
from dovetail.runs.asks import Asks
from dovetail.runs.journal import Block, Journal
from dovetail.runs.reader import Reader, RemoteJournals
from dovetail.runs.recovery import Recovery
from dovetail.runs.run import Rebuild, RunHandle, RunRecord, RunSpec, RunWork
from dovetail.runs.store import RunStore
from dovetail.runs.task import LiveRun, RunServices, perform
from dovetail.runs.writer import JournalWriter
from dovetail.store.database import Database
from dovetail.store.processes import open_link

logger = logging.getLogger(__name__)
CANCEL_GRACE = 10.0
RECOVERY_INTERVAL = 3.0
_MOST_PER_MESSAGE = 100


class InProcessEngine:
    """Start, cancel and recover runs in this process; runs that it leaves in progress resume later."""

    def __init__(self, database: Database, *, recovery_interval: float = RECOVERY_INTERVAL) -> None:
        self.link = open_link(database)
        self.link.on_news = self._hear
        self.link.on_gap = self._catch_up
        self.on_reload: Callable[[], None] = lambda: None
        self.observe: Callable[[LiveRun, Event, tuple[str, ...]], None] | None = None
        self.store = RunStore(database, self.link.process_id)
        self.asks = Asks(AskStore(database), lambda ask_id: self.link.announce("ask", ask_id))
        writer = JournalWriter(self.store, self._abandon)
        writer.on_saved = self._announce_saved
        writer.on_broken = self._fail
        self._services = RunServices(
            writer=writer, asks=self.asks, load=self.store.load, process_id=self.link.process_id
        )
        self._remote = RemoteJournals(self.store)
        self._live: dict[str, LiveRun] = {}
        self._starting: set[str] = set()
        self._exits = AsyncExitStack()
        self._recovery_interval = recovery_interval
        self._recovery = Recovery(
            store=self.store,
            link=self.link,
            services=self._services,
            launcher=self,
        )
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        await self._exits.enter_async_context(self.link)
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        tasks = [live.task for live in self._live.values() if live.task is not None] + list(self._tasks)
        for task in self._tasks:
            task.cancel()
        for run_id in list(self._live):
            self._abandon(run_id)
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._services.writer.close()
        await self._exits.aclose()

    @property
    def running(self) -> int:
        """How many runs are in progress in this process."""
        return len(self._live)

    async def start(self, spec: RunSpec, work: RunWork, *, run_id: str | None = None) -> RunHandle:
        """Store a run with what its work stores in `begin`, start it, and return at once.

        Raises:
            ConflictError: another run of the session is in progress.
        """
        run_id = run_id or new_id("run")
        self._starting.add(run_id)
        try:
            await self.store.create(run_id, spec, work.begin)
        except ConflictError as error:
            raise await self._explain_conflict(spec) from error
        finally:
            self._starting.discard(run_id)
        live = LiveRun(run_id=run_id, spec=spec, journal=Journal(run_id), services=self._services)
        live.begin()
        return self.launch(live, work)

    async def cancel(self, run_id: str, mode: CancelMode = "now") -> None:
        """Ask a run to stop.

        Raises:
            NotFoundError: the run does not exist.
            ConflictError: it has already ended.
        """
        live = self._live.get(run_id)
        if live is not None and not live.journal.closed:
            self._cancel_here(run_id, mode)
            return
        record = await self.store.get(run_id)
        if record.result is not None or not await self.store.request_cancel(run_id, mode):
            reason = record.result and record.result.reason
            raise ConflictError(f"Run {run_id!r} has already ended: {reason}.")
        self.link.announce("cancel", run_id)

    async def recover(self, rebuild: Rebuild) -> list[RunHandle]:
        """Resume the runs that dead processes have left behind, now and from now on."""
        handles = await self._recovery.take_over(rebuild)
        self._spawn(self._recovery.watch(rebuild, self._recovery_interval))
        return handles

    async def get(self, run_id: str, *, owner: str | None = None) -> RunRecord:
        """Return the stored run; raise `NotFoundError` if it belongs to another owner."""
        live = self._live.get(run_id)
        record = await self.store.get(run_id) if live is None or live.journal.closed else live.record
        if owner is not None and record.spec.owner != owner:
            raise NotFoundError(f"Run {run_id!r} not found.")
        return record

    async def find_running(self, session_id: str) -> RunRecord | None:
        """Return the run in progress in a session, if any; wait for one that readers have seen end."""
        for record in await self.store.find(state="running", session_id=session_id, limit=1):
            live = self._live.get(record.id)
            if live is None and record.process_id == self.link.process_id:
                return None  # it ended while it was looked up
            if live is None or not live.journal.closed:
                return record
            await asyncio.shield(live.done)
        return None

    async def find_running_sessions(self, owner: str) -> dict[str, str]:
        """Return the ids of the running runs of an owner, by session."""
        running = await self.store.find(state="running", owner=owner)
        return {record.spec.session_id: record.id for record in running if record.spec.session_id}

    async def history(self, run_id: str, until: int | None = None) -> list[Entry]:
        """Return the events of a run so far, up to a number."""
        live = self._live.get(run_id)
        if live is not None:
            await live.flush()
        blocks: list[Block] = []
        while page := await self.store.load(run_id, blocks[-1].last if blocks else 0):
            blocks += page
        return [block.entry(run_id) for block in blocks if until is None or block.last <= until]

    async def holds(self, run_id: str, number: int) -> bool:
        """Whether the run has a stored event with this number; a crash may have voided it."""
        live = self._live.get(run_id)
        if live is not None:
            await live.flush()
        return await self.store.holds(run_id, number)

    async def read(self, run_id: str, after: int = 0) -> Reader:
        """Return a reader of the run's events after a number, wherever the run is, also after its end."""
        live = self._live.get(run_id)
        journal = live.journal if live is not None else await self._remote.open(run_id)
        return Reader(journal, after, self.store.load)

    async def _explain_conflict(self, spec: RunSpec) -> ConflictError:
        running = await self.store.find(state="running", session_id=spec.session_id or "", limit=1)
        which = f"run {running[0].id!r}" if running else "another run"
        return ConflictError(
            f"Session {spec.session_id!r} is busy: {which} is still in progress.",
            hint="Wait until it ends, or cancel it.",
        )

    def is_here(self, run_id: str) -> bool:
        """Whether this process works on the run."""
        return run_id in self._live or run_id in self._starting

    def launch(self, live: LiveRun, work: RunWork) -> RunHandle:
        """Start the task of a run."""
        self._live[live.run_id] = live
        self._remote.release(live.run_id)
        if self.observe is not None:
            live.journal.observe = partial(self.observe, live)
        self._services.writer.mark(live.journal)
        live.task = asyncio.create_task(perform(live, work), name=live.run_id)
        live.task.add_done_callback(lambda _: self._forget(live))
        return RunHandle(live.run_id, live.done)

    def _forget(self, live: LiveRun) -> None:
        if self._live.get(live.run_id) is live:
            del self._live[live.run_id]

    def _cancel_here(self, run_id: str, mode: CancelMode) -> None:
        live = self._live[run_id]
        live.cancel.request(mode)
        if mode == "now" and live.task is not None:
            asyncio.get_running_loop().call_later(CANCEL_GRACE, live.task.cancel)

    def _abandon(self, run_id: str) -> None:
        """Leave a run to another process, or to a later start of this one."""
        live = self._live.pop(run_id, None)
        if live is not None and live.task is not None:
            live.journal.freeze()
            live.task.cancel()

    def _fail(self, run_id: str, error: InvalidDataError) -> None:
        """End a run that has an event which cannot be stored, unless it is ending already."""
        live = self._live.get(run_id)
        if live is not None and live.task is not None:
            live.failure = error
            if not live.journal.is_ending:
                live.task.cancel()

    async def _announce_saved(self, journals: list[Journal]) -> None:
        for start in range(0, len(journals), _MOST_PER_MESSAGE):
            batch = journals[start : start + _MOST_PER_MESSAGE]
            self.link.announce("runs", ",".join(journal.run_id for journal in batch))

    def _hear(self, kind: str, subject: str) -> None:
        """React to news from another process."""
        if kind == "runs":
            for run_id in subject.split(","):
                if run_id in self._remote:
                    self._spawn(self._remote.refresh(run_id))
        elif kind == "ask":
            self._spawn(self.asks.fetch(subject))
        elif kind == "cancel" and subject in self._live:
            self._spawn(self._obey(subject))
        elif kind == "reload":
            self.on_reload()

    async def _obey(self, run_id: str) -> None:
        mode = (await self.store.get(run_id)).cancel_mode
        if mode is not None and run_id in self._live:
            self._cancel_here(run_id, mode)

    def _catch_up(self) -> None:
        """Look at everything that something here waits for: news may have been missed."""
        self._spawn(self._remote.refresh_all())
        self._spawn(self.asks.fetch_all())
        self.on_reload()

    def announce_reload(self) -> None:
        """Make the other processes that share the database reload their folders."""
        self.link.announce("reload", "")

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
