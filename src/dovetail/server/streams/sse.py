"""Server-sent events as bytes, and JSON as bytes; no objects per token."""

import json
import re
from json.encoder import encode_basestring
from typing import Any

from starlette.responses import JSONResponse

from dovetail.data.clean import clean_data, clean_text

DONE = b"data: [DONE]\n\n"
KEEP_ALIVE = b": keep-alive\n\n"
LATEST = 2**31 - 1
"""The largest number that an event can have."""
_NUMBER = re.compile("[0-9]{1,10}")
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=str, allow_nan=False).encode


class JsonAnswer(JSONResponse):
    """An answer as JSON that is never refused for the texts in it."""

    def render(self, content: Any) -> bytes:
        """The body."""
        return dump(content)


def dump(value: Any) -> bytes:
    """A value as JSON; what no border has cleaned, such as the name of a file, is cleaned here."""
    try:
        return _encode(value).encode()
    except ValueError:  # half a character, which has no UTF-8, or a number that is not finite
        return _encode(clean_data(value)).encode()


def quote(text: str) -> bytes:
    """A text as a JSON string."""
    try:
        return encode_basestring(text).encode()
    except UnicodeEncodeError:
        return encode_basestring(clean_text(text)).encode()


def frame(data: bytes, number: int | None = None) -> bytes:
    """One event; with a number a client can come back to it."""
    if number is None:
        return b"data: %b\n\n" % data
    return b"id: %d\ndata: %b\n\n" % (number, data)


def read_event_id(value: str | None) -> int:
    """The number in a `Last-Event-ID` header; 0 for none, and for what no event of ours can have."""
    if value is None or not _NUMBER.fullmatch(value):
        return 0
    return min(int(value), LATEST)
