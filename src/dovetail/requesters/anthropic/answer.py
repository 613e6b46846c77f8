"""Read the answers of the Messages API."""

import json
import re
from collections.abc import Mapping
from typing import Any

from dovetail.data.shapes import is_list, is_mapping, read_count
from dovetail.events.delta import (
    Delta,
    ProviderPartDelta,
    ReasoningDelta,
    TextDelta,
    ToolCallDelta,
    Usage,
)
from dovetail.requesters.http.reader import PAUSED, AnswerReader, Complain, expect_text

_REASONS = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool-calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "content-filter",
    "pause_turn": PAUSED,
}
_STATUSES = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
"""The status that each type of error has; in the middle of a stream only the type is sent."""


class MessagesReader(AnswerReader):
    """Read the events of one message.

    Blocks that only Anthropic can read (signed or redacted thinking, the use of its own tools, citations) are
    handed on when they are complete, as they came.
    """

    places = re.compile(r'"text":\s*"')
    reasons = _REASONS
    pauses = True

    def __init__(self, complain: Complain, source: str) -> None:
        super().__init__(complain)
        self._source = source
        self._usage: dict[str, Any] = {}
        self._end: Mapping[str, Any] | None = None
        self._blocks: dict[int, _OpenBlock] = {}
        self._calls = 0
        self._blank: list[int] = []  # calls that ended without a piece of arguments

    def _read_chunk(self, chunk: Mapping[str, Any], deltas: list[Delta]) -> bool:
        kind = chunk.get("type")
        if kind == "content_block_delta":
            return self._read_delta(self._blocks[chunk["index"]], chunk["delta"], deltas)
        if kind == "content_block_start":
            self._begin_block(chunk["index"], chunk["content_block"], deltas)
        elif kind == "content_block_stop":
            self._end_block(chunk["index"], deltas)
        elif kind == "message_start":
            self._read_envelope(chunk["message"])
        elif kind == "message_delta":
            self._end = chunk
            self._read_envelope({**chunk["delta"], "usage": chunk.get("usage")})
            self._settle_blank(deltas)
        elif kind == "message_stop":
            self.done = True
            self._payload = self._end  # the last event says nothing
        elif kind == "error":
            self._raise_error(chunk)
        return False

    def _read_whole(self, answer: Mapping[str, Any], deltas: list[Delta]) -> None:
        if answer.get("type") == "error":
            self._raise_error(answer)
        self._read_envelope(answer)
        for index, block in enumerate(answer["content"]):
            self._begin_block(index, block, deltas)
            self._end_block(index, deltas)
        self._settle_blank(deltas)

    def _read_envelope(self, message: Mapping[str, Any]) -> None:
        if isinstance(model := message.get("model"), str):
            self.model = model
        if is_mapping(usage := message.get("usage")):
            self._usage |= {name: value for name, value in usage.items() if value is not None}
        if reason := message.get("stop_reason"):
            self.reason = str(reason)
        if is_mapping(details := message.get("stop_details")):
            said = (details.get(name) for name in ("category", "explanation"))
            self.explanation = ": ".join(str(part) for part in said if part)

    def _raise_error(self, event: Mapping[str, Any]) -> None:
        error = event.get("error")
        details: Mapping[str, Any] = error if is_mapping(error) else {"message": error}
        kind = str(details.get("type") or "")
        raise self._fail(details.get("message") or kind, _STATUSES.get(kind, 500))

    def _begin_block(self, index: int, content: Mapping[str, Any], deltas: list[Delta]) -> None:
        block = self._blocks[index] = _OpenBlock(content)
        if block.kind == "text":
            block.cites = is_list(content.get("citations"))
            self._read_text(block, content.get("text"), deltas)
        elif block.kind == "thinking":
            self._read_thought(block, content.get("thinking"), deltas)
        elif block.kind == "tool_use":
            block.call, self._calls, self.has_calls = self._calls, self._calls + 1, True
            given = json.dumps(content["input"], ensure_ascii=False) if content.get("input") else ""
            block.pieces.append(given)
            call_id, name = expect_text(content["id"]), expect_text(content["name"])
            deltas.append(ToolCallDelta(block.call, call_id, name, given))

    def _read_delta(self, block: "_OpenBlock", delta: Mapping[str, Any], deltas: list[Delta]) -> bool:
        kind = delta.get("type")
        if kind == "text_delta":
            self._read_text(block, delta["text"], deltas)
            return not block.cites  # the text itself is needed, to send it back with its citations
        if kind == "thinking_delta":
            self._read_thought(block, delta["thinking"], deltas)
        elif kind == "signature_delta":
            block.signature += expect_text(delta["signature"])
        elif kind == "citations_delta":
            block.citations.append(delta["citation"])
        elif kind == "input_json_delta":
            piece = expect_text(delta["partial_json"])
            block.pieces.append(piece)
            if block.call is not None and piece:
                deltas.append(ToolCallDelta(block.call, arguments=piece))
        return False

    def _read_text(self, block: "_OpenBlock", text: Any, deltas: list[Delta]) -> None:
        if text:
            deltas.append(TextDelta(expect_text(text)))
            if block.cites:
                block.pieces.append(text)

    def _read_thought(self, block: "_OpenBlock", text: Any, deltas: list[Delta]) -> None:
        if text:
            deltas.append(ReasoningDelta(expect_text(text)))
            block.pieces.append(text)

    def _end_block(self, index: int, deltas: list[Delta]) -> None:
        block = self._blocks.pop(index)
        if block.call is not None:
            if not any(block.pieces):
                self._blank.append(block.call)
        elif (data := block.build()) is not None:
            deltas.append(ProviderPartDelta(self._source, data))

    def _settle_blank(self, deltas: list[Delta]) -> None:
        """Give calls without arguments an empty object, unless the answer was cut off before they came."""
        is_cut_off = _REASONS.get(self.reason or "") == "length"
        for call in self._blank:
            if not (is_cut_off and call == self._calls - 1):
                deltas.append(ToolCallDelta(call, arguments="{}"))
        self._blank.clear()

    def _read_usage(self) -> Usage:
        usage = self._usage
        read, written = (read_count(usage.get(f"cache_{name}_input_tokens")) for name in ("read", "creation"))
        details = usage.get("output_tokens_details")
        thought = details.get("thinking_tokens") if is_mapping(details) else 0
        return Usage(
            input_tokens=read_count(usage.get("input_tokens")) + read + written,
            output_tokens=read_count(usage.get("output_tokens")),
            cached_tokens=read,
            reasoning_tokens=read_count(thought),
            cache_write_tokens=written,
        )


class _OpenBlock:
    """A block that is not complete yet: `pieces` of its text, thinking or JSON, by its kind."""

    __slots__ = ("call", "citations", "cites", "content", "kind", "pieces", "signature")

    def __init__(self, content: Mapping[str, Any]) -> None:
        self.kind = expect_text(content["type"])
        self.content = content
        self.pieces: list[str] = []
        self.signature = str(content.get("signature") or "")
        given = content.get("citations")
        self.citations: list[Any] = list(given) if is_list(given) else []
        self.cites = False
        self.call: int | None = None  # its place among the calls

    def build(self) -> dict[str, Any] | None:
        """Return the complete block, if the API wants it back as it was."""
        if self.kind == "text":
            if not (self.citations and self.pieces):
                return None
            return {"type": "text", "text": "".join(self.pieces), "citations": self.citations}
        if self.kind == "thinking":
            return {**self.content, "thinking": "".join(self.pieces), "signature": self.signature}
        if not any(self.pieces):
            return dict(self.content)
        try:
            return {**self.content, "input": json.loads("".join(self.pieces))}
        except ValueError:  # cut off at the limit of tokens
            return None
