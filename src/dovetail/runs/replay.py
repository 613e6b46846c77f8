"""What a run has done so far, folded from its journal, so that nothing finished is done again."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from dovetail.data.shapes import is_mapping
from dovetail.data.text import to_text
from dovetail.events.call import ChatMessage, ToolCall, write_answer, write_result
from dovetail.events.delta import Usage
from dovetail.events.model_events import (
    ModelResponseEvent,
    ReasoningStart,
    TextDeltaEvent,
    TextStart,
    ToolInputEnd,
    ToolInputStart,
)
from dovetail.events.run_events import (
    AskAnswer,
    AskRequest,
    Entry,
    Event,
    RunEnd,
    RunResume,
    RunStart,
    ToolEnd,
    ToolStart,
    TurnEnd,
    TurnReset,
)
from dovetail.loop.budget import Spent


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """Finished work: the model's messages with the results of their calls, in order.

    `pending` are the calls of the last turn that have no result yet; those in `started` were under way, the
    others had not begun. `is_in_turn`: the calls of the last turn may all have ended, the turn has not.
    `text` is the last answer's; `has_partial`: one more answer broke off, it is void. `usage` is of the turns
    that have ended, `open_usage` of answers since; `spent` is what the run and its children have used in all.
    """

    messages: tuple[ChatMessage, ...] = ()
    turns: int = 0
    usage: Usage = field(default_factory=Usage)
    pending: tuple[ToolCall, ...] = ()
    started: frozenset[str] = frozenset()
    text: str = ""
    has_partial: bool = False
    is_in_turn: bool = False
    open_usage: Usage = field(default_factory=Usage)
    spent: Spent = field(default_factory=Spent)


def replay(entries: Iterable[Entry], path: tuple[str, ...], *, keep_partial: bool = False) -> Replay:
    """Fold the events of one run (not of its children); an answer that broke off may count too."""
    fold = _Fold()
    for entry in entries:
        if entry.path == path:
            fold.take(entry.event)
    return fold.end(keep_partial)


class _Fold:
    def __init__(self) -> None:
        self.messages: list[ChatMessage] = []
        self.turns = 0
        self.usage = Usage()
        self.open_usage = Usage()
        self.text = ""
        self._begin()

    def _begin(self) -> None:
        self.pieces: list[str] = []
        self.calls: list[ToolCall] = []
        self.results: dict[str, Any] = {}
        self.started: set[str] = set()
        self.spoke = False
        self.touched = False  # the answer of this turn is complete: more was told than what it says

    def take(self, event: Event) -> None:
        if isinstance(event, TextStart | ReasoningStart | ToolInputStart | TextDeltaEvent | ToolInputEnd):
            self._take_answer(event)
        elif isinstance(event, ToolStart | AskRequest | ToolEnd):
            self._take_call(event)
        elif isinstance(event, ModelResponseEvent):
            self.open_usage = self.open_usage + event.usage
            self.touched |= event.purpose == "answer"
        elif isinstance(event, TurnReset):
            self._begin()
        elif isinstance(event, TurnEnd):
            self._commit()
            self.turns += 1
            self.usage = self.usage + event.usage
            self.open_usage = Usage()
            self._begin()

    def _take_answer(self, event: Event) -> None:
        self.spoke = True
        if isinstance(event, TextDeltaEvent):
            self.pieces.append(event.delta)
        elif isinstance(event, ToolInputEnd):
            self.calls.append(ToolCall(call_id=event.call_id, name=event.name, arguments=to_text(event.args)))

    def _take_call(self, event: ToolStart | AskRequest | ToolEnd) -> None:
        self.touched = True
        if isinstance(event, ToolStart):
            self.started.add(event.call_id)
        elif isinstance(event, ToolEnd):
            self.results[event.call_id] = result_content(event)

    def end(self, keep_partial: bool) -> Replay:
        pending: tuple[ToolCall, ...] = ()
        is_complete = bool(self.calls) and self.touched
        has_partial = self.spoke and not is_complete
        if is_complete or (keep_partial and has_partial):
            self._commit()
            pending = tuple(call for call in self.calls if call.call_id not in self.results)
        return Replay(
            messages=tuple(self.messages),
            turns=self.turns,
            usage=self.usage,
            pending=pending,
            started=frozenset(call.call_id for call in pending if call.call_id in self.started),
            text=self.text,
            has_partial=has_partial,
            is_in_turn=is_complete,
            open_usage=self.open_usage,
        )

    def _commit(self) -> None:
        text = "".join(self.pieces)
        self.text = text or self.text
        if text or self.calls:
            self.messages.append(write_answer(text, self.calls))
        for call in self.calls:
            if call.call_id in self.results:
                self.messages.append(write_result(call.call_id, self.results[call.call_id]))


def result_content(event: ToolEnd) -> Any:
    """What the model is told of a call's end."""
    if is_mapping(event.result) and "llm_content" in event.result:
        return event.result["llm_content"]
    if event.error is not None:
        return str(event.error.get("message", event.status))
    return to_text(event.result)


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
        if isinstance(event, ModelResponseEvent):
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
