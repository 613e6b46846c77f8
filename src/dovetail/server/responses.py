"""Responses of the server: JSON as bytes, and the framing of event streams."""

import json
import re
from collections.abc import Mapping
from json.encoder import encode_basestring
from typing import Any

from starlette.responses import JSONResponse

from dovetail.data.clean import clean_data, clean_text

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=str, allow_nan=False).encode


class JsonResponse(JSONResponse):
    """A response as JSON that never fails because of the texts in it."""

    def render(self, content: Any) -> bytes:
        """Return the body."""
        return dump(content)


def dump(value: Any) -> bytes:
    """Return a value as JSON; text that no border has cleaned, such as a file name, is cleaned here."""
    try:
        return _encode(value).encode()
    except ValueError:  # half a character, which has no UTF-8, or a number that is not finite
        return _encode(clean_data(value)).encode()


def quote(text: str) -> bytes:
    """Return a text as a JSON string."""
    try:
        return encode_basestring(text).encode()
    except UnicodeEncodeError:
        return encode_basestring(clean_text(text)).encode()


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
