"""Read the answers of the Converse API, streamed as binary messages or whole."""

import base64
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dovetail.data.shapes import read_count
from dovetail.events.delta import Delta, ProviderPartDelta, ReasoningDelta, TextDelta, ToolCallDelta, Usage
from dovetail.requesters.bedrock.event_stream import Frame, FrameError, FrameSplitter
from dovetail.requesters.http.reader import AnswerReader, Complain, expect_text

_REASONS = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool-calls",
    "content_filtered": "content-filter",
    "guardrail_intervened": "content-filter",
}
_STATUSES = {
    "internalServerException": 500,
    "modelStreamErrorException": 500,  # its own status is 424, but AWS advises to try again
    "modelTimeoutException": 408,
    "serviceUnavailableException": 503,
    "throttlingException": 429,
    "validationException": 400,
}


@dataclass(slots=True)
class _Reasoning:
    """A block of reasoning while it arrives."""

    text: str = ""
    signature: str = ""
    redacted: bytes = b""

    def build(self) -> dict[str, Any] | None:
        """Return the block as the API wants it back; None if it does not want it."""
        if self.redacted:
            return {"redactedContent": base64.b64encode(self.redacted).decode("ascii")}
        if self.signature:
            return {"reasoningText": {"text": self.text, "signature": self.signature}}
        return None


@dataclass(slots=True)
class _Blocks:
    """The blocks of an answer that are not text, by their number."""

    calls: dict[int, int] = field(default_factory=dict[int, int])
    reasoning: dict[int, _Reasoning] = field(default_factory=dict[int, _Reasoning])


class ConverseReader(AnswerReader):
    """Read the events of `converse-stream`, or the answer of `converse`."""

    places = re.compile(r"(?!)")  # every event has some padding, so no two of them are alike
    begins = b""
    reasons = _REASONS

    def __init__(self, complain: Complain, source: str, model: str) -> None:
        super().__init__(complain)
        self.model = model
        self._source = source
        self._frames = FrameSplitter()
        self._blocks = _Blocks()
        self._usage: Mapping[str, Any] = {}

    def feed(self, data: bytes) -> list[Delta]:
        """Return the deltas that these bytes of a stream complete."""
        deltas: list[Delta] = []
        try:
            for frame in self._frames.feed(data):
                self._read_frame(frame, deltas)
        except FrameError as error:
            raise self._refuse(str(error)) from None
        return deltas

    def end(self) -> list[Delta]:
        """Return nothing: an incomplete message is dropped."""
        return []

    def _read_frame(self, frame: Frame, deltas: list[Delta]) -> None:
        kind = frame.headers.get(":message-type")
        if kind == "error":
            raise self._fail(frame.headers.get(":error-message") or frame.headers.get(":error-code"))
        name = frame.headers.get(":event-type" if kind == "event" else ":exception-type", "")
        text = frame.payload.decode("utf-8", "replace") or "{}"
        self._read_event(text, deltas, lambda chunk, found: self._read_named(name, chunk, found))

    def _read_named(self, name: str, event: Mapping[str, Any], deltas: list[Delta]) -> bool:
        if name.endswith("Exception"):
            status = event.get("originalStatusCode") or _STATUSES.get(name)
            raise self._fail(event.get("message") or name, status if isinstance(status, int) else None)
        return self._read_chunk({name: event}, deltas)

    def _read_chunk(self, chunk: Mapping[str, Any], deltas: list[Delta]) -> bool:
        ((name, event),) = chunk.items()
        if name == "contentBlockDelta":
            self._read_delta(event["contentBlockIndex"], event["delta"], deltas)
        elif name == "contentBlockStart":
            self._start_block(event["contentBlockIndex"], event.get("start") or {}, deltas)
        elif name == "contentBlockStop":
            self._end_block(event["contentBlockIndex"], deltas)
        elif name == "messageStop":
            self.reason = str(event["stopReason"])
        elif name == "metadata":
            self._usage = event.get("usage") or {}
            self.done = self.reason is not None
        return False

    def _start_block(self, number: int, start: Mapping[str, Any], deltas: list[Delta]) -> None:
        call = start.get("toolUse")
        if call and call.get("type") != "server_tool_use":  # a tool that AWS runs is not ours to run
            index = self._blocks.calls[number] = len(self._blocks.calls)
            self.has_calls = True
            deltas.append(ToolCallDelta(index, expect_text(call["toolUseId"]), expect_text(call["name"])))

    def _read_delta(self, number: int, delta: Mapping[str, Any], deltas: list[Delta]) -> None:
        if text := delta.get("text"):
            deltas.append(TextDelta(expect_text(text)))
        elif call := delta.get("toolUse"):
            if number in self._blocks.calls and call.get("input"):
                deltas.append(ToolCallDelta(self._blocks.calls[number], arguments=expect_text(call["input"])))
        elif reasoning := delta.get("reasoningContent"):
            self._read_reasoning(number, reasoning, deltas)

    def _read_reasoning(self, number: int, piece: Mapping[str, Any], deltas: list[Delta]) -> None:
        block = self._blocks.reasoning.setdefault(number, _Reasoning())
        block.signature += expect_text(piece.get("signature") or "")
        block.redacted += base64.b64decode(piece.get("redactedContent") or b"")
        if text := expect_text(piece.get("text") or ""):
            block.text += text
            deltas.append(ReasoningDelta(text))

    def _end_block(self, number: int, deltas: list[Delta]) -> None:
        block = self._blocks.reasoning.pop(number, None)
        data = None if block is None else block.build()
        if data is not None:
            deltas.append(ProviderPartDelta(self._source, data))

    def _read_whole(self, answer: Mapping[str, Any], deltas: list[Delta]) -> None:
        for number, block in enumerate(answer["output"]["message"]["content"]):
            self._read_block(number, block, deltas)
        self.reason = str(answer["stopReason"])
        self._usage = answer.get("usage") or {}

    def _read_block(self, number: int, block: Mapping[str, Any], deltas: list[Delta]) -> None:
        if call := block.get("toolUse"):
            self._start_block(number, block, deltas)
            if number in self._blocks.calls:
                arguments = json.dumps(call["input"], ensure_ascii=False)
                deltas.append(ToolCallDelta(self._blocks.calls[number], arguments=arguments))
        elif reasoning := block.get("reasoningContent"):
            piece: dict[str, Any] = {**reasoning, **(reasoning.get("reasoningText") or {})}
            self._read_reasoning(number, piece, deltas)
            self._end_block(number, deltas)
        else:
            self._read_delta(number, block, deltas)

    def _read_usage(self) -> Usage:
        read, written = (
            read_count(self._usage.get(name)) for name in ("cacheReadInputTokens", "cacheWriteInputTokens")
        )
        return Usage(
            input_tokens=read_count(self._usage.get("inputTokens")) + read + written,
            output_tokens=read_count(self._usage.get("outputTokens")),
            cached_tokens=read,
            cache_write_tokens=written,
        )
