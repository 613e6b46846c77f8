"""Whether a run waits only for answers, read from its events.

A batch first asks for its approvals, all at once, and announces the calls (`tool-hold`); then its calls run.
A call waits if it has asked, or if all agents that it has called wait.
"""

from collections import defaultdict
from collections.abc import Collection

from dovetail.events.run_events import (
    AskAnswer,
    AskRequest,
    Entry,
    RunEnd,
    RunStart,
    ToolEnd,
    ToolHold,
    ToolStart,
    TurnEnd,
)

Path = tuple[str, ...]
Call = tuple[Path, str]


class PendingAsks:
    """The open questions of a run and its children, event by event."""

    def __init__(self) -> None:
        self._root: Path = ()
        self._held: dict[Path, set[str]] = {}
        self._running: defaultdict[Path, set[str]] = defaultdict(set)
        self._asked: set[Call] = set()
        self._open: dict[str, Call] = {}
        self._children: defaultdict[Call, set[Path]] = defaultdict(set)

    def take(self, entry: Entry) -> None:
        """Take one more event."""
        event, path = entry.event, entry.path
        self._root = path[:1]
        if isinstance(event, ToolStart):
            self._running[path].add(event.call_id)
        elif isinstance(event, ToolEnd):
            self._end_call(path, event.call_id)
        elif isinstance(event, ToolHold):
            self._held[path] = set(event.call_ids)
        elif isinstance(event, TurnEnd):
            self._held.pop(path, None)
        elif isinstance(event, AskRequest):
            self._asked.add((path, event.call_id))
            self._open[event.ask_id] = (path, event.call_id)
        elif isinstance(event, AskAnswer):
            self._open.pop(event.ask_id, None)
        elif isinstance(event, RunStart | RunEnd):
            self._note_child(event, path)

    def keep_open(self, ask_ids: Collection[str]) -> None:
        """Keep only these questions open: the others have answers whose events follow."""
        self._open = {ask_id: call for ask_id, call in self._open.items() if ask_id in ask_ids}

    def needs_answers(self) -> bool:
        """Whether nothing happens in the run before one of its own questions is answered."""
        return any(path == self._root for path, _ in self._open.values()) and self._waits(self._root)

    def _waits(self, path: Path) -> bool:
        if running := self._running[path]:
            return all(self._call_waits((path, call_id)) for call_id in running)
        held = self._held.get(path, set())
        has_asked_all = all((path, call_id) in self._asked for call_id in held)
        return has_asked_all and any((path, call_id) in self._open.values() for call_id in held)

    def _call_waits(self, call: Call) -> bool:
        children = self._children[call]
        return call in self._open.values() or (bool(children) and all(map(self._waits, children)))

    def _end_call(self, path: Path, call_id: str) -> None:
        self._running[path].discard(call_id)
        self._held.get(path, set()).discard(call_id)
        self._open = {ask_id: call for ask_id, call in self._open.items() if call != (path, call_id)}

    def _note_child(self, event: RunStart | RunEnd, path: Path) -> None:
        if isinstance(event, RunStart):
            if event.parent_call_id is not None:
                self._children[(path[:-1], event.parent_call_id)].add(path)
            return
        for children in self._children.values():
            children.discard(path)
