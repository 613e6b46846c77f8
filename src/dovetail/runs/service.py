"""The runs of a process: started, read, answered, cancelled, and worked on as tasks of the event loop.

Several processes may share a database: each run belongs to one of them at a time, and all can read it, answer
its questions and stop it. The engine decides which process works on a run.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack, suppress
from functools import partial
from typing import Any, Self, get_args

from dovetail.errors import ConflictError, HeadMovedError, NotFoundError, StoreError
from dovetail.events.cancel import CancelMode
from dovetail.events.run_events import Entry, Event
from dovetail.events.run_result import RunResult
from dovetail.ids import new_id
from dovetail.runs.ask_store import AskStore
from dovetail.runs.asks import Asks
from dovetail.runs.children import Children
from dovetail.runs.dispatch import Dispatch, choose_engine, make_ticket
from dovetail.runs.engine import AttemptEnd, Engine, Ticket, WakeReason
from dovetail.runs.feed import Feed
from dovetail.runs.inbox import Inbox
from dovetail.runs.journal import Block, Journal
from dovetail.runs.live import LiveRuns
from dovetail.runs.ownership import Ownership
from dovetail.runs.parking import Parking
from dovetail.runs.reader import Reader, RemoteJournals, write_news
from dovetail.runs.recovery import Recovery
from dovetail.runs.run import NextRun, Rebuild, RunHandle, RunPhase, RunRecord, RunSpec, RunWork
from dovetail.runs.store import RunStore
from dovetail.runs.task import LiveRun, RunServices
from dovetail.runs.writer import JournalWriter
from dovetail.settings.sections import RunSettings
from dovetail.stall import StallWatch
from dovetail.store.database import Database
from dovetail.store.persist import persist
from dovetail.store.processes import open_link

logger = logging.getLogger(__name__)
RECOVERY_INTERVAL = 3.0
_MOST_PER_MESSAGE = 100


class Runs:
    """Start, read, answer, cancel and work on runs; those in progress when this process ends resume later.

    `works` is False in a process that only sends runs to others.
    """

    def __init__(
        self,
        database: Database,
        settings: RunSettings | None = None,
        *,
        engine: Engine | None = None,
        works: bool = True,
        recovery_interval: float = RECOVERY_INTERVAL,
    ) -> None:
        self.database = database
        self.settings = settings or RunSettings()
        self.works = works
        self.link = open_link(database, self.settings.takeover)
        self.link.on_news = self._hear
        self.link.on_gap = self._catch_up
        self.on_reload: Callable[[], None] = lambda: None
        self.feed = Feed(partial(self.link.announce, "feed"))
        self.store = RunStore(database, self.link.process_id)
        self.asks = Asks(AskStore(database), lambda ask_id: self.link.announce("ask", ask_id))
        self.asks.on_away = lambda ask_id: self._spawn(self._wake_asking(ask_id))
        self.inbox = Inbox(database, lambda run_id: self.link.announce("message", run_id), self._spawn)
        self.store.on_mail = self.inbox.note
        self.store.on_follower = self._follow
        self.engine = engine or choose_engine(self.settings)
        writer = JournalWriter(self.store, self._lose, is_read_elsewhere=not self.engine.starts_here)
        writer.on_saved = self._announce_saved
        writer.on_broken = lambda run_id, error: self._live.fail(run_id, error)
        self._remote = RemoteJournals(self.store)
        self._parking = Parking(self.store, self._remote, self.wake, self.settings.park_after)
        self._ownership = Ownership(self.store, self.link, self._lose)
        self._services = RunServices(
            writer=writer,
            asks=self.asks,
            inbox=self.inbox,
            load=self.store.load,
            process_id=self.process_id,
            on_ask=self._parking.note,
            confirm=self._ownership.confirm,
            get_life=lambda: self.link.life,
        )
        recovery = Recovery(self.store, self._remote, self._services)
        self._live = LiveRuns(self.store, self.link, recovery, self.feed.note)
        self._live.on_taken_up = self.feed.note_taken_up
        self._children = Children(self.store, self._live)
        self._dispatch = Dispatch(self.store, self.link, self.engine, self.is_here)
        self._dispatch.on_look = self.inbox.look
        self.stalls = StallWatch(self.settings.stall_after)
        self.link.on_death = self._dispatch.hurry
        self._recovery_interval = recovery_interval
        self._exits, self._is_closing = AsyncExitStack(), False
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as exits:
            await exits.enter_async_context(self.stalls)
            await exits.enter_async_context(self.link)
            exits.push_async_callback(self.engine.close)
            await self.engine.open(self, works=self.works)
            self._exits = exits.pop_all()
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        self._is_closing = True
        await self.engine.drain()
        await self._parking.close()
        for task in self._tasks:
            task.cancel()
        await self._live.close()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._services.writer.close()
        self.feed.close()
        await self._exits.aclose()

    @property
    def process_id(self) -> str:
        """The id of this process among those that share the database."""
        return self.link.process_id

    @property
    def rebuild(self) -> Rebuild | None:
        """Makes the work of a stored run; without it no run can be taken up."""
        return self._live.rebuild

    @rebuild.setter
    def rebuild(self, rebuild: Rebuild) -> None:
        self._live.rebuild = rebuild

    def observe(self, observe: Callable[[LiveRun, Event, tuple[str, ...]], None]) -> None:
        """Show the events of the runs that start here from now on, except deltas, to a function."""
        self._live.observers.append(observe)

    @property
    def running(self) -> int:
        """How many runs are in progress in this process."""
        return len(self._live)

    async def start(
        self, spec: RunSpec, work: RunWork, *, run_id: str | None = None, here: bool = False
    ) -> RunHandle:
        """Store a run with what its work stores in `begin`, have it worked on, and return at once.

        With `here` it works in this process, whatever the engine; it then need not be possible to rebuild it.

        Raises:
            ConflictError: another run of the session is in progress, or messages wait there.
        """
        run_id, here = run_id or new_id("run"), here or self.engine.starts_here
        phase: RunPhase = "working" if here else "queued"
        with self._live.starting(run_id), self.inbox.opening(run_id, spec.session_id if here else None):
            try:
                self.inbox.note(run_id, await self.store.create(run_id, spec, work.begin, phase=phase))
            except HeadMovedError:
                raise
            except ConflictError as error:
                raise await self._explain_conflict(spec) from error
        self.feed.report_run(spec.owner, run_id, spec.session_id, "running")
        live: LiveRun | None = None
        if here:
            journal = self._remote.take(run_id)
            live = LiveRun(run_id=run_id, spec=spec, journal=journal, services=self._services)
            live.begin()
            self._live.launch(live, work)
        else:
            if self.works:
                self._live.hold(run_id, spec, work, self._remote.expect(run_id))
            await self._dispatch.submit(make_ticket(run_id, spec))
        return RunHandle(run_id, partial(self.result, run_id, live))

    async def result(self, run_id: str, live: LiveRun | None = None) -> RunResult:
        """Wait until a run has ended, wherever a process works on it; `live` is the run, if it began here.

        Raises:
            ConflictError: this process stops before the run has ended.
        """
        while True:
            live = self._live.get(run_id) or live
            if live is not None:
                await asyncio.wait({live.done})
                if not live.done.cancelled():
                    return live.done.result()
            record = await self.store.get(run_id)
            if record.result is not None:
                return record.result
            if self._is_closing:
                raise ConflictError(f"Run {run_id!r} has not ended; it resumes after the next start.")
            async with await self.read(run_id, record.last_number) as reader:
                while not reader.ended:
                    await reader.next()

    async def attempt(self, run_id: str) -> AttemptEnd:
        """Take a run up in this process and work on it until it ends, only waits for answers, or is left.

        A run whose process is alive is left to it. Raises if the run cannot be taken up now.
        """
        return await self._live.attempt(run_id)

    def is_here(self, run_id: str) -> bool:
        """Whether this process works on the run."""
        return run_id in self._live or run_id in self._parking

    async def wake(self, run_id: str, reason: WakeReason = "answer") -> None:
        """Have a run that only waits attempted again; do nothing if it does not wait."""
        await self._dispatch.wake(run_id, reason)

    async def cancel(self, run_id: str, mode: CancelMode = "now") -> None:
        """Ask a run to stop.

        Raises:
            NotFoundError: the run does not exist.
            ConflictError: it has already ended.
        """
        if self._live.cancel(run_id, mode):
            return self._spawn(self._keep_cancel(run_id, mode))
        record = await self.get(run_id)
        if record.path:
            return self._cancel_child(record, mode)
        if record.result is not None or not await self.store.request_cancel(run_id, mode):
            reason = record.result and record.result.reason
            raise ConflictError(f"Run {run_id!r} has already ended: {reason}.")
        self.link.announce("cancel", run_id)
        await self.wake(run_id, "cancel")
        if record.phase != "working":  # it need not wait for its turn only to end
            self._spawn(self._try_attempt(run_id))

    def _cancel_child(self, child: RunRecord, mode: CancelMode) -> None:
        """Ask a child to stop, in the process that works on its root; its caller continues."""
        if child.result is not None:
            raise ConflictError(f"Run {child.id!r} has already ended: {child.result.reason}.")
        if self._live.cancel_child(child.root_id, child.id, mode):
            return
        if child.phase != "working" or child.process_id == self.process_id:
            raise ConflictError(
                f"Run {child.id!r} cannot be cancelled by itself now.",
                hint=f"Answer its question, or cancel run {child.root_id!r}, which it belongs to.",
            )
        self.link.announce("cancel", f"{child.root_id}/{child.id}/{mode}")

    async def recover(self) -> None:
        """Take care of runs that no process works on, now and from now on."""
        await self._dispatch.look(works=self.works)
        self._spawn(self._dispatch.watch(self._recovery_interval, works=self.works))

    async def drain(self, seconds: float) -> None:
        """Take no more runs, and wait some seconds for those in progress here to end."""
        await self.engine.drain()
        if tasks := self._live.tasks:
            await asyncio.wait(tasks, timeout=seconds)

    async def is_alive(self, process_id: str) -> bool:
        """Whether a process that shares the database is alive."""
        return await self.link.is_alive(process_id)

    async def find_left(self) -> list[Ticket]:
        """Return the runs that dead processes were working on, and those of this one without a task."""
        return await self._dispatch.find_left()

    async def get(self, run_id: str, *, owner: str | None = None) -> RunRecord:
        """Return the stored run, or a child of one in progress.

        Raises:
            NotFoundError: there is none, or it belongs to another owner.
        """
        live = self._live.get(run_id)
        record = await self._find(run_id) if live is None or live.journal.closed else live.record
        if owner is not None and record.spec.owner != owner:
            raise NotFoundError(f"Run {run_id!r} not found.")
        return record

    async def _find(self, run_id: str) -> RunRecord:
        try:
            return await self.store.get(run_id)
        except NotFoundError:
            if (child := await self._children.find(run_id)) is None:
                raise
            return child

    async def find_running(self, session_id: str) -> RunRecord | None:
        """Return the run in progress in a session, if any; wait for one that readers have seen end."""
        for record in await self.store.find(state="running", session_id=session_id, limit=1):
            live = self._live.get(record.id)
            is_own = record.phase == "working" and record.process_id == self.process_id
            if is_own and not self.is_here(record.id):
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
        journal = self._live.find_journal(run_id) or await self._remote.open(run_id)
        return Reader(journal, after, self.store.load)

    async def _explain_conflict(self, spec: RunSpec) -> ConflictError:
        running = await self.store.find(state="running", session_id=spec.session_id or "", limit=1)
        what, hint = "another run is still in progress", "Wait until it ends, or cancel it."
        if running:
            what = f"run {running[0].id!r} is still in progress"
            hint = f"Send it to POST /api/v1/runs/{running[0].id}/messages, wait, or cancel the run."
        elif spec.session_id and await self.inbox.find_next(spec.session_id) is not None:
            what, hint = "messages wait there for their answers", "Try again when they are answered."
            self.inbox.answer_soon(spec.session_id)
        return ConflictError(f"Session {spec.session_id!r} is busy: {what}.", hint=hint)

    def _follow(self, run_id: str, follower: NextRun) -> None:
        """Have the run worked on that has begun with the end of another one."""
        self.inbox.settle(run_id)
        spec = follower.spec
        self.feed.report_run(spec.owner, follower.run_id, spec.session_id, "running")
        self.feed.report_session(spec.owner, spec.session_id or "", "changed")
        self._spawn(self._dispatch.submit(make_ticket(follower.run_id, spec)))

    def _lose(self, journal: Journal) -> None:
        """Stop working on a run that another process has taken over, unless it is here again already."""
        self._services.writer.forget(journal)
        live = self._live.get(journal.run_id)
        if live is not None and live.journal is journal:
            self._live.abandon(journal.run_id)

    async def _announce_saved(self, journals: list[Journal]) -> None:
        for start in range(0, len(journals), _MOST_PER_MESSAGE):
            self.link.announce("runs", write_news(journals[start : start + _MOST_PER_MESSAGE]))

    def _hear(self, kind: str, subject: str) -> None:
        """React to news from another process."""
        if kind == "runs":
            for run_id in self._remote.hear(subject):
                self._live.release(run_id)
        elif kind == "ask":
            self._spawn(self.asks.fetch(subject))
        elif kind == "message":
            self.inbox.hear(subject)
        elif kind == "cancel":
            self._hear_cancel(subject)
        elif kind == "feed":
            self.feed.hear(subject)
        elif kind == "reload":
            self.on_reload()
        else:
            self.engine.hear(kind, subject)

    def _hear_cancel(self, subject: str) -> None:
        """React to the wish to stop a run that may be here, or a child of one: `root/child/mode`."""
        if subject in self._live:
            self._spawn(self._obey(subject))
        elif subject.count("/") == 2:
            root_id, child_id, wanted = subject.split("/")
            for mode in get_args(CancelMode):
                if mode == wanted:
                    self._live.cancel_child(root_id, child_id, mode)

    async def _wake_asking(self, ask_id: str) -> None:
        """Wake the run that waits for an answer which has just been stored."""
        ask = await self.asks.store.find_by_id(ask_id)
        if ask is not None and (record := await self._dispatch.wake(ask.run_id, "answer")) is not None:
            self.feed.report_answer(ask, record.spec.session_id)

    async def _keep_cancel(self, run_id: str, mode: CancelMode) -> None:
        """Store that a run of this process is to stop: it may be lost before its end is stored."""
        if await persist(lambda: self.store.request_cancel(run_id, mode)):
            self.link.announce("cancel", run_id)

    async def _try_attempt(self, run_id: str) -> None:
        try:
            await self.attempt(run_id)
        except StoreError as error:
            logger.warning("run %s cannot be taken up now: %s", run_id, error.message)

    async def _obey(self, run_id: str) -> None:
        """Stop a run as is stored; one that was deleted stops by itself."""
        with suppress(NotFoundError):
            record = await persist(lambda: self.store.get(run_id))
            if record.cancel_mode is not None:
                self._live.cancel(run_id, record.cancel_mode)

    def _catch_up(self) -> None:
        """Look at everything that something here waits for: news and lives may have been missed."""
        self._spawn(self._ownership.check_all(self._live.all))
        self._spawn(self._remote.refresh_all())
        self._spawn(self.asks.fetch_all())
        for live in self._live.all:
            self._spawn(self._obey(live.run_id))
        self.inbox.hear_all()
        self.feed.reset()
        self.on_reload()

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
