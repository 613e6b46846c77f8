"""A piece of the journal: one event, or a stretch of deltas that belong together."""

from dataclasses import dataclass, field
from typing import Any

from dovetail.messages.event import Entry, Event
from dovetail.messages.model_event import ReasoningMore, TextMore, ToolInputMore

DELTAS = frozenset((TextMore, ReasoningMore, ToolInputMore))


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
        """The number of the last event in here."""
        return self.first + len(self.pieces) - 1 if self.pieces else self.first

    @property
    def size(self) -> int:
        """About how many characters it holds in memory."""
        return sum(map(len, self.pieces)) + 50 * len(self.pieces) + 500

    def entry(self, run_id: str, after: int = 0) -> Entry:
        """What comes after number `after`, as one entry that carries the last number."""
        event = self.event
        if self.pieces:
            rest = self.pieces[max(after + 1 - self.first, 0) :]
            event = with_delta(event, "".join(rest))
        return Entry(self.last, run_id, self.path, self.time, event)


def with_delta(event: Any, delta: str) -> Event:
    """The same kind of delta with another text."""
    if isinstance(event, ToolInputMore):
        return ToolInputMore(event.call_id, delta)
    return type(event)(event.id, delta)


def belongs(block: Block, event: Any, path: tuple[str, ...]) -> bool:
    """Whether a delta goes on where the block ends."""
    return (
        not block.sealed
        and type(block.event) is type(event)
        and block.path == path
        and _subject(block.event) == _subject(event)
    )


def _subject(event: Any) -> str:
    return event.call_id if isinstance(event, ToolInputMore) else event.id
