"""Server-sent events as bytes, and JSON as bytes; no objects per token."""

import json
import re
from json.encoder import encode_basestring
from typing import Any

DONE = b"data: [DONE]\n\n"
KEEP_ALIVE = b": keep-alive\n\n"
_NUMBER = re.compile("[0-9]{1,10}")


def dump(value: Any) -> bytes:
    """A value as JSON; half a surrogate pair, which has no UTF-8, is escaped."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    try:
        return text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":"), default=str).encode()


def quote(text: str) -> bytes:
    """A text as a JSON string."""
    try:
        return encode_basestring(text).encode()
    except UnicodeEncodeError:
        return json.dumps(text).encode()


def frame(data: bytes, number: int | None = None) -> bytes:
    """One event; with a number a client can come back to it."""
    if number is None:
        return b"data: %b\n\n" % data
    return b"id: %d\ndata: %b\n\n" % (number, data)


def read_event_id(value: str | None) -> int:
    """The number in a `Last-Event-ID` header; 0 for none, and for what no event of ours can have."""
    if value is None or not _NUMBER.fullmatch(value):
        return 0
    return min(int(value), 2**31 - 1)
