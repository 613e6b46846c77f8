"""Store journals in the background: many events, few transactions.

Events are written in batches shortly after they happened, or at once for `flush`. While the database cannot
be written, runs continue and their events wait in memory, and so does every `flush`. An event that cannot be
stored is stored empty, so that each call keeps its one result, and its run fails.
"""

import asyncio
import dataclasses
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from dovetail.concurrency import backoff, retrying, time_limit
from dovetail.data.clean import clean_text
from dovetail.data.shapes import is_list, is_mapping, is_number, is_tuple
from dovetail.data.text import report_error
from dovetail.errors import ConflictError, InvalidDataError, StoreError
from dovetail.events.delta import RequestTiming, Usage
from dovetail.events.run_events import Event, RunEnd, ToolEnd
from dovetail.runs.journal import Block, Journal, with_delta
from dovetail.runs.run import NextRun
from dovetail.store.database import SaveWork

logger = logging.getLogger(__name__)
INTERVAL = 0.2
READ_INTERVAL = 0.05
"""For journals whose readers are in other processes and see only what is stored; there the first event after
a pause is stored at once."""
FAREWELL = 4.0
"""Seconds that a stopping process waits for a database that cannot be written."""
_LONGEST_TEXT = 200
"""Characters of a text in an event that could not be stored as it was."""
_FIRST_PAUSE = 0.05
_LONGEST_PAUSE = 2.0


@dataclass(frozen=True, slots=True)
class Batch:
    """The next blocks of a run; with its end comes what its work saves, and the run that follows, if any."""

    journal: Journal
    blocks: list[Block]
    save: SaveWork | None = None
    follower: NextRun | None = None

    @property
    def run_id(self) -> str:
        """The id of the run."""
        return self.journal.run_id

    @property
    def is_last(self) -> bool:
        """Whether the run ends with it; the end of a child does not count."""
        last = self.blocks[-1]
        return isinstance(last.event, RunEnd) and len(last.path) == 1


class Shelf(Protocol):
    """The place where blocks are stored."""

    async def append(self, batches: Sequence[Batch]) -> list[str]:
        """Store blocks; return the runs that another process has taken over.

        The end of a run that was deleted counts as stored.
        """
        ...


class JournalWriter:
    """The writer for all runs of a process; `on_lost` is called for those that were taken over."""

    def __init__(
        self,
        shelf: Shelf,
        on_lost: Callable[[Journal], None],
        *,
        interval: float = INTERVAL,
        is_read_elsewhere: bool = False,
        patience: float = 60.0,
        farewell: float = FAREWELL,
    ) -> None:
        self._shelf = shelf
        self._on_lost = on_lost
        self._interval = READ_INTERVAL if is_read_elsewhere else interval
        self._is_read_elsewhere = is_read_elsewhere
        self._last_tick = 0.0
        self._patience = patience
        self._farewell = farewell
        self._dirty: dict[str, Journal] = {}
        self._urgent: dict[str, Journal] = {}
        self._is_due = False
        self._ends: dict[Journal, tuple[SaveWork | None, NextRun | None]] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._writing: asyncio.Task[None] | None = None
        self.on_saved: Callable[[list[Journal]], Awaitable[None]] | None = None
        self.on_broken: Callable[[str, InvalidDataError], None] = lambda run_id, error: None
        """Called for a run with an event that could not be stored: it cannot continue."""

    def mark(self, journal: Journal) -> None:
        """Mark the journal as changed; its events are stored soon."""
        if self._dirty.get(journal.run_id) is not journal:
            self._dirty[journal.run_id] = journal
            if self._timer is None:
                self._set_timer()

    async def end(
        self, journal: Journal, event: RunEnd, save: SaveWork | None, follower: NextRun | None = None
    ) -> None:
        """Store the run's end, what its work saves and the run that follows; then readers see it."""
        journal.end(event)
        self._ends[journal] = save, follower
        await self.flush(journal)

    async def flush(self, journal: Journal) -> None:
        """Wait until everything in the journal is stored; raise `StoreError` if that takes too long."""
        number = journal.newest
        try:
            async with time_limit(self._patience):
                while journal.saved < number and not journal.frozen:
                    self._urgent[journal.run_id] = journal
                    await asyncio.shield(self._start())
        except TimeoutError as error:
            raise StoreError(
                f"Run {journal.run_id!r} could not be stored within {self._patience:g} s."
            ) from error
        if journal.frozen:
            raise ConflictError(f"Run {journal.run_id!r} has been taken over by another process.")

    def forget(self, journal: Journal) -> None:
        """Store nothing more of a run that was taken over; this process may take it up again."""
        for waiting in (self._dirty, self._urgent):
            if waiting.get(journal.run_id) is journal:
                del waiting[journal.run_id]
        self._ends.pop(journal, None)

    async def close(self) -> None:
        """Store what is left, but do not wait long for the database.

        The process that resumes a run repeats what could not be stored, as after a crash.
        """
        if self._timer is not None:
            self._timer.cancel()
        try:
            async with asyncio.timeout(self._farewell):
                while self._dirty or self._urgent or self._writing is not None:
                    self._is_due = True
                    await asyncio.shield(self._start())
        except TimeoutError:
            left = len(self._dirty | self._urgent)
            logger.error("%d journals could not be stored before shutdown", left)
            self._is_due = False
            if self._writing is not None:
                self._writing.cancel()

    def _set_timer(self) -> None:
        loop = asyncio.get_running_loop()
        due = loop.time() + self._interval
        if self._is_read_elsewhere:
            due = max(loop.time(), self._last_tick + self._interval)
        self._timer = loop.call_at(due, self._tick)

    def _tick(self) -> None:
        self._timer = None
        self._last_tick = asyncio.get_running_loop().time()
        self._is_due = True
        self._start()

    def _start(self) -> "asyncio.Task[None]":
        if self._writing is None:
            self._writing = asyncio.create_task(self._write())
        return self._writing

    async def _write(self) -> None:
        try:
            async for _ in retrying(backoff(_FIRST_PAUSE, _LONGEST_PAUSE)):
                journals = self._choose()
                batches = [self._take(journal) for journal in journals.values()]
                try:
                    await self._store([batch for batch in batches if batch.blocks])
                    return
                except StoreError as error:
                    logger.warning("database not available, keeping journals in memory: %s", error.message)
                    self._urgent = journals | self._urgent
        finally:
            self._writing = None
            if self._is_due:
                self._start()

    def _choose(self) -> dict[str, Journal]:
        """Choose what to write now: all changed journals if the interval is over, else the urgent ones."""
        chosen, self._urgent = self._urgent, {}
        if self._is_due:
            self._is_due = False
            chosen, self._dirty = self._dirty | chosen, {}
        else:
            for run_id in chosen:
                self._dirty.pop(run_id, None)
        return chosen

    def _take(self, journal: Journal) -> Batch:
        save, follower = self._ends.get(journal, (None, None))
        return Batch(journal, journal.take_unsaved(), save, follower)

    async def _store(self, batches: list[Batch]) -> None:
        if not batches:
            return
        try:
            lost = await self._shelf.append(batches)
        except StoreError:
            raise
        except Exception as error:
            if len(batches) > 1:  # one bad journal must not hold up the others
                for batch in batches:
                    await self._store([batch])
                return
            logger.exception("the journal of run %s was rejected", batches[0].run_id)
            lost = await self._salvage(batches[0], error)
        for batch in batches:
            self._finish(batch, is_lost=batch.run_id in lost)
        if self.on_saved is not None:
            await self.on_saved([batch.journal for batch in batches if batch.run_id not in lost])

    async def _salvage(self, batch: Batch, error: Exception) -> list[str]:
        """Store what can be stored of a rejected journal; return its run if nothing can."""
        if isinstance(error, ConflictError):
            return [batch.run_id]
        broken = InvalidDataError(f"An event of run {batch.run_id!r} could not be stored: {error}")
        described = report_error(broken)
        has_failed = False
        for block in batch.blocks:
            is_end = batch.is_last and block is batch.blocks[-1]
            if has_failed and is_end:
                lighten(block, described)
            kept = dataclasses.replace(batch, blocks=[block])
            if not await self._try(kept if is_end else Batch(batch.journal, [block])):
                has_failed = True
                lighten(block, described)
                if not await self._try(Batch(batch.journal, [block])):
                    return [batch.run_id]
        if has_failed:
            self.on_broken(batch.run_id, broken)
        return []

    async def _try(self, batch: Batch) -> bool:
        try:
            if await self._shelf.append([batch]):
                return False
            batch.journal.mark_saved(batch.blocks[-1].last)
            return True
        except StoreError:
            raise
        except Exception as error:
            logger.warning("an event of run %s cannot be stored: %s", batch.run_id, error)
            return False

    def _finish(self, batch: Batch, *, is_lost: bool) -> None:
        if batch.is_last:
            self._ends.pop(batch.journal, None)
        if is_lost:
            batch.journal.freeze()
            self._on_lost(batch.journal)
        else:
            batch.journal.mark_saved(batch.blocks[-1].last)


def lighten(block: Block, error: Mapping[str, Any]) -> None:
    """Empty a block in place: its numbers, ids and kind stay, so that each call keeps its one result.

    A call or a run that ends with it ends with this error.
    """
    if block.pieces:
        block.pieces = [""] * len(block.pieces)
        block.event = with_delta(block.event, "")
    block.event = _lighten_event(block.event, error)


def _lighten_event(event: Event, error: Mapping[str, Any]) -> Event:
    if isinstance(event, ToolEnd):
        return ToolEnd(_reduce(event.call_id), "error", None, error, _reduce(event.duration) or 0.0)
    if isinstance(event, RunEnd):
        return RunEnd("error", None, event.usage, error)
    fields = {field.name: getattr(event, field.name) for field in dataclasses.fields(event)}
    return dataclasses.replace(event, **{name: _reduce(value) for name, value in fields.items()})


def _reduce(value: Any) -> Any:
    """The value if it is small and plain, otherwise an empty one of its kind."""
    if isinstance(value, str):
        return clean_text(value)[:_LONGEST_TEXT]
    if value is None or isinstance(value, bool | Usage | RequestTiming) or is_number(value):
        return value
    if is_tuple(value):
        return ()
    return {} if is_mapping(value) else [] if is_list(value) else None
