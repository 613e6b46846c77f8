"""Read the answers of OpenAI-compatible servers."""

import re
from collections.abc import Mapping
from typing import Any

from dovetail.data.shapes import is_list, is_mapping
from dovetail.events.delta import Delta, ReasoningDelta, TextDelta, Usage
from dovetail.requesters.http.reader import AnswerReader, Complain, expect_text
from dovetail.requesters.openai.format import CallPieces, read_usage

_LONGEST_REASON = 100
_REASONS = {
    "stop": "stop",
    "length": "length",
    "content_filter": "content-filter",
    "tool_calls": "tool-calls",
    "function_call": "tool-calls",
}


class ChatReader(AnswerReader):
    """Read the chunks of chat completions."""

    places = re.compile(r'"(?:content|reasoning_content|reasoning)":\s*"')

    def __init__(self, complain: Complain) -> None:
        super().__init__(complain)
        self._calls = CallPieces()
        self._refused = False
        self._usage: Any = None

    def _read_usage(self) -> Usage:
        return read_usage(self._usage)

    def _name_reason(self) -> str:
        if self._refused:
            return "content-filter"
        reason = _REASONS.get(self.reason or "stop", "other")
        return "tool-calls" if reason == "stop" and self._calls.seen else reason

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
            if reason := choice.get("finish_reason"):
                self.reason = str(reason)[:_LONGEST_REASON]
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
        raise self._fail(details.get("message") or error, status)

    def _read_part(self, part: Mapping[str, Any], deltas: list[Delta]) -> None:
        if reasoning := part.get("reasoning_content") or part.get("reasoning"):
            deltas.append(ReasoningDelta(expect_text(reasoning)))
        if content := part.get("content"):
            if isinstance(content, str):
                deltas.append(TextDelta(content))
            else:
                deltas.extend(_read_parts(content))
        if refusal := part.get("refusal"):
            self._refused = True
            deltas.append(TextDelta(expect_text(refusal)))
        if calls := part.get("tool_calls"):
            deltas.extend([self._calls.read(call) for call in calls])


def _read_parts(content: Any) -> list[Delta]:
    """Read content in parts, as some servers send it for reasoning models."""
    deltas: list[Delta] = []
    for part in content if is_list(content) else [{"text": content}]:
        if text := part.get("text"):
            deltas.append(TextDelta(expect_text(text)))
        for thought in part.get("thinking") or ():
            deltas.append(ReasoningDelta(expect_text(thought["text"])))
    return deltas
