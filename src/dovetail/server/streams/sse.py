"""Server-sent events as bytes, without an object per token."""

import re
from collections.abc import Mapping

SSE_HEADERS: Mapping[str, str] = {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache, no-transform",
    "connection": "keep-alive",
    "x-accel-buffering": "no",
}
DONE = b"data: [DONE]\n\n"
KEEP_ALIVE = b": keep-alive\n\n"
LATEST = 2**31 - 1
"""The largest number that an event can have."""
_NUMBER = re.compile("[0-9]{1,10}")


def frame(data: bytes, number: int | None = None) -> bytes:
    """Return one event; with a number a client can resume after it."""
    if number is None:
        return b"data: %b\n\n" % data
    return b"id: %d\ndata: %b\n\n" % (number, data)


def read_event_id(value: str | None) -> int:
    """Return the number in a `Last-Event-ID` header; 0 if it is missing or cannot be one of ours."""
    if value is None or not _NUMBER.fullmatch(value):
        return 0
    return min(int(value), LATEST)
