"""Read the answer of a model's server, streamed or whole: no I/O, one `json` pass per chunk.

However the bytes of a stream are cut, the deltas and their order are the same.
"""

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar, TypeAlias

from dovetail.data.shapes import is_dict
from dovetail.errors import ModelError
from dovetail.events.delta import Delta, FinishDelta, ReasoningDelta, TextDelta, Usage
from dovetail.requesters.errors import REFUSED, REPORTED
from dovetail.requesters.http.events import EventSplitter, TextPattern

DONE = "[DONE]"
MOST_PATTERNS = 10
"""Chunks that are examined for their pattern; a server whose chunks all differ is read without one."""

LARGEST_EVENT = 32_000_000
"""Bytes of one event of a stream, or of an answer that does not stream."""
MOST_CHUNKS = 10_000
"""Chunks in one event; a correct server sends one."""

PAUSED = "pause"
"""The reason of an answer that its provider continues if it is sent back."""

LONGEST_MESSAGE = 1000
"""Characters of a server's message that an error repeats."""

_SPACE = re.compile(r"\s*")
_read_json = json.JSONDecoder().raw_decode
Complain: TypeAlias = Callable[[str, int | None], ModelError]
"""Maker of the error for a failed answer, from what the server did and the status that it sent, if any."""

ReadChunk: TypeAlias = Callable[[Mapping[str, Any], list[Delta]], bool]


class AnswerReader(ABC):
    """Convert the bytes of one answer to deltas.

    A protocol reads its chunks in `_read_chunk` and sets `reason` (of the end), its `explanation` if the
    server sends one, `model`, `has_calls` and `is_refused` as they come.
    `places` matches the keys of a chunk that may hold text: if a chunk differs from the one before only in
    that text, the rest of it is not parsed.
    """

    places: ClassVar[re.Pattern[str]]
    begins: ClassVar[bytes] = b"deri:"
    """The first bytes that a stream may have; any if empty."""
    reasons: ClassVar[Mapping[str, str]] = MappingProxyType({})
    """Our words for the API's reasons why an answer ends."""
    pattern: ClassVar[type[TextPattern]] = TextPattern
    """What is learnt from a chunk with nothing but text."""
    pauses: ClassVar[bool] = False
    """Whether answers may end with the reason `PAUSED`."""

    def __init__(self, complain: Complain) -> None:
        self.done = False
        self.reason: str | None = None
        self.explanation = ""
        self.model = ""
        self.has_text = False
        self.has_calls = False
        self.is_refused = False  # in words of the model
        self._complain = complain
        self._events = EventSplitter()
        self._payload: Mapping[str, Any] | None = None
        self._pattern: TextPattern | None = None
        self._patterns_left = MOST_PATTERNS
        self._skipped = ""  # the last event, when its text alone was read

    @abstractmethod
    def _read_chunk(self, chunk: Mapping[str, Any], deltas: list[Delta]) -> bool:
        """Read a chunk; return whether it has nothing but deltas, as others of its pattern do."""

    @abstractmethod
    def _read_usage(self) -> Usage:
        """Return the usage of the whole answer."""

    def _read_whole(self, answer: Mapping[str, Any], deltas: list[Delta]) -> None:
        """Read an answer that came in one piece; for most protocols it looks like one large chunk."""
        self._read_chunk(answer, deltas)

    def _name_reason(self) -> str:
        """Return why the answer ended, in our words."""
        if self.is_refused:
            return "content-filter"
        reason = self.reasons.get(self.reason, "other") if self.reason else "stop"
        return "tool-calls" if reason == "stop" and self.has_calls else reason

    def feed(self, data: bytes) -> list[Delta]:
        """Return the deltas that these bytes of a stream complete."""
        deltas: list[Delta] = []
        for event in self._events.feed(data):
            pattern = self._pattern
            delta = pattern.read(event) if pattern is not None else None
            if delta is None:
                self._read_event(event, deltas)
            else:
                self._skipped = event
                deltas.append(delta)
        if self._events.waiting > LARGEST_EVENT:
            raise self._refuse(f"an event of the stream is larger than {LARGEST_EVENT} bytes")
        return deltas

    def feed_whole(self, body: bytes) -> list[Delta]:
        """Return the deltas of an answer that came in one piece."""
        deltas: list[Delta] = []
        self._read_event(body.decode("utf-8", "replace").strip(), deltas, self._read_whole_chunk)
        self.done = True
        return deltas

    def end(self) -> list[Delta]:
        """Return the deltas that the end of the stream completes; an incomplete event is dropped."""
        deltas: list[Delta] = []
        for event in self._events.finish():
            if _is_whole(event):
                self._read_event(event, deltas)
        return deltas

    @property
    def is_complete(self) -> bool:
        """Whether the server has ended the answer."""
        return self.done or self.reason is not None

    def finish(self, request_id: str | None = None) -> FinishDelta:
        """Return the delta that ends the answer.

        Raises:
            ModelError: the answer was refused before its first word.
        """
        reason = self._name_reason()
        if reason == "content-filter" and not self.has_text and not self.has_calls:
            said = f"{self.reason}: {self.explanation}" if self.explanation else str(self.reason)
            raise self._complain(f"{REFUSED} ({said[:LONGEST_MESSAGE]})", None)
        payload = self._parse(self._skipped)[0] if self._skipped else self._payload
        return FinishDelta(reason, self._read_usage(), self.model, request_id, payload)

    def _read_event(
        self,
        text: str,
        deltas: list[Delta],
        read: ReadChunk | None = None,
    ) -> None:
        read = read or self._read_chunk
        place, count = 0, 0
        while place < len(text):
            if text.startswith(DONE, place):
                self.done = True
                return
            if count == MOST_CHUNKS:
                raise self._refuse(f"an event of the stream has more than {MOST_CHUNKS} chunks")
            chunk, end = self._parse(text, place)
            known = len(deltas)
            self._payload, self._skipped = chunk, ""
            try:
                is_plain = read(chunk, deltas)
            except (AttributeError, KeyError, IndexError, TypeError, ValueError, RecursionError):
                shown = text[place : place + 200]
                raise self._refuse(f"unexpected chunk {shown!r}") from None
            self.has_text = self.has_text or has_text(deltas[known:])
            if is_plain and len(deltas) == known + 1:
                self._learn(text[place:end], deltas[-1])
            # Servers that forget the blank line between events send several chunks in one.
            place, count = _skip_space(text, end), count + 1

    def _read_whole_chunk(self, answer: Mapping[str, Any], deltas: list[Delta]) -> bool:
        self._read_whole(answer, deltas)
        return False

    def _learn(self, chunk: str, delta: Delta) -> None:
        if self._patterns_left and isinstance(delta, TextDelta | ReasoningDelta):
            self._patterns_left -= 1
            self._pattern = self.pattern.learn(chunk, delta, self.places)

    def _parse(self, text: str, place: int = 0) -> tuple[Mapping[str, Any], int]:
        try:
            value, end = _read_json(text, place)
        except (ValueError, RecursionError):
            shown = text[place : place + 200]
            raise self._refuse(f"invalid JSON {shown!r}") from None
        if not is_dict(value):
            shown = text[place : place + 200]
            raise self._refuse(f"expected a JSON object, got {shown!r}")
        return value, end

    def _fail(self, message: Any, status: int | None = None) -> ModelError:
        """Return the error that the server reports inside its answer."""
        shown = str(message)[:LONGEST_MESSAGE]
        return self._complain(f"{REPORTED}: {shown}", status)

    def _refuse(self, problem: str) -> ModelError:
        return self._complain(f"sent an invalid answer: {problem}", None)


def has_text(deltas: Sequence[Delta]) -> bool:
    """Return whether there is text of the answer among the deltas."""
    return any(isinstance(delta, TextDelta) for delta in deltas)


def expect_text(value: Any) -> str:
    """Return a value that must be text; anything else makes the chunk an unexpected one."""
    if not isinstance(value, str):
        raise TypeError("expected text")
    return value


def _skip_space(text: str, place: int) -> int:
    match = _SPACE.match(text, place)
    return match.end() if match else place


def _is_whole(event: str) -> bool:
    try:
        return event.startswith(DONE) or bool(_read_json(event))
    except (ValueError, RecursionError):
        return False
