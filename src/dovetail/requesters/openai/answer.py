"""Read the answers of OpenAI-compatible servers.

What they think is shown while it arrives, and kept as one provider part, so that it can go back.
"""

import re
from collections.abc import Mapping
from typing import Any

from dovetail.data.shapes import is_list, is_mapping
from dovetail.events.delta import Delta, ProviderPartDelta, ReasoningDelta, TextDelta, Usage
from dovetail.requesters.http.events import TextPattern
from dovetail.requesters.http.reader import AnswerReader, Complain, expect_text
from dovetail.requesters.openai.format import STATUSES, CallPieces, read_usage
from dovetail.requesters.openai.reasoning import IN_CONTENT, THOUGHT_FIELDS, KeptTags, Thoughts

_REASONS = {
    "stop": "stop",
    "length": "length",
    "max_tokens": "length",
    "content_filter": "content-filter",
    "tool_calls": "tool-calls",
    "function_call": "tool-calls",
}


class _ThoughtPattern(TextPattern):
    """A pattern of chunks with reasoning, which is collected."""

    __slots__ = ("kept",)
    kept: list[str]

    def read(self, chunk: str) -> TextDelta | ReasoningDelta | None:
        delta = super().read(chunk)
        if delta is not None:
            self.kept.append(delta.text)
        return delta


class ChatReader(AnswerReader):
    """Read the chunks of chat completions; `source` is the provider in the parts that it makes."""

    places = re.compile(r'"(?:content|reasoning_content|reasoning)":\s*"')
    reasons = _REASONS

    def __init__(self, complain: Complain, source: str = "openai") -> None:
        super().__init__(complain)
        self._source = source
        self._thoughts = Thoughts(source)
        self._calls = CallPieces()
        self._usage: Any = None

    def _read_usage(self) -> Usage:
        return read_usage(self._usage)

    def _read_chunk(self, chunk: Mapping[str, Any], deltas: list[Delta]) -> bool:
        is_plain = True
        choices = chunk.get("choices")
        if not choices or "error" in chunk:
            self._look_for_error(chunk)
        if isinstance(model := chunk.get("model"), str):
            self.model = model
        for choice in choices or ():
            if choice.get("index"):
                continue  # of several answers (`n`) the first one counts
            part = choice.get("delta") or choice.get("message")
            if part:
                self._read_part(part, deltas)
                is_plain = "reasoning_details" not in part
            if reason := choice.get("finish_reason"):
                self.reason = str(reason)
                deltas.extend(self._thoughts.take())
                is_plain = False
        if usage := chunk.get("usage"):
            self._usage = usage
            is_plain = False
        return is_plain

    def _learn(self, chunk: str, delta: Delta) -> None:
        if not isinstance(delta, ReasoningDelta):
            super()._learn(chunk, delta)
        elif self._patterns_left:
            self._patterns_left -= 1
            self._pattern = pattern = _ThoughtPattern.learn(chunk, delta, self.places)
            if pattern is not None:
                pattern.kept = self._thoughts.pieces

    def _look_for_error(self, chunk: Mapping[str, Any]) -> None:
        error = chunk.get("error") or (chunk if chunk.get("object") == "error" else None)
        if not error:
            return
        details = error if is_mapping(error) else {"message": error}
        status = _read_status(details.get("code")) or _read_status(details.get("type"))
        raise self._fail(details.get("message") or error, status)

    def _read_part(self, part: Mapping[str, Any], deltas: list[Delta]) -> None:
        for field in THOUGHT_FIELDS:
            if thought := part.get(field):
                self._think(field, expect_text(thought), deltas)
                break
        if is_list(details := part.get("reasoning_details")):
            self._thoughts.add_details([detail for detail in details if is_mapping(detail)])
        if content := part.get("content"):
            self._read_content(content, deltas)
        if refusal := part.get("refusal"):
            self.is_refused = True
            deltas.append(TextDelta(expect_text(refusal)))
        if calls := part.get("tool_calls"):
            deltas.extend(self._thoughts.take())
            for call in calls:
                self._read_call(call, deltas)

    def _read_content(self, content: Any, deltas: list[Delta]) -> None:
        if isinstance(content, str):
            deltas.extend(self._thoughts.take())
            deltas.append(TextDelta(content))
            return
        for part in content if is_list(content) else [{"text": content}]:
            if text := part.get("text"):
                deltas.extend(self._thoughts.take())
                deltas.append(TextDelta(expect_text(text)))
            for thought in part.get("thinking") or ():
                self._think(IN_CONTENT, expect_text(thought["text"]), deltas)

    def _read_call(self, call: Mapping[str, Any], deltas: list[Delta]) -> None:
        """Read a piece of a call; what stands next to it, as Gemini's signature does, precedes it."""
        if is_mapping(extra := call.get("extra_content")) and self._source:
            deltas.append(ProviderPartDelta(self._source, {"extra_content": extra}))
        self.has_calls = True
        deltas.append(self._calls.read(call))

    def _think(self, field: str, text: str, deltas: list[Delta]) -> None:
        self._thoughts.add(field, text)
        deltas.append(ReasoningDelta(text))


def _read_status(code: Any) -> int | None:
    """Return the status that the code of an error is, or stands for."""
    if isinstance(code, str):
        return STATUSES.get(code)
    return code if type(code) is int and 100 <= code < 600 else None


class TaggedChatReader(ChatReader):
    """Read chat completions with `<think>` tags, whose reasoning goes back to the server in them."""

    def __init__(self, complain: Complain, source: str = "openai") -> None:
        super().__init__(complain, source)
        self._tags = KeptTags(self._thoughts)

    def feed(self, data: bytes) -> list[Delta]:
        """Return the deltas that these bytes of a stream complete."""
        return self._split(super().feed(data))

    def feed_whole(self, body: bytes) -> list[Delta]:
        """Return the deltas of an answer that came in one piece."""
        return self._split(super().feed_whole(body))

    def end(self) -> list[Delta]:
        """Return the deltas that the end of the stream completes."""
        return self._split(super().end())

    def _split(self, deltas: list[Delta]) -> list[Delta]:
        if self._tags.is_over:
            return deltas
        split = self._tags.split(deltas)
        return [*split, *self._tags.release()] if self.is_complete else split
