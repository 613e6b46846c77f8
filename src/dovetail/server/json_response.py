"""JSON as bytes, for responses and for the events of streams."""

import json
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
