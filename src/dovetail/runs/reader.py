"""Readers of journals: of the runs of this process, and of runs elsewhere or long ended.

With a pace, events that come within that many seconds are returned together: a write to a socket costs more
than a token. Events after a longer pause, and the end, are never held back.
"""

import asyncio
from collections.abc import Iterable
from typing import Protocol, Self
from weakref import WeakValueDictionary

from dovetail.errors import NotFoundError
from dovetail.events.run_events import Entry
from dovetail.runs.journal import Block, Journal
from dovetail.runs.store import RunStore


class Load(Protocol):
    """Read the stored blocks of a run after a number, one page at a time."""

    async def __call__(self, run_id: str, after: int = 0, /) -> list[Block]: ...


class Reader:
    """A position in a journal, and a wait for more; `async with` registers it with the journal."""

    def __init__(self, journal: Journal, after: int = 0, load: Load | None = None) -> None:
        self.number = after
        self.pace = 0.0
        self._journal = journal
        self._load = load
        self._shown: Entry | None = None  # how far the model is, as it was returned last
        self._due = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._waiter: asyncio.Future[None] | None = None

    async def __aenter__(self) -> Self:
        self._journal.readers.add(self)
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        self._journal.readers.discard(self)

    @property
    def ended(self) -> bool:
        """Whether everything was read and nothing more will come."""
        return (self._journal.closed or self._journal.frozen) and self.number >= self._journal.last

    @property
    def was_left(self) -> bool:
        """Whether the run left this process before its end: it continues elsewhere, or later.

        What was read of it may not be stored, so its readers have to read on from the store.
        """
        return self._journal.frozen and not self._journal.closed

    @property
    def is_at_end(self) -> bool:
        """Whether everything so far was read; more may come."""
        return self.number >= self._journal.last

    def wake(self) -> None:
        """End the wait in `next`: at once, or when the pace allows it."""
        waiter = self._waiter
        if waiter is None:
            return
        if self.pace and not self._journal.closed:
            if self._timer is not None:
                return
            loop = waiter.get_loop()
            if loop.time() < self._due:
                self._timer = loop.call_at(self._due, self._end_wait)
                return
        self._end_wait()

    async def next(self) -> list[Entry]:
        """Return the events since the last call; wait while there are none.

        The list is empty if the reader was woken or the run has ended.
        """
        if self.number >= self._journal.last and not self.ended and not self._find_progress():
            await self._wait()
        if self.number < self._journal.dropped and self._load is not None:
            was_over = self._journal.closed or self._journal.frozen
            blocks = await self._load(self._journal.run_id, self.number)
            if not blocks:
                await self._wait_for_leapt(was_over)
            entries = [block.entry(self._journal.run_id, self.number) for block in blocks]
        else:
            entries = [*self._journal.after(self.number), *self._find_progress()]
            self._shown = self._journal.progress
        if entries:
            self.number = entries[-1].number
            if self.pace:
                self._due = asyncio.get_running_loop().time() + self.pace
        return entries

    def _find_progress(self) -> list[Entry]:
        """Return how far the model is, if that is new to this reader."""
        progress = self._journal.progress
        return [] if progress is None or progress is self._shown else [progress]

    async def _wait_for_leapt(self, was_over: bool) -> None:
        """Wait for events of a run that was taken over just now: its numbers have leapt.

        None will come of one that was over before they were looked for: it was deleted.
        """
        if was_over or self._journal.frozen:
            self.number = self._journal.last
        elif not self._journal.closed:
            await self._wait()

    async def _wait(self) -> None:
        self._waiter = asyncio.get_running_loop().create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None

    def _end_wait(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)


def write_news(journals: Iterable[Journal]) -> str:
    """Write how far runs are stored, for `RemoteJournals.hear` in another process."""
    return ",".join(f"{each.run_id}:{each.saved}:{'ended' if each.closed else ''}" for each in journals)


class RemoteJournals:
    """Journals without events: they know how far a run is; its events are in the store."""

    def __init__(self, store: RunStore) -> None:
        self._store = store
        self._journals: WeakValueDictionary[str, Journal] = WeakValueDictionary()

    def expect(self, run_id: str) -> Journal:
        """Return the journal of a run that has not begun; it hears of what happens from now on."""
        journal = self._journals[run_id] = Journal(run_id)
        return journal

    async def open(self, run_id: str) -> Journal:
        """Return the journal of a run that is elsewhere or has ended."""
        journal = self._journals.get(run_id)
        if journal is None:
            journal = self._journals[run_id] = Journal(run_id)
        await self.refresh(run_id)
        return journal

    async def refresh(self, run_id: str) -> None:
        """Look up how far the run is."""
        journal = self._journals.get(run_id)
        if journal is not None:
            record = await self._store.get(run_id)
            if self._journals.get(run_id) is journal:  # otherwise it was taken up here while it was looked up
                journal.follow(record.last_number, has_ended=record.state == "ended")

    def hear(self, news: str) -> list[str]:
        """Learn from another process how far its runs are; return their ids."""
        run_ids: list[str] = []
        for position in news.split(","):
            run_id, last, has_ended = position.split(":")
            journal = self._journals.get(run_id)
            if journal is not None:
                journal.follow(int(last), has_ended=bool(has_ended))
            run_ids.append(run_id)
        return run_ids

    def take(self, run_id: str) -> Journal:
        """Return the journal for a run that continues in this process: the one that is read here, if any."""
        return self._journals.pop(run_id, None) or Journal(run_id)

    def keep(self, journal: Journal) -> None:
        """Let the readers of a run that has left this process follow it from now on."""
        self._journals[journal.run_id] = journal

    async def refresh_all(self) -> None:
        """Look up how far all runs with readers are."""
        for run_id in list(self._journals):
            try:
                await self.refresh(run_id)
            except NotFoundError:
                self._journals.pop(run_id, None)
