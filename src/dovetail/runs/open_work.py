"""What is open in a run and its children: calls without a result, and children that have not ended."""

from collections.abc import Collection, Iterator
from typing import TypeAlias

from dovetail.events.model_events import ToolInputEnd
from dovetail.events.run_events import Event, RunEnd, RunStart, ToolEnd, ToolStart, TurnReset

Path: TypeAlias = tuple[str, ...]
CallKey: TypeAlias = tuple[Path, str]
_NOT_STARTED = "not_started", "This call was not started: the run ended before. It had no effect."
_INTERRUPTED = (
    "interrupted",
    "The run ended while this call was in progress; whether it had an effect is not known.",
)


class OpenWork:
    """Follow the events of a journal; a call has at most one result."""

    def __init__(self) -> None:
        self.children: set[Path] = set()
        self._calls: set[CallKey] = set()
        self._started: set[CallKey] = set()
        self._ended: set[CallKey] = set()

    def admits(self, event: Event, path: Path) -> bool:
        """Take the next event; False if it ends a call that has its result."""
        if isinstance(event, ToolInputEnd):
            self._calls.add((path, event.call_id))
        elif isinstance(event, ToolStart):
            self._started.add((path, event.call_id))
        elif isinstance(event, ToolEnd):
            return self._end_call((path, event.call_id))
        elif isinstance(event, TurnReset):
            self._calls = {call for call in self._calls if call[0] != path}
        elif isinstance(event, RunStart | RunEnd) and len(path) > 1:
            (self.children.add if isinstance(event, RunStart) else self.children.discard)(path)
        return True

    def is_over(self, path: Path, call_id: str) -> bool:
        """Whether a call has ended, or the child that made it."""
        return (path, call_id) in self._ended or (len(path) > 1 and path not in self.children)

    def end(self, path: Path = (), keep: Collection[str] = ()) -> Iterator[tuple[Event, Path]]:
        """Yield the events that end what is open below `path`, except for children to `keep`.

        Calls come before the children that made them, and the deepest children first.
        """
        depth = len(path)

        def is_lost(place: Path) -> bool:
            return len(place) > depth and place[:depth] == path and place[depth] not in keep

        calls = sorted(call for call in self._calls if is_lost(call[0]))
        for place, call_id in calls:
            if len(place) > 1:
                yield self._interrupt(place, call_id), place
        for child in sorted(filter(is_lost, self.children), key=len, reverse=True):
            yield RunEnd("interrupted"), child
        for place, call_id in calls:
            if len(place) == 1:
                yield self._interrupt(place, call_id), place

    def _interrupt(self, path: Path, call_id: str) -> ToolEnd:
        kind, message = _INTERRUPTED if (path, call_id) in self._started else _NOT_STARTED
        return ToolEnd(call_id, "interrupted", None, {"type": kind, "message": message})

    def _end_call(self, call: CallKey) -> bool:
        if call in self._ended:
            return False
        self._ended.add(call)
        self._calls.discard(call)
        self._started.discard(call)
        return True
