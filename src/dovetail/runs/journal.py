"""The numbered events of one run, in memory, for any number of readers.

Promises: numbers are 1, 2, 3, …, with a leap where the run was resumed after a crash, so that no number ever
means two events; a call has at most one `tool-end`; `run-end` is the last event, and is shown once it is
stored; a reader costs only its position, so a slow one holds up neither the run nor memory; stored events
may leave memory, others never do. How far the model is (`model-progress`) has no number of its own and is not
stored: readers at the end see the newest, until something happens.
"""

import logging
import time
from bisect import bisect_right
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol

from dovetail.events.model_events import (
    ModelProgress,
    ReasoningDeltaEvent,
    TextDeltaEvent,
    ToolInputDeltaEvent,
)
from dovetail.events.run_events import (
    AskAnswer,
    AskRequest,
    ChildEvent,
    Entry,
    Event,
    RunEnd,
    RunStart,
    TurnEnd,
)
from dovetail.runs.open_work import OpenWork
from dovetail.runs.tally import Tally

logger = logging.getLogger(__name__)
MEMORY_LIMIT = 1_000_000
_LONGEST_STRETCH = 1000
DELTAS = frozenset((TextDeltaEvent, ReasoningDeltaEvent, ToolInputDeltaEvent))


@dataclass(slots=True)
class Block:
    """Events `first` to `last`; of a stretch of deltas `event` is the first and `pieces` are their texts."""

    first: int
    path: tuple[str, ...]
    time: float
    event: Event
    pieces: list[str] = field(default_factory=list[str])
    sealed: bool = False

    @property
    def last(self) -> int:
        """The number of the last event."""
        return self.first + len(self.pieces) - 1 if self.pieces else self.first

    @property
    def size(self) -> int:
        """The approximate number of characters in memory."""
        return sum(map(len, self.pieces)) + 50 * len(self.pieces) + 500

    def entry(self, run_id: str, after: int = 0) -> Entry:
        """Return the events after number `after` as one entry that carries the last number."""
        event = self.event
        if self.pieces:
            rest = self.pieces[max(after + 1 - self.first, 0) :]
            event = with_delta(event, "".join(rest))
        return Entry(self.last, run_id, self.path, self.time, event)


class Observe(Protocol):
    """See new events except deltas, with the paths of their runs; must be quick and never fail."""

    def __call__(self, event: Event, path: tuple[str, ...], /) -> None: ...


class Wakeable(Protocol):
    """Something that waits for more events."""

    def wake(self) -> None:
        """Look again."""
        ...


class Journal:
    """Append events and return them from any number on."""

    def __init__(self, run_id: str, *, dropped: int = 0, memory_limit: int = MEMORY_LIMIT) -> None:
        self.run_id = run_id
        self.last = dropped
        self.saved = dropped
        self.dropped = dropped
        self.progress: Entry | None = None
        self.closed = False
        self.frozen = False  # the run continues elsewhere, or later: nothing more is taken here
        self.tally = Tally()
        self.readers: set[Wakeable] = set()
        self.observe: Observe | None = None
        self._memory_limit = memory_limit
        self._blocks: list[Block] = []
        self._in_memory = 0
        self._end: Block | None = None
        self.has_asked = False  # there may be open asks to be closed with the run
        self.is_resumed = False  # its first events were stored before it was taken up here
        self._open = OpenWork()
        self._asks: set[tuple[str, str]] = set()
        # Read once: a clock that is set while a run works does not change how long it has worked.
        self._offset = time.time() - time.monotonic()

    def append(self, event: Event, path: tuple[str, ...]) -> None:
        """Give the event the next number; ignore what comes after the end, or ends a call again.

        An event of a child is kept as its own, under the child's longer path.
        """
        if self.closed or self.frozen or self._end is not None:
            logger.debug("run %s has ended here; ignoring %s", self.run_id, event.type)
            return
        while type(event) is ChildEvent:
            path, event = (*path, event.run_id), event.event
        self.progress = None
        if type(event) in DELTAS:
            self._append_delta(event, path)
        elif type(event) is ModelProgress:
            self.progress = Entry(self.last, self.run_id, path, self._read_clock(), event)
        elif self._admits(event, path):
            self.last += 1
            self._blocks.append(Block(self.last, path, self._read_clock(), event))
            if self.observe is not None:
                self.observe(event, path)
        self._wake()

    def end(self, event: RunEnd) -> None:
        """Take the run's end; readers see it once `mark_saved` says that it is stored."""
        if not self.closed and self._end is None:
            self.progress = None
            self._end = Block(self.last + 1, (self.run_id,), self._read_clock(), event)

    def freeze(self) -> None:
        """Take no more events and release the readers: the run is not ours.

        An end that is not stored is not shown: another process may end the run otherwise.
        """
        self.frozen = True
        self.progress = None
        self._wake()

    @property
    def is_ending(self) -> bool:
        """Whether the run's end is known, stored or not."""
        return self.closed or self._end is not None

    @property
    def newest(self) -> int:
        """The number of the last event to be stored, shown or not."""
        return self.last if self._end is None else self._end.first

    def extend(self, blocks: Iterable[Block]) -> None:
        """Add blocks that are stored already, in order."""
        for block in blocks:
            self._admits(block.event, block.path)
            block.sealed = True
            self._blocks.append(block)
            self.last = self.saved = block.last
            self.is_resumed = True
        self._wake()

    def restore(self, blocks: Iterable[Block]) -> None:
        """Take up a run whose position was only followed here: its readers stay where they are."""
        self._clear()
        self.last = self.saved = self.dropped = 0
        self.extend(blocks)

    def park(self) -> None:
        """Forget the events, which are all stored; readers load them, and follow the run's position."""
        self._clear()
        self.saved = self.dropped = self.last

    def _clear(self) -> None:
        self._blocks.clear()
        self.progress = None
        self._in_memory = 0
        self._open = OpenWork()
        self._asks.clear()
        self.tally = Tally()
        self.observe = None

    def leap(self, number: int) -> None:
        """Skip numbers that readers may have seen on events that were never stored."""
        self.last = max(self.last, number)

    def follow(self, last: int, *, has_ended: bool) -> None:
        """Record the position of a run whose events are only in the store."""
        self.last = self.saved = self.dropped = max(last, self.last)
        self.closed = self.closed or has_ended  # what was looked up may be older than the news
        self._wake()

    def after(self, number: int) -> list[Entry]:
        """Return the events after `number`, consecutive deltas as one; all must still be in memory."""
        blocks = self._blocks
        if not blocks or number >= self.last:
            return []
        place = len(blocks) - 1
        if blocks[place].first > number + 1:
            place = max(bisect_right(blocks, number + 1, key=_first) - 1, 0)
            place += blocks[place].last <= number  # the next number was leapt over
        return [block.entry(self.run_id, number) for block in blocks[place:]]

    def take_unsaved(self) -> list[Block]:
        """Return the blocks to be stored next, and close them to further deltas."""
        place = bisect_right(self._blocks, self.saved, key=_first)
        unsaved = self._blocks[place:]
        if self._end is not None:
            unsaved.append(self._end)
        for block in unsaved:
            block.sealed = True
        return unsaved

    def mark_saved(self, number: int) -> None:
        """Record that everything up to `number` is stored; drop the oldest blocks above the memory limit."""
        if self._end is not None and number >= self._end.first:
            self._show_end(self._end)
        fresh = self._blocks[bisect_right(self._blocks, self.saved, key=_first) :]
        self._in_memory += sum(block.size for block in fresh if block.last <= number)
        self.saved = number
        while self._in_memory > self._memory_limit and self._blocks and self._blocks[0].last <= number:
            block = self._blocks.pop(0)
            self._in_memory -= block.size
            self.dropped = block.last

    @property
    def open_runs(self) -> list[tuple[str, ...]]:
        """The paths of the runs that have not ended, parents before their children."""
        return [(self.run_id,), *sorted(self._open.children, key=len)]

    def is_over(self, path: tuple[str, ...], call_id: str) -> bool:
        """Whether a call has ended, or the child that made it."""
        return self._open.is_over(path, call_id)

    def close_calls(self) -> None:
        """End every open call and child as interrupted, so that each has its one result."""
        for event, path in self._open.end():
            self.append(event, path)

    def close_children(self, path: tuple[str, ...], keep: Collection[str] = ()) -> None:
        """End the runs below `path` and their calls, the deepest first, except for children to `keep`."""
        for event, place in self._open.end(path, keep):
            self.append(event, place)

    def _read_clock(self) -> float:
        return self._offset + time.monotonic()

    def _append_delta(self, event: Any, path: tuple[str, ...]) -> None:
        self.last += 1
        block = self._blocks[-1] if self._blocks else None
        if (
            block is not None
            and len(block.pieces) < _LONGEST_STRETCH
            and _is_continuation(block, event, path)
        ):
            block.pieces.append(event.delta)
        else:
            self._blocks.append(Block(self.last, path, self._read_clock(), event, [event.delta]))

    def _show_end(self, end: Block) -> None:
        self._blocks.append(end)
        self._end = None
        self.last = end.first
        self.closed = True
        if self.observe is not None:
            self.observe(end.event, end.path)
        self._wake()

    def _admits(self, event: Event, path: tuple[str, ...]) -> bool:
        if not self._open.admits(event, path):
            logger.warning("run %s: call %s already has a result", self.run_id, getattr(event, "call_id", ""))
            return False
        if isinstance(event, RunStart | TurnEnd):
            self.tally.take(event, path)
        if isinstance(event, AskRequest | AskAnswer):
            return self._is_new_ask(event)
        elif isinstance(event, RunStart | RunEnd) and len(path) == 1:
            self.closed = isinstance(event, RunEnd)
        return True

    def _is_new_ask(self, event: AskRequest | AskAnswer) -> bool:
        """Whether the event is new: an ask that continues after a crash is emitted again."""
        self.has_asked = True
        key = (event.type, event.ask_id)
        is_new = key not in self._asks
        self._asks.add(key)
        return is_new

    def _wake(self) -> None:
        for reader in self.readers:
            reader.wake()


def with_delta(event: Any, delta: str) -> Event:
    """Return a delta of the same kind with another text."""
    if isinstance(event, ToolInputDeltaEvent):
        return ToolInputDeltaEvent(event.call_id, delta)
    return type(event)(event.id, delta)


def _is_continuation(block: Block, event: Any, path: tuple[str, ...]) -> bool:
    """Whether a delta continues the block."""
    return (
        not block.sealed
        and type(block.event) is type(event)
        and block.path == path
        and _subject(block.event) == _subject(event)
    )


def _subject(event: Any) -> str:
    return event.call_id if isinstance(event, ToolInputDeltaEvent) else event.id


def _first(block: Block) -> int:
    return block.first
