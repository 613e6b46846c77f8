"""The runs that this process works on: each is a task of the event loop."""

import asyncio
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from typing import TypeAlias

from dovetail.errors import InvalidDataError, NotFoundError
from dovetail.events.cancel import CancelMode
from dovetail.events.run_events import Event
from dovetail.runs.engine import AttemptEnd
from dovetail.runs.journal import Journal
from dovetail.runs.recovery import Recovery
from dovetail.runs.run import Rebuild, RunSpec, RunWork
from dovetail.runs.store import RunStore
from dovetail.runs.task import LiveRun, perform
from dovetail.store.processes import ProcessLink

CANCEL_GRACE = 10.0
MOST_HELD = 200
"""How many submitted runs keep their work here; one that is taken later is made again from the store."""

Observer: TypeAlias = Callable[[LiveRun, Event, tuple[str, ...]], None]
"""Called with each event of a run, except deltas."""


class LiveRuns:
    """Take runs up, work on them and leave them; `rebuild` makes the work of a stored run."""

    def __init__(self, store: RunStore, link: ProcessLink, recovery: Recovery, *observers: Observer) -> None:
        self._store = store
        self._link = link
        self._recovery = recovery
        self.rebuild: Rebuild | None = None
        self.on_taken_up: Callable[[LiveRun], None] = lambda live: None
        """Called with each run that was queued or left, when this process begins to work on it."""
        self.observers = list(observers)
        self._live: dict[str, LiveRun] = {}
        self._starting: set[str] = set()
        self._held: dict[str, tuple[RunSpec, RunWork, Journal]] = {}
        self._is_closing = False

    def __len__(self) -> int:
        return len(self._live)

    def __contains__(self, run_id: object) -> bool:
        """Whether this process works on the run, or is about to."""
        return run_id in self._live or run_id in self._starting

    def get(self, run_id: str) -> LiveRun | None:
        """Return the run, if this process works on it."""
        return self._live.get(run_id)

    def cancel_child(self, root_id: str, run_id: str, mode: CancelMode) -> bool:
        """Ask a child of a run to stop, and its caller to continue; False if it does not work here."""
        live = self._live.get(root_id)
        if live is None or run_id not in live.children:
            return False
        live.children[run_id].request(mode)
        return True

    @property
    def all(self) -> list[LiveRun]:
        """All runs that this process works on."""
        return list(self._live.values())

    @property
    def tasks(self) -> "list[asyncio.Task[None]]":
        """The tasks of all runs."""
        return [live.task for live in self._live.values() if live.task is not None]

    @contextmanager
    def starting(self, run_id: str) -> Generator[None]:
        """Mark a run as one of this process while it is being stored or taken up."""
        self._starting.add(run_id)
        try:
            yield
        finally:
            self._starting.discard(run_id)

    def launch(self, live: LiveRun, work: RunWork) -> LiveRun:
        """Start the task of a run."""
        self._live[live.run_id] = live
        live.journal.observe = partial(self._observe, live)
        live.services.writer.mark(live.journal)
        live.task = asyncio.create_task(perform(live, work), name=live.run_id)
        live.task.add_done_callback(lambda _: self._forget(live))
        return live

    def hold(self, run_id: str, spec: RunSpec, work: RunWork, journal: Journal) -> None:
        """Keep the work of a run that was submitted here: this process may be the one that takes it."""
        self._held[run_id] = spec, work, journal
        if len(self._held) > MOST_HELD:
            del self._held[next(iter(self._held))]

    def release(self, run_id: str) -> None:
        """Forget the work of a run that another process has taken."""
        self._held.pop(run_id, None)

    def find_journal(self, run_id: str) -> Journal | None:
        """Return the journal of a run of this process, or of one that was submitted here and waits."""
        live, held = self._live.get(run_id), self._held.get(run_id)
        return live.journal if live is not None else held and held[2]

    async def attempt(self, run_id: str) -> AttemptEnd:
        """Take a run up in this process and work on it until it ends, only waits for answers, or is left.

        A run whose process is alive is left to it. Raises if the run cannot be taken up now.
        """
        live = self._live.get(run_id) or await self._take_up(run_id)
        if not isinstance(live, LiveRun):
            return live
        if live.task is not None:
            try:
                await asyncio.wait({live.task})
                if live.parked is not None:  # else an engine would know that it waits, and the store not
                    await live.parked.wait()
            except asyncio.CancelledError:
                self.abandon(run_id)
                await asyncio.wait({live.task})
                raise
        return live.end

    async def _take_up(self, run_id: str) -> "LiveRun | AttemptEnd":
        if (begun := await self._begin(run_id)) is not None:
            return begun
        try:
            record = await self._store.get(run_id)
        except NotFoundError:
            return "ended"  # its session was deleted
        if record.state == "ended" or record.phase == "waiting":
            return "ended" if record.state == "ended" else "waiting"
        is_elsewhere = record.phase == "working" and record.process_id != self._link.process_id
        if is_elsewhere and await self._link.is_alive(record.process_id or ""):
            return "left"
        if self.rebuild is None or self._is_closing or run_id in self:
            return "left"
        with self.starting(run_id):
            taken = await self._recovery.take_up(record, self.rebuild)
        return "left" if taken is None else self._launch_taken(*taken)

    async def _begin(self, run_id: str) -> LiveRun | None:
        """Begin a run that was submitted here and that no process has touched since."""
        held = self._held.pop(run_id, None)
        if held is None or self._is_closing or run_id in self:
            return None
        with self.starting(run_id):
            live = await self._recovery.begin(run_id, held[0])
        return live and self._launch_taken(live, held[1])

    def _launch_taken(self, live: LiveRun, work: RunWork) -> LiveRun:
        self.on_taken_up(live)
        return self.launch(live, work)

    def cancel(self, run_id: str, mode: CancelMode) -> bool:
        """Ask a run to stop; False if this process does not work on it."""
        live = self._live.get(run_id)
        if live is None or live.journal.closed or live.leaves:
            return False
        live.cancel.request(mode)
        if mode == "now" and live.task is not None:
            asyncio.get_running_loop().call_later(CANCEL_GRACE, live.task.cancel)
        return True

    def abandon(self, run_id: str) -> None:
        """Leave a run to another process, or to a later start of this one."""
        live = self._live.pop(run_id, None)
        if live is not None and live.task is not None:
            live.leaves = "left"
            live.journal.freeze()
            live.task.cancel()

    async def close(self) -> None:
        """Leave all runs to other processes, or to a later start of this one."""
        self._is_closing = True
        tasks = self.tasks
        for run_id in list(self._live):
            self.abandon(run_id)
        await asyncio.gather(*tasks, return_exceptions=True)

    def fail(self, run_id: str, error: InvalidDataError) -> None:
        """End a run that has an event which cannot be stored, unless it is ending already."""
        live = self._live.get(run_id)
        if live is not None and live.task is not None:
            live.failure = error
            if not live.journal.is_ending:
                live.task.cancel()

    def _observe(self, live: LiveRun, event: Event, path: tuple[str, ...]) -> None:
        for observe in self.observers:
            observe(live, event, path)

    def _forget(self, live: LiveRun) -> None:
        if self._live.get(live.run_id) is live:
            del self._live[live.run_id]
