"""Read Gemini's answers: candidates with parts, streamed in pieces or whole."""

import json
import re
from collections.abc import Mapping
from typing import Any

from dovetail.data.shapes import is_mapping, read_count
from dovetail.errors import ModelError
from dovetail.events.delta import (
    Delta,
    ProviderPartDelta,
    ReasoningDelta,
    TextDelta,
    ToolCallDelta,
    Usage,
)
from dovetail.ids import new_id
from dovetail.requesters.errors import REFUSED, Failures
from dovetail.requesters.google.contents import SOURCE
from dovetail.requesters.http.events import TextPattern
from dovetail.requesters.http.reader import LONGEST_MESSAGE, AnswerReader, expect_text

_LONGEST_REASON = 100
_REASONS = {
    "STOP": "stop",
    "FUNCTION_CALL": "tool-calls",
    "MAX_TOKENS": "length",
    "SAFETY": "content-filter",
    "RECITATION": "content-filter",
    "LANGUAGE": "content-filter",
    "BLOCKLIST": "content-filter",
    "PROHIBITED_CONTENT": "content-filter",
    "SPII": "content-filter",
    "IMAGE_SAFETY": "content-filter",
    "IMAGE_PROHIBITED_CONTENT": "content-filter",
    "IMAGE_RECITATION": "content-filter",
}
_FAULTY = {"MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "MALFORMED_RESPONSE"}
"""Ends of an answer that the model has spoiled; another attempt often succeeds."""
_METADATA = ("groundingMetadata", "urlContextMetadata", "citationMetadata")
_NAMED = {"text", "thought", "functionCall"}
_read_json = json.JSONDecoder().raw_decode


class CountedPattern(TextPattern):
    """A chunk around its one text and around the tokens counted so far, which change in every chunk."""

    __slots__ = ("_middle", "_tail")

    def __init__(self, chunk: str, delta: TextDelta | ReasoningDelta, place: int, end: int) -> None:
        super().__init__(chunk, delta, place, end)
        counts = re.compile(r'"usageMetadata":\s*').search(chunk, end)
        self._middle = chunk[end : counts.end()] if counts else ""
        self._tail = chunk[_read_json(chunk, counts.end())[1] :] if counts else ""

    def read(self, chunk: str) -> TextDelta | ReasoningDelta | None:
        """Return the delta of a chunk of this pattern; None for any other chunk."""
        if not self._middle:
            return super().read(chunk)
        if not chunk.startswith(self._begin) or not chunk.endswith(self._tail):
            return None
        try:
            text, end = _read_json(chunk, self._place)
        except ValueError:
            return None
        return self._kind(text) if text and chunk.startswith(self._middle, end) else None


class GoogleReader(AnswerReader):
    """Read the chunks of `generateContent` and `streamGenerateContent`."""

    places = re.compile(r'"text":\s*"')
    reasons = _REASONS
    pattern = CountedPattern

    def __init__(self, failures: Failures) -> None:
        super().__init__(failures.fail_answer)
        self._failures = failures
        self._usage: dict[str, Any] = {}
        self._metadata: dict[str, Any] = {}
        self._calls = 0

    def _read_usage(self) -> Usage:
        thoughts = self._count("thoughtsTokenCount")
        return Usage(
            input_tokens=self._count("promptTokenCount") + self._count("toolUsePromptTokenCount"),
            output_tokens=self._count("candidatesTokenCount") + thoughts,
            cached_tokens=self._count("cachedContentTokenCount"),
            reasoning_tokens=thoughts,
        )

    def _count(self, name: str) -> int:
        return read_count(self._usage.get(name))

    def _read_chunk(self, chunk: Mapping[str, Any], deltas: list[Delta]) -> bool:
        if "error" in chunk:
            raise self._read_error(chunk["error"])
        if usage := chunk.get("usageMetadata"):
            self._usage.update(usage)
        if isinstance(model := chunk.get("modelVersion"), str):
            self.model = model
        is_plain = True
        for candidate in chunk.get("candidates") or ():
            if not candidate.get("index"):  # of several answers the first one counts
                is_plain = self._read_candidate(candidate, deltas)
        feedback: Mapping[str, Any] = chunk.get("promptFeedback") or {}
        if blocked := feedback.get("blockReason"):
            raise self._complain(f"{REFUSED}: it blocked the prompt ({_shorten(blocked)})", None)
        return is_plain

    def _read_error(self, error: Any) -> ModelError:
        details = error if is_mapping(error) else {"message": error}
        code = details.get("code")
        return self._fail(details.get("message") or error, code if type(code) is int else None)

    def _read_candidate(self, candidate: Mapping[str, Any], deltas: list[Delta]) -> bool:
        content: Mapping[str, Any] = candidate.get("content") or {}
        for part in content.get("parts") or ():
            self._read_part(part, deltas)
        for name in _METADATA:
            if found := candidate.get(name):
                self._metadata[name] = found
        reason = candidate.get("finishReason")
        if not reason:
            return not self._metadata
        self.reason = _shorten(reason)
        self._check_end(candidate)
        if self._metadata:
            deltas.append(self._keep("metadata", **self._metadata))
        return False

    def _check_end(self, candidate: Mapping[str, Any]) -> None:
        """Raise the error of an answer that the model has spoiled."""
        self.explanation = str(candidate.get("finishMessage") or "")[:LONGEST_MESSAGE]
        if self.reason in _FAULTY:
            said = f"{self.reason}: {self.explanation}" if self.explanation else self.reason
            raise self._failures.fail_transient(
                f"{self._failures.where} made an invalid function call ({said})",
                hint="Try again; simpler tool parameters, or a larger model, make it rarer.",
            )

    def _read_part(self, part: Mapping[str, Any], deltas: list[Delta]) -> None:
        fields = {name: value for name, value in part.items() if name not in _NAMED}
        if "functionCall" in part:
            self._read_call(part["functionCall"], fields, deltas)
        elif "text" not in part:
            deltas.append(self._keep("part", part=part))
        else:
            self._read_text(expect_text(part["text"]), part, fields, deltas)

    def _read_text(
        self, text: str, part: Mapping[str, Any], fields: Mapping[str, Any], deltas: list[Delta]
    ) -> None:
        is_thought = bool(part.get("thought"))
        if fields and (is_thought or not text):
            deltas.append(self._keep("part", part=part))
        elif fields:
            deltas.append(self._keep("text", length=len(text), fields=fields))
        if text:
            deltas.append(ReasoningDelta(text) if is_thought else TextDelta(text))

    def _read_call(self, call: Mapping[str, Any], fields: Mapping[str, Any], deltas: list[Delta]) -> None:
        if fields:
            deltas.append(self._keep("call", fields=fields))
        arguments = json.dumps(call.get("args") or {}, ensure_ascii=False)
        call_id = str(call.get("id") or new_id("call"))
        deltas.append(ToolCallDelta(self._calls, call_id, expect_text(call["name"]), arguments))
        self._calls += 1
        self.has_calls = True

    def _keep(self, kind: str, **data: Any) -> ProviderPartDelta:
        model = self.model or self._failures.model
        return ProviderPartDelta(SOURCE, {"kind": kind, "model": model, **data})


def _shorten(reason: Any) -> str:
    return str(reason)[:_LONGEST_REASON]
