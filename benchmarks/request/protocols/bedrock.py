"""Bedrock's Converse API: binary messages instead of server-sent events."""

import json
import struct
from zlib import crc32

from benchmarks.request.protocols import CHUNKS, MESSAGES, WORDS

PROVIDER = "bedrock"
API = "bedrock"
BASE = ""
SDK = "with_boto3"


def write_message(name, data):
    """One message of the stream, with its headers and checksums."""
    headers = {":event-type": name, ":content-type": "application/json", ":message-type": "event"}
    head = b"".join(
        bytes([len(key)]) + key.encode() + b"\x07" + struct.pack(">H", len(value)) + value.encode()
        for key, value in headers.items()
    )
    payload = json.dumps(data, separators=(",", ":")).encode()
    prelude = struct.pack(">II", 16 + len(head) + len(payload), len(head))
    message = prelude + struct.pack(">I", crc32(prelude)) + head + payload
    return message + struct.pack(">I", crc32(message))


def build_events():
    """Yield the messages of one answer, in the size and shape that Bedrock sends, with its padding."""
    yield write_message("messageStart", {"p": "abcdefghijkl", "role": "assistant"})
    for number, word in enumerate(WORDS):
        padding = "abcdefghijklmnopqrstuvwxyz0123456789"[: number % 36 + 1]
        yield write_message(
            "contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": word}, "p": padding}
        )
    yield write_message("contentBlockStop", {"contentBlockIndex": 0, "p": "abc"})
    yield write_message("messageStop", {"p": "abcdefg", "stopReason": "end_turn"})
    usage = {"inputTokens": 20, "outputTokens": CHUNKS, "totalTokens": 20 + CHUNKS}
    yield write_message("metadata", {"metrics": {"latencyMs": 1000}, "p": "abcdef", "usage": usage})


def name_path(model):
    return f"/model/{model}/converse-stream"


def build_body(model):
    return {"messages": [{"role": "user", "content": [{"text": MESSAGES[0]["content"]}]}]}


def read_text(chunk):
    return chunk["delta"]["text"] if "delta" in chunk else ""


def split(buffer):
    """Take the payloads of the complete messages out of a buffer; a bare client checks no checksums."""
    payloads, place = [], 0
    while len(buffer) - place >= 12:
        length, headers = struct.unpack_from(">II", buffer, place)
        if len(buffer) - place < length:
            break
        payloads.append(bytes(buffer[place + 12 + headers : place + length - 4]))
        place += length
    del buffer[:place]
    return payloads
