"""Stores journals behind the back of the runs: many events, few transactions.

Events are written together, shortly after they happened, or at once when somebody waits for it. While the
database cannot be written, runs go on and their events wait in memory; who waits for them waits too.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Protocol

from dovetail.errors import ConflictError, StoreError
from dovetail.runs.block import Block
from dovetail.runs.journal import Journal

logger = logging.getLogger(__name__)
INTERVAL = 0.2
_LONGEST_PAUSE = 2.0


class Shelf(Protocol):
    """Where blocks are kept."""

    async def append(self, batches: list[tuple[str, list[Block]]]) -> list[str]:
        """Store blocks; returns the runs that are not ours any more."""
        ...


class JournalWriter:
    """One writer for all runs of a process; `on_lost` hears of runs that another process has taken over."""

    def __init__(
        self,
        shelf: Shelf,
        on_lost: Callable[[str], None],
        *,
        interval: float = INTERVAL,
        patience: float = 60.0,
    ) -> None:
        self._shelf = shelf
        self._on_lost = on_lost
        self._interval = interval
        self._patience = patience
        self._dirty: dict[str, Journal] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._writing: asyncio.Task[None] | None = None
        self.on_saved: Callable[[list[Journal]], Awaitable[None]] | None = None

    def mark(self, journal: Journal) -> None:
        """Note that the journal has news; they are stored soon."""
        if journal.run_id not in self._dirty:
            self._dirty[journal.run_id] = journal
            if self._timer is None:
                self._timer = asyncio.get_running_loop().call_later(self._interval, self._start)

    async def settle(self, journal: Journal) -> None:
        """Wait until everything in the journal is stored; a `StoreError` when it takes too long."""
        number = journal.last
        try:
            async with asyncio.timeout(self._patience):
                while journal.saved < number and not journal.frozen:
                    self._dirty.setdefault(journal.run_id, journal)
                    await asyncio.shield(self._start())
        except TimeoutError as error:
            raise StoreError(
                f"run {journal.run_id!r} could not be stored within {self._patience:g} s"
            ) from error
        if journal.frozen:
            raise ConflictError(f"run {journal.run_id!r} does not go on in this process")

    async def close(self) -> None:
        """Store what is left, as far as the database lets us."""
        if self._timer is not None:
            self._timer.cancel()
        try:
            async with asyncio.timeout(self._patience):
                while self._dirty or self._writing is not None:
                    await asyncio.shield(self._start())
        except TimeoutError:
            logger.error("%d journals could not be stored before the end", len(self._dirty))
            if self._writing is not None:
                self._writing.cancel()

    def _start(self) -> "asyncio.Task[None]":
        self._timer = None
        if self._writing is None:
            self._writing = asyncio.create_task(self._write())
        return self._writing

    async def _write(self) -> None:
        pause = 0.05
        try:
            while True:
                journals, self._dirty = list(self._dirty.values()), {}
                batches = [(journal, journal.take_unsaved()) for journal in journals]
                try:
                    await self._store([batch for batch in batches if batch[1]])
                    return
                except StoreError as error:
                    logger.warning("journals are kept in memory for now: %s", error.message)
                    self._dirty = {journal.run_id: journal for journal in journals} | self._dirty
                    await asyncio.sleep(pause)
                    pause = min(pause * 2, _LONGEST_PAUSE)
        finally:
            self._writing = None
            if self._dirty and self._timer is None:
                self._timer = asyncio.get_running_loop().call_later(self._interval, self._start)

    async def _store(self, batches: list[tuple[Journal, list[Block]]]) -> None:
        if not batches:
            return
        try:
            lost = await self._shelf.append([(journal.run_id, blocks) for journal, blocks in batches])
        except ConflictError:
            if len(batches) == 1:
                logger.exception("the journal of run %s was refused", batches[0][0].run_id)
                lost = [batches[0][0].run_id]
            else:  # one bad journal must not keep back the others
                for batch in batches:
                    await self._store([batch])
                return
        for journal, blocks in batches:
            if journal.run_id in lost:
                journal.frozen = True
                self._on_lost(journal.run_id)
            else:
                journal.mark_saved(blocks[-1].last)
        if self.on_saved is not None:
            await self.on_saved([journal for journal, _ in batches if journal.run_id not in lost])
