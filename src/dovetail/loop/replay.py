"""What a run has done and spent so far, folded from its journal, so that nothing finished is done again."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, TypeAlias

from dovetail.data.shapes import is_mapping
from dovetail.data.text import to_text
from dovetail.events.call import ChatMessage, ToolCall, write_answer, write_result
from dovetail.events.delta import Usage
from dovetail.events.model_events import (
    ModelRequestEvent,
    ModelResponseEvent,
    ProviderPartEvent,
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
    UserMessage,
)
from dovetail.loop.budget import Spent

Path: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """Finished work, in order: the model's messages, the results of their calls, what reached the run.

    `pending` are the calls of the last turn without a result; those in `started` were in progress, the others
    had not begun. `is_in_turn`: the calls of the last turn may all have ended, but the turn has not.
    `succeeded` are the calls of the last turn that did not fail.
    `text` is that of the last answer; `has_partial`: one more answer broke off and is void. `open_usage` is
    of answers since the last turn ended; `spent` is what the run and its children have used in all.
    `children` are the ids of runs below it that have not ended, by the calls that started them.
    """

    messages: tuple[ChatMessage, ...] = ()
    turns: int = 0
    pending: tuple[ToolCall, ...] = ()
    started: frozenset[str] = frozenset()
    succeeded: tuple[ToolCall, ...] = ()
    text: str = ""
    has_partial: bool = False
    is_in_turn: bool = False
    open_usage: Usage = field(default_factory=Usage)
    spent: Spent = field(default_factory=Spent)
    children: Mapping[str, str] = field(default_factory=dict[str, str])


def replay(entries: Iterable[Entry], path: Path, *, keep_partial: bool = False) -> Replay:
    """Fold the journal of the run at `path`; with `keep_partial` an answer that broke off counts too."""
    fold = _Fold(path)
    for entry in entries:
        fold.take(entry)
    return fold.end(keep_partial)


def result_content(event: ToolEnd) -> Any:
    """Return what the model reads of the end of a call."""
    if is_mapping(event.result) and "llm_content" in event.result:
        return event.result["llm_content"]
    if event.error is not None:
        return str(event.error.get("message", event.status))
    return to_text(event.result)


class _Fold:
    """Collects the messages of one run, and counts what it and its children have spent."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._messages: list[ChatMessage] = []
        self._turns = 0
        self._text = ""
        self._usage = Usage()
        self._requests = 0
        self._open_requests: dict[Path, int] = {}
        self._unanswered: set[Path] = set()
        self._open_usage: dict[Path, Usage] = {}
        self._has_answered = False
        self._children: dict[str, str | None] = {}  # the calls that started them
        self._ended: set[str] = set()
        self._descendants = 0
        self._clock = _Clock()
        self._succeeded: tuple[ToolCall, ...] = ()
        self._begin_turn()

    def _begin_turn(self) -> None:
        self._pieces: list[str] = []
        self._calls: list[ToolCall] = []
        self._parts: list[ProviderPartEvent] = []
        self._results: dict[str, Any] = {}
        self._started: set[str] = set()
        self._failed: set[str] = set()
        self._has_spoken = False
        self._is_complete = False  # the answer of this turn: more followed than the answer itself

    def take(self, entry: Entry) -> None:
        event, path = entry.event, entry.path
        is_inside = path[: len(self._path)] == self._path
        self._clock.take(entry, is_inside=is_inside)
        if not is_inside:
            return
        self._count_request(event, path)
        if isinstance(event, ModelResponseEvent):
            self._open_usage[path] = self._open_usage.get(path, Usage()) + event.usage
        elif isinstance(event, TurnEnd):
            self._usage = self._usage + event.usage
            self._open_usage.pop(path, None)
        elif isinstance(event, RunStart | RunEnd) and len(path) > len(self._path):
            self._take_child(event, path)
        if path == self._path:
            self._take_own(event)

    def _take_child(self, event: RunStart | RunEnd, path: Path) -> None:
        is_own = len(path) == len(self._path) + 1
        if isinstance(event, RunStart):
            self._descendants += 1
            if is_own:
                self._children[path[-1]] = event.parent_call_id
        elif is_own:
            self._ended.add(path[-1])

    def _count_request(self, event: Event, path: Path) -> None:
        """Count a request once: at the end of its turn, or at its answer if the turn has not ended.

        One without an answer counts, too: it may have been sent before a crash.
        """
        if isinstance(event, ModelRequestEvent) and event.purpose == "answer":
            self._requests += path in self._unanswered
            self._unanswered.add(path)
        elif isinstance(event, TurnEnd | TurnReset) or (
            isinstance(event, ModelResponseEvent) and event.purpose == "answer"
        ):
            self._unanswered.discard(path)
        if isinstance(event, ModelResponseEvent) and event.purpose == "answer":
            self._open_requests[path] = 1
        elif isinstance(event, ModelResponseEvent | TurnEnd | TurnReset):
            self._requests += 1
            if isinstance(event, TurnEnd):
                self._open_requests.pop(path, None)

    def _take_own(self, event: Event) -> None:
        if isinstance(event, TextStart | ReasoningStart | ToolInputStart | TextDeltaEvent | ToolInputEnd):
            self._take_answer(event)
        elif isinstance(event, ToolStart | AskRequest | ToolEnd):
            self._take_call(event)
        elif isinstance(event, ModelResponseEvent) and event.purpose == "answer":
            self._is_complete = self._has_answered = True
        elif isinstance(event, ProviderPartEvent):
            self._parts.append(event)
        elif isinstance(event, UserMessage):  # between two turns
            self._messages += [dict(message) for message in event.content]
        elif isinstance(event, TurnReset):
            self._begin_turn()
        elif isinstance(event, TurnEnd):
            self._commit()
            self._turns += 1
            self._has_answered = False
            self._begin_turn()

    def _take_answer(self, event: Event) -> None:
        self._has_spoken = True
        if isinstance(event, TextDeltaEvent):
            self._pieces.append(event.delta)
        elif isinstance(event, ToolInputEnd):
            call = ToolCall(call_id=event.call_id, name=event.name, arguments=to_text(event.args))
            self._calls.append(call)

    def _take_call(self, event: ToolStart | AskRequest | ToolEnd) -> None:
        self._is_complete = True
        if isinstance(event, ToolStart):
            self._started.add(event.call_id)
        elif isinstance(event, ToolEnd):
            self._results[event.call_id] = result_content(event)
            if event.status != "ok":
                self._failed.add(event.call_id)

    def _commit(self) -> None:
        text = "".join(self._pieces)
        self._text = text or self._text
        if text or self._calls:
            self._messages.append(write_answer(text, self._calls, [asdict(part) for part in self._parts]))
        ended = [call for call in self._calls if call.call_id in self._results]
        self._succeeded = tuple(call for call in ended if call.call_id not in self._failed)
        for call in ended:
            self._messages.append(write_result(call.call_id, self._results[call.call_id]))

    def end(self, keep_partial: bool) -> Replay:
        pending: tuple[ToolCall, ...] = ()
        is_in_turn = bool(self._calls) and self._is_complete
        has_partial = self._has_spoken and not is_in_turn
        if is_in_turn or (keep_partial and has_partial):
            self._commit()
            pending = tuple(call for call in self._calls if call.call_id not in self._results)
        return Replay(
            messages=tuple(self._messages),
            turns=self._turns,
            pending=pending,
            started=frozenset(call.call_id for call in pending if call.call_id in self._started),
            succeeded=self._succeeded,
            text=self._text,
            has_partial=has_partial,
            is_in_turn=is_in_turn,
            open_usage=self._open_usage.get(self._path, Usage()),
            spent=Spent(
                turns=self._turns + self._has_answered,
                calls=self._requests + len(self._open_requests) + len(self._unanswered),
                usage=sum(self._open_usage.values(), self._usage),
                seconds=self._clock.seconds,
                children=len(self._children),
                descendants=self._descendants,
            ),
            children={
                call_id: run_id
                for run_id, call_id in self._children.items()
                if call_id is not None and run_id not in self._ended
            },
        )


class _Clock:
    """Counts the seconds in which the run worked: not while it was dead or a person was asked.

    What happened outside of the run says how long it lived, and when it was taken up again.
    """

    def __init__(self) -> None:
        self.seconds = 0.0
        self._time: float | None = None
        self._last = 0.0
        self._asks: dict[str, tuple[Path, str]] = {}

    def take(self, entry: Entry, *, is_inside: bool) -> None:
        if isinstance(entry.event, RunResume):
            self._count(self._last)
            self._time = None if self._time is None else entry.time
        elif is_inside:
            self._count(entry.time)
            self._time = entry.time
            self._note_asks(entry)
        self._last = entry.time

    def _count(self, until: float) -> None:
        if self._time is not None and not self._asks:
            self.seconds += max(until - self._time, 0.0)  # a clock that was set back adds nothing

    def _note_asks(self, entry: Entry) -> None:
        event, path = entry.event, entry.path
        if isinstance(event, AskRequest) and event.kind != "browser":
            self._asks[event.ask_id] = (path, event.call_id)
        elif isinstance(event, AskAnswer):
            self._asks.pop(event.ask_id, None)
        elif isinstance(event, ToolEnd):
            self._drop(lambda asking, call_id: (asking, call_id) == (path, event.call_id))
        elif isinstance(event, RunEnd):
            self._drop(lambda asking, _: asking[: len(path)] == path)

    def _drop(self, is_over: Callable[[Path, str], bool]) -> None:
        """Forget asks whose call or run has ended."""
        self._asks = {ask_id: place for ask_id, place in self._asks.items() if not is_over(*place)}
