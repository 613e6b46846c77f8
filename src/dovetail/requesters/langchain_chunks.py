"""Reads the message chunks of LangChain chat models, and writes history that they accept."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dovetail.data.numbers import read_count
from dovetail.messages.delta import Delta, FinishDelta, ReasoningDelta, TextDelta, Usage
from dovetail.requesters.openai_calls import CallPieces
from dovetail.requesters.prices import Price

_REASONS = {
    "stop": "stop",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "length": "length",
    "max_tokens": "length",
    "content_filter": "content-filter",
    "refusal": "content-filter",
    "safety": "content-filter",
    "tool_calls": "tool-calls",
    "tool_use": "tool-calls",
    "function_call": "tool-calls",
}
_REASON_NAMES = ("finish_reason", "stop_reason", "done_reason", "stopReason")


class ChunkReader:
    """Turns message chunks into deltas; usage is added up, since some models send it in parts."""

    def __init__(self, price: Price | None = None) -> None:
        self._price = price
        self._calls = CallPieces()
        self._usage = Usage()
        self._metadata: dict[str, Any] = {}
        self._request_id: str | None = None

    def read(self, chunk: Any) -> Iterator[Delta]:
        """The deltas of one `AIMessageChunk`, or of a whole `AIMessage`."""
        self._request_id = self._request_id or chunk.id
        self._metadata.update(chunk.response_metadata)
        if chunk.usage_metadata:
            self._usage += read_usage(chunk.usage_metadata)
        if reasoning := chunk.additional_kwargs.get("reasoning_content"):
            yield ReasoningDelta(reasoning)
        if isinstance(chunk.content, str):
            if chunk.content:
                yield TextDelta(chunk.content)
        else:
            yield from _read_blocks(chunk.content)
        yield from (self._calls.read(piece) for piece in _list_calls(chunk))

    def finish(self) -> FinishDelta:
        """The delta that ends the answer."""
        known = (str(self._metadata[name]) for name in _REASON_NAMES if self._metadata.get(name))
        reason = _REASONS.get(next(known, "stop").lower(), "other")
        if reason == "stop" and self._calls.seen:
            reason = "tool-calls"
        usage = self._usage if self._price is None else self._price.apply(self._usage)
        model = str(self._metadata.get("model_name") or self._metadata.get("model") or "")
        return FinishDelta(reason, usage, model, self._request_id, dict(self._metadata))


def read_usage(usage: Mapping[str, Any]) -> Usage:
    """Token counts in LangChain's shape."""
    inputs: Mapping[str, Any] = usage.get("input_token_details") or {}
    outputs: Mapping[str, Any] = usage.get("output_token_details") or {}
    return Usage(
        input_tokens=read_count(usage.get("input_tokens")),
        output_tokens=read_count(usage.get("output_tokens")),
        cached_tokens=read_count(inputs.get("cache_read")),
        reasoning_tokens=read_count(outputs.get("reasoning")),
    )


def repair_arguments(messages: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Messages whose calls have arguments that can be read: LangChain refuses a history with broken JSON."""
    return [
        {**message, "tool_calls": [_repair_call(call) for call in message["tool_calls"]]}
        if message.get("tool_calls")
        else message
        for message in messages
    ]


def _repair_call(call: Mapping[str, Any]) -> Mapping[str, Any]:
    try:
        json.loads(call["function"]["arguments"], strict=False)
    except ValueError:
        return {**call, "function": {**call["function"], "arguments": "{}"}}
    return call


def _read_blocks(blocks: Sequence[Any]) -> Iterator[Delta]:
    for block in blocks:
        if isinstance(block, str):
            yield TextDelta(block)
        elif text := block.get("text"):
            yield TextDelta(text)
        elif thought := block.get("thinking") or block.get("reasoning"):
            yield ReasoningDelta(thought)


def _list_calls(chunk: Any) -> Iterator[dict[str, Any]]:
    """The pieces of calls, in the shape that OpenAI-compatible servers send them."""
    pieces = getattr(chunk, "tool_call_chunks", None)
    for piece in chunk.tool_calls if pieces is None else pieces:
        function = {"name": piece["name"], "arguments": piece["args"]}
        yield {"index": piece.get("index"), "id": piece["id"], "function": function}
