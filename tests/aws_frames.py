"""Write the binary event streams of AWS, for tests."""

import json
import struct
from collections.abc import Mapping
from typing import Any
from zlib import crc32


def write_frame(headers: Mapping[str, str], payload: bytes) -> bytes:
    """One message with text headers."""
    head = b"".join(
        bytes([len(name)]) + name.encode() + b"\x07" + struct.pack(">H", len(value.encode())) + value.encode()
        for name, value in headers.items()
    )
    prelude = struct.pack(">II", 16 + len(head) + len(payload), len(head))
    message = prelude + struct.pack(">I", crc32(prelude)) + head + payload
    return message + struct.pack(">I", crc32(message))


def write_event(name: str, data: Mapping[str, Any]) -> bytes:
    """An event, with padding as the service adds it."""
    headers = {":event-type": name, ":content-type": "application/json", ":message-type": "event"}
    return write_frame(headers, json.dumps({**data, "p": "abcdefgh"}).encode())


def write_exception(name: str, data: Mapping[str, Any]) -> bytes:
    """A failure in the middle of a stream."""
    headers = {":exception-type": name, ":content-type": "application/json", ":message-type": "exception"}
    return write_frame(headers, json.dumps(data).encode())


def write_answer(*blocks: Mapping[str, Any], stop: str = "end_turn", **usage: int) -> bytes:
    """A whole stream: each block is given as in the answer of `converse` and sent in pieces."""
    events = [("messageStart", {"role": "assistant"})]
    for number, block in enumerate(blocks):
        place = {"contentBlockIndex": number}
        if call := block.get("toolUse"):
            start = {"toolUse": {"toolUseId": call["toolUseId"], "name": call["name"]}}
            events.append(("contentBlockStart", {"start": start, **place}))
            written = json.dumps(call["input"])
            pieces: list[dict[str, Any]] = [
                {"toolUse": {"input": piece}} for piece in (written[:5], written[5:])
            ]
        elif reasoning := block.get("reasoningContent"):
            pieces = [{"reasoningContent": piece} for piece in _cut_reasoning(reasoning)]
        else:
            pieces = [{"text": letter} for letter in block["text"]]
        events += [("contentBlockDelta", {"delta": piece, **place}) for piece in pieces]
        events.append(("contentBlockStop", place))
    events.append(("messageStop", {"stopReason": stop}))
    counts = {"inputTokens": 10, "outputTokens": 5, "totalTokens": 15, **usage}
    events.append(("metadata", {"usage": counts, "metrics": {"latencyMs": 1}}))
    return b"".join(write_event(name, data) for name, data in events)


def _cut_reasoning(block: Mapping[str, Any]) -> list[dict[str, Any]]:
    if "redactedContent" in block:
        return [{"redactedContent": block["redactedContent"]}]
    text = block["reasoningText"]
    pieces = [{"text": text["text"][:4]}, {"text": text["text"][4:]}]
    return [*pieces, {"signature": text["signature"]}] if "signature" in text else pieces
