"""Read the answers of OpenAI-compatible servers, streamed or whole: no I/O, one `json` pass per chunk.

However the bytes of a stream are cut, the deltas and their order are the same.
"""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from dovetail.data.shapes import is_dict, is_list, is_mapping
from dovetail.errors import ModelError
from dovetail.events.delta import Delta, FinishDelta, ReasoningDelta, TextDelta
from dovetail.requesters.openai.format import CallPieces, read_usage

DONE = "[DONE]"
MOST_PATTERNS = 10
"""Chunks that are examined for their pattern; a server whose chunks all differ is read without one."""

LARGEST_EVENT = 32_000_000
"""Bytes of one event of a stream, or of an answer that does not stream."""
MOST_CHUNKS = 10_000
"""Chunks in one event; a correct server sends one."""

_LONGEST_MESSAGE = 1000
_LONGEST_REASON = 100
_REASONS = {
    "stop": "stop",
    "length": "length",
    "content_filter": "content-filter",
    "tool_calls": "tool-calls",
    "function_call": "tool-calls",
}
_SPACE = re.compile(r"\s*")
_PLACE = re.compile(r'"(?:content|reasoning_content|reasoning)":\s*"')
_read_json = json.JSONDecoder().raw_decode
Complain: TypeAlias = Callable[[str, int | None], ModelError]
"""Maker of the error for a failed answer, from what the server did and the status that it sent, if any."""


class AnswerReader:
    """Convert the bytes of one answer to deltas."""

    def __init__(self, complain: Complain) -> None:
        self.done = False
        self._complain = complain
        self._events = EventSplitter()
        self._calls = CallPieces()
        self._reason: str | None = None
        self._refused = False
        self._usage: Any = None
        self._payload: Mapping[str, Any] | None = None
        self._pattern: TextPattern | None = None
        self._patterns_left = MOST_PATTERNS
        self._skipped = ""  # the last event, when its text alone was read

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
        self._read_event(body.decode("utf-8", "replace").strip(), deltas)
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
        return self.done or self._reason is not None

    def finish(self, request_id: str | None = None) -> FinishDelta:
        """Return the delta that ends the answer."""
        payload = self._parse(self._skipped)[0] if self._skipped else self._payload
        model = (payload or {}).get("model")
        named = model if isinstance(model, str) else ""
        return FinishDelta(self._name_reason(), read_usage(self._usage), named, request_id, payload)

    def _name_reason(self) -> str:
        if self._refused:
            return "content-filter"
        reason = _REASONS.get(self._reason or "stop", "other")
        return "tool-calls" if reason == "stop" and self._calls.seen else reason

    def _read_event(self, text: str, deltas: list[Delta]) -> None:
        place, count = 0, 0
        while place < len(text):
            if text.startswith(DONE, place):
                self.done = True
                return
            if count == MOST_CHUNKS:
                raise self._refuse(f"an event of the stream has more than {MOST_CHUNKS} chunks")
            chunk, end = self._parse(text, place)
            known = len(deltas)
            try:
                is_plain = self._read_chunk(chunk, deltas)
            except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
                shown = text[place : place + 200]
                raise self._refuse(f"unexpected chunk {shown!r}") from None
            if is_plain and len(deltas) == known + 1:
                self._learn(text[place:end], deltas[-1])
            # Servers that forget the blank line between events send several chunks in one.
            place, count = _skip_space(text, end), count + 1

    def _learn(self, chunk: str, delta: Delta) -> None:
        if self._patterns_left and isinstance(delta, TextDelta | ReasoningDelta):
            self._patterns_left -= 1
            self._pattern = TextPattern.learn(chunk, delta)

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

    def _read_chunk(self, chunk: Mapping[str, Any], deltas: list[Delta]) -> bool:
        """Read a chunk; return whether it has nothing but deltas, as others of its pattern do."""
        is_plain = True
        self._payload, self._skipped = chunk, ""
        choices = chunk.get("choices")
        if not choices or "error" in chunk:
            self._look_for_error(chunk)
        for choice in choices or ():
            if choice.get("index"):
                continue  # of several answers (`n`) the first one counts
            part = choice.get("delta") or choice.get("message")
            if part:
                self._read_part(part, deltas)
            if reason := choice.get("finish_reason"):
                self._reason = str(reason)[:_LONGEST_REASON]
                is_plain = False
        if usage := chunk.get("usage"):
            self._usage = usage
            is_plain = False
        return is_plain

    def _look_for_error(self, chunk: Mapping[str, Any]) -> None:
        error = chunk.get("error") or (chunk if chunk.get("object") == "error" else None)
        if not error:
            return
        details = error if is_mapping(error) else {"message": error}
        code = details.get("code")
        status = code if type(code) is int and 100 <= code < 600 else None
        message = str(details.get("message") or error)[:_LONGEST_MESSAGE]
        raise self._complain(f"reported an error while answering: {message}", status)

    def _refuse(self, problem: str) -> ModelError:
        return self._complain(f"sent an invalid answer: {problem}", None)

    def _read_part(self, part: Mapping[str, Any], deltas: list[Delta]) -> None:
        if reasoning := part.get("reasoning_content") or part.get("reasoning"):
            deltas.append(ReasoningDelta(_expect_text(reasoning)))
        if content := part.get("content"):
            if isinstance(content, str):
                deltas.append(TextDelta(content))
            else:
                deltas.extend(_read_parts(content))
        if refusal := part.get("refusal"):
            self._refused = True
            deltas.append(TextDelta(_expect_text(refusal)))
        if calls := part.get("tool_calls"):
            deltas.extend([self._calls.read(call) for call in calls])


def _skip_space(text: str, place: int) -> int:
    match = _SPACE.match(text, place)
    return match.end() if match else place


def _is_whole(event: str) -> bool:
    try:
        return event.startswith(DONE) or bool(_read_json(event))
    except (ValueError, RecursionError):
        return False


def _read_parts(content: Any) -> list[Delta]:
    """Read content in parts, as some servers send it for reasoning models."""
    deltas: list[Delta] = []
    for part in content if is_list(content) else [{"text": content}]:
        if text := part.get("text"):
            deltas.append(TextDelta(_expect_text(text)))
        for thought in part.get("thinking") or ():
            deltas.append(ReasoningDelta(_expect_text(thought["text"])))
    return deltas


def _expect_text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("expected text")
    return value


class EventSplitter:
    """Split bytes, cut anywhere, into server-sent events and return the `data` of complete ones."""

    __slots__ = ("_ends_with_return", "_pieces", "waiting")

    def __init__(self) -> None:
        self.waiting = 0  # bytes of an event that is not complete yet
        self._pieces: list[bytes] = []
        self._ends_with_return = False

    def feed(self, data: bytes) -> list[str]:
        """Return the data of the events that these bytes complete."""
        if b"\r" in data or self._ends_with_return:
            data = self._unify_newlines(data)
        if not self._pieces and data.endswith(b"\n\n") and data.find(b"\n\n") == len(data) - 2:
            return _read_block(data[:-2])  # one event in one piece, as most of them come
        self._pieces.append(data)
        self.waiting += len(data)
        if b"\n" not in data:
            return []  # only a newline completes an event: what has none is joined once, later
        *blocks, rest = b"".join(self._pieces).split(b"\n\n")
        self._pieces, self.waiting = [rest] if rest else [], len(rest)
        return [text for block in blocks for text in _read_block(block)]

    def finish(self) -> list[str]:
        """Return the data of an event that the end of the stream completes."""
        block = b"".join(self._pieces)
        self._pieces = []
        return _read_block(block)

    def _unify_newlines(self, data: bytes) -> bytes:
        if self._ends_with_return:
            # The carriage return has already ended its line; the newline that follows belongs to it.
            data = data.removeprefix(b"\n")
        self._ends_with_return = data.endswith(b"\r")
        return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def _read_block(block: bytes) -> list[str]:
    if block.startswith(b"data: ") and b"\n" not in block:
        return [block[6:].decode("utf-8", "replace").lstrip()]
    lines = [line for line in block.decode("utf-8", "replace").split("\n") if line.startswith("data:")]
    return ["\n".join(line[5:].lstrip() for line in lines)] if lines else []


class TextPattern:
    """A chunk around its one text; chunks with the same beginning and end differ only in that text."""

    __slots__ = ("_begin", "_end", "_kind", "_place")

    def __init__(self, chunk: str, delta: TextDelta | ReasoningDelta, place: int, end: int) -> None:
        self._kind = type(delta)
        self._place = place  # of the text's opening quote
        self._begin = chunk[: place + 1]
        self._end = chunk[end:]

    @classmethod
    def learn(cls, chunk: str, delta: TextDelta | ReasoningDelta) -> "TextPattern | None":
        """Return the pattern of a chunk whose only content is this delta; None if its place is ambiguous."""
        quotes = (match.end() - 1 for match in _PLACE.finditer(chunk))
        texts = [(place, *_read_json(chunk, place)) for place in quotes]
        fitting = [(place, end) for place, text, end in texts if text == delta.text]
        return cls(chunk, delta, *fitting[0]) if len(fitting) == 1 else None

    def read(self, chunk: str) -> TextDelta | ReasoningDelta | None:
        """Return the delta of a chunk of this pattern; None for any other chunk."""
        if not chunk.startswith(self._begin) or not chunk.endswith(self._end):
            return None
        try:
            text, end = _read_json(chunk, self._place)
        except ValueError:
            return None
        return self._kind(text) if text and end + len(self._end) == len(chunk) else None
