"""One turn: a strategy asks the model, and the deltas of its answer become events, text and calls."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Container, Sequence
from contextlib import aclosing
from dataclasses import asdict, dataclass, field
from time import monotonic

from dovetail.errors import ModelError
from dovetail.events.call import ChatMessage, ModelRequest, ToolCall, write_answer
from dovetail.events.delta import (
    Delta,
    FinishDelta,
    ProgressDelta,
    ProviderPartDelta,
    ReasoningDelta,
    RequestTiming,
    TextDelta,
    ToolCallDelta,
)
from dovetail.events.model_events import (
    ModelProgress,
    ProviderPartEvent,
    ReasoningDeltaEvent,
    ReasoningEnd,
    ReasoningStart,
    TextDeltaEvent,
    TextEnd,
    TextStart,
    ToolInputDeltaEvent,
    ToolInputEnd,
    ToolInputStart,
)
from dovetail.events.run_events import Emit, ToolEnd
from dovetail.ids import new_id
from dovetail.loop.judged import stream_judged
from dovetail.requesters.border import clean_deltas
from dovetail.requesters.clock import RequestClock, timed
from dovetail.requesters.requester import Requester
from dovetail.requesters.tracing import describe_finish, request_span
from dovetail.response.result import CUT_OFF
from dovetail.settings.limits import AnswerLimits
from dovetail.tools.tool import CallOutcome
from dovetail.tracing import record

PROGRESS_INTERVAL = 0.25
"""Minimum seconds between two events that say how far the model is."""


@dataclass(slots=True)
class _OpenCall:
    call_id: str
    name: str
    pieces: list[str] = field(default_factory=list[str])


class Turn:
    """Read one answer and keep what has arrived, even if it is interrupted.

    A call whose id is among the `known` ones of the conversation gets a new id: some models number their
    calls from the start in every answer, and a result must belong to exactly one call.
    With `hand_on`, text and reasoning go there as they are and not out as events.
    """

    hand_on: Callable[[TextDelta | ReasoningDelta], None] | None = None

    def __init__(
        self,
        number: int,
        emit: Emit,
        known: Container[str] = frozenset(),
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self.number = number
        self.finish = FinishDelta(reason="interrupted")
        self.timing: RequestTiming | None = None
        self.calls: list[ToolCall] = []
        self.provider_parts: list[ProviderPartEvent] = []
        self._emit = emit
        self._known = known
        self._clock = clock
        self._pieces: list[str] = []
        self._length = 0
        self._open: str | None = None  # "text" or "reasoning": the segment in progress
        self._segment = 0
        self._segment_id = ""
        self._calls: dict[int, _OpenCall] = {}
        self._progress: ProgressDelta | None = None
        self._progress_due = 0.0
        self._call_ids: set[str] = set()

    @property
    def text(self) -> str:
        """The text of the answer so far."""
        return "".join(self._pieces)

    @property
    def message(self) -> ChatMessage:
        """The turn as the assistant's message."""
        return write_answer(self.text, self.calls, [asdict(part) for part in self.provider_parts])

    async def read_answer(
        self, requester: Requester, deltas: AsyncGenerator[Delta, None], sizes: AnswerLimits | None = None
    ) -> None:
        """Read the answer of a model under a span, then close it; it is cut off at its sizes."""
        with timed(requester.model) as clock, request_span(requester) as span:
            try:
                async with aclosing(clean_deltas(deltas, sizes)) as cleaned:
                    await self.read(cleaned, clock)
            finally:
                self.timing = clock.read()
            record(span, describe_finish(self.finish))

    async def read(self, deltas: AsyncIterator[Delta], clock: RequestClock | None = None) -> None:
        """Read the answer to its end; an error is raised after everything open was closed."""
        complete = False
        clock = clock or RequestClock()
        try:
            take = self._take if self.hand_on is None else self._take_or_hand_on
            async for delta in deltas:
                if clock.first is None:
                    clock.note(delta)
                take(delta)
            complete = not self.finish.notice  # the calls of an answer that was cut off are not carried out
        finally:
            self._close_segment()
            self._close_calls(complete)

    def _take(self, delta: Delta) -> None:
        if isinstance(delta, TextDelta):
            self._switch("text")
            self._add_text(delta)
            self._emit(TextDeltaEvent(self._segment_id, delta.text))
        elif isinstance(delta, ReasoningDelta):
            self._switch("reasoning")
            self._emit(ReasoningDeltaEvent(self._segment_id, delta.text))
        elif isinstance(delta, ToolCallDelta):
            self._close_segment()
            self._take_call(delta)
        elif isinstance(delta, ProviderPartDelta):
            self._take_part(delta)
        elif isinstance(delta, ProgressDelta):
            self._take_progress(delta)
        else:
            self.finish = delta

    def _take_part(self, delta: ProviderPartDelta) -> None:
        part = ProviderPartEvent(delta.source, delta.data, self._length, len(self._calls))
        self.provider_parts.append(part)
        self._emit(part)

    def _take_progress(self, delta: ProgressDelta) -> None:
        """Emit how far the model is, at most a few times per second; the end of a phase is always seen."""
        last, now = self._progress, self._clock()
        is_edge = last is None or last.phase != delta.phase or delta.done >= delta.total
        if delta != last and (is_edge or now >= self._progress_due):
            self._progress, self._progress_due = delta, now + PROGRESS_INTERVAL
            self._emit(ModelProgress(delta.phase, delta.done, delta.total))

    def _take_or_hand_on(self, delta: Delta) -> None:
        if self.hand_on is None or not isinstance(delta, TextDelta | ReasoningDelta):
            return self._take(delta)
        if isinstance(delta, TextDelta):
            self._add_text(delta)
        self.hand_on(delta)

    def _add_text(self, delta: TextDelta) -> None:
        self._pieces.append(delta.text)
        self._length += len(delta.text)

    def _take_call(self, delta: ToolCallDelta) -> None:
        call = self._calls.get(delta.index)
        if call is None:
            call = self._calls[delta.index] = _OpenCall(self._choose_id(delta), delta.name or "")
            self._emit(ToolInputStart(call.call_id, call.name))
        elif delta.name and not call.name:
            call.name = delta.name
        if delta.arguments:
            call.pieces.append(delta.arguments)
            self._emit(ToolInputDeltaEvent(call.call_id, delta.arguments))

    def _choose_id(self, delta: ToolCallDelta) -> str:
        """Return the model's id for a call, or a new one if it is missing or already used."""
        given = delta.call_id
        is_new = given and given not in self._known and given not in self._call_ids
        chosen = given if given and is_new else new_id("call")
        self._call_ids.add(chosen)
        return chosen

    def _switch(self, kind: str) -> None:
        if self._open == kind:
            return
        self._close_segment()
        self._open = kind
        self._segment += 1
        identity = self._segment_id = f"{kind}-{self.number}-{self._segment}"
        self._emit(TextStart(identity) if kind == "text" else ReasoningStart(identity))

    def _close_segment(self) -> None:
        if self._open is not None:
            identity = self._segment_id
            self._emit(TextEnd(identity) if self._open == "text" else ReasoningEnd(identity))
            self._open = None

    def _close_calls(self, complete: bool) -> None:
        """Collect complete calls; a call that was interrupted ends at once."""
        last = self._calls[max(self._calls)] if self.finish.reason in CUT_OFF and self._calls else None
        for call in self._calls.values():
            if complete:
                arguments = "".join(call.pieces)
                if call is last and not arguments.strip():
                    arguments = "{"  # none would mean that the call takes none; these were not written
                made = ToolCall(call_id=call.call_id, name=call.name, arguments=arguments)
                self.calls.append(made)
                self._emit(ToolInputEnd(made.call_id, made.name, made.shown_arguments))
            else:
                error = {
                    "type": "interrupted",
                    "message": "The answer was interrupted before the call was complete.",
                }
                self._emit(ToolEnd(call.call_id, "interrupted", None, error))


class ToolStrategy:
    """The usual strategy: the model calls functions; one that cannot is asked in words.

    Strategies of requests (`agent.start`) override both methods.
    """

    async def read_turn(self, turn: Turn, requester: Requester, request: ModelRequest) -> None:
        """Ask the model and read its answer into `turn`."""
        if requester.calls_tools:
            try:
                return await turn.read_answer(requester, requester.stream(request), request.sizes)
            except ModelError:  # a requester notices only now that its model cannot call functions
                if requester.calls_tools or turn.text:
                    raise
        await turn.read_answer(requester, stream_judged(requester, request), request.sizes)

    async def take_outcomes(self, outcomes: Sequence[CallOutcome]) -> None:
        """Take what the calls of a turn returned; the conversation has it already."""
