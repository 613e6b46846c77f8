"""What a run has used of its budget so far, as its journal tells it.

Tokens of children count too; turns are those of the run itself. The clock stands still while a person is
asked, and from a crash until the run is taken up again.
"""

from collections.abc import Callable, Iterable

from dovetail.messages.budget import Spent
from dovetail.messages.delta import Usage
from dovetail.messages.event import (
    AskAnswer,
    AskRequest,
    Entry,
    RunEnd,
    RunResume,
    RunStart,
    ToolEnd,
    TurnEnd,
)
from dovetail.messages.model_event import ModelAnswered


def count_spent(entries: Iterable[Entry]) -> Spent:
    """Fold the events of a run and its children."""
    count = _Count()
    for entry in entries:
        count.take(entry)
    return Spent(
        turns=count.turns + count.has_answered,
        usage=sum(count.open_usage.values(), count.usage),
        seconds=count.seconds,
        children=count.children,
        descendants=count.descendants,
    )


class _Count:
    def __init__(self) -> None:
        self.turns = 0
        self.usage = Usage()
        self.seconds = 0.0
        self.children = 0
        self.descendants = 0
        self.has_answered = False
        self.open_usage: dict[tuple[str, ...], Usage] = {}
        self._asks: dict[str, tuple[tuple[str, ...], str]] = {}
        self._time: float | None = None

    def take(self, entry: Entry) -> None:
        event, path = entry.event, entry.path
        self._take_time(entry)
        if isinstance(event, ModelAnswered):
            self.open_usage[path] = self.open_usage.get(path, Usage()) + event.usage
            if event.purpose == "answer" and len(path) == 1:
                self.has_answered = True
        elif isinstance(event, TurnEnd):
            self.usage = self.usage + event.usage
            self.open_usage.pop(path, None)
            if len(path) == 1:
                self.turns += 1
                self.has_answered = False
        elif isinstance(event, RunStart) and len(path) > 1:
            self.children += len(path) == 2
            self.descendants += 1
        else:
            self._take_ask(entry)

    def _take_time(self, entry: Entry) -> None:
        """Add the time since the last event; a clock that was set back in between adds none."""
        if self._time is not None and not self._asks and not isinstance(entry.event, RunResume):
            self.seconds += max(entry.time - self._time, 0.0)
        self._time = entry.time

    def _take_ask(self, entry: Entry) -> None:
        event, path = entry.event, entry.path
        if isinstance(event, AskRequest) and event.kind != "browser":
            self._asks[event.ask_id] = (path, event.call_id)
        elif isinstance(event, AskAnswer):
            self._asks.pop(event.ask_id, None)
        elif isinstance(event, ToolEnd):
            self._drop(lambda asked, call_id: (asked, call_id) == (path, event.call_id))
        elif isinstance(event, RunEnd):
            self._drop(lambda asked, _: asked[: len(path)] == path)

    def _drop(self, is_over: Callable[[tuple[str, ...], str], bool]) -> None:
        """Forget questions that nobody waits for any more."""
        self._asks = {ask_id: place for ask_id, place in self._asks.items() if not is_over(*place)}
