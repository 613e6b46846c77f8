"""Answers of the Messages API as bytes, for what the mock provider cannot express."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

START: dict[str, Any] = {
    "type": "message_start",
    "message": {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-5-20250929",
        "content": [],
        "stop_reason": None,
        "usage": {
            "input_tokens": 10,
            "cache_creation_input_tokens": 100,
            "cache_read_input_tokens": 1000,
            "output_tokens": 1,
        },
    },
}
"""The event that begins an answer."""


def encode(*events: Mapping[str, Any]) -> bytes:
    """Return events as the bytes of a stream."""
    return b"".join(
        f"event: {event['type']}\ndata: {json.dumps(event, ensure_ascii=False)}\n\n".encode()
        for event in events
    )


def begin(index: int, **block: Any) -> dict[str, Any]:
    """The event that begins a block."""
    return {"type": "content_block_start", "index": index, "content_block": block}


def more(index: int, kind: str, **delta: Any) -> dict[str, Any]:
    """An event with more of a block."""
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **delta}}


def stop(index: int) -> dict[str, Any]:
    """The event that ends a block."""
    return {"type": "content_block_stop", "index": index}


def end(reason: str, **usage: int) -> list[dict[str, Any]]:
    """The events that end an answer."""
    delta = {"stop_reason": reason, "stop_sequence": None}
    return [{"type": "message_delta", "delta": delta, "usage": usage}, {"type": "message_stop"}]


def stream(*blocks: Mapping[str, Any], reason: str = "") -> bytes:
    """Return an answer of these complete blocks as a stream."""
    calls = any(block["type"] == "tool_use" for block in blocks)
    events = [event for index, block in enumerate(blocks) for event in _stream_block(index, block)]
    return encode(START, *events, *end(reason or ("tool_use" if calls else "end_turn"), output_tokens=5))


def _stream_block(index: int, block: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    kind = block["type"]
    empty = {"text": {"text": ""}, "thinking": {"thinking": "", "signature": ""}, "tool_use": {"input": {}}}
    yield begin(index, **{**block, **empty.get(kind, {})})
    if kind == "text":
        yield more(index, "text_delta", text=block["text"])
    elif kind == "thinking":
        yield more(index, "thinking_delta", thinking=block["thinking"])
        yield more(index, "signature_delta", signature=block["signature"])
    elif kind == "tool_use":
        yield more(index, "input_json_delta", partial_json=json.dumps(block["input"]))
    yield stop(index)
