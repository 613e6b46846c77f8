"""Input from clients: paths, queries and JSON bodies are cleaned here, before any route reads them.

A body in UTF-16 or UTF-32 is passed on as UTF-8. Half characters and NUL become U+FFFD in every text of a
request. Values that are not JSON (`NaN`) or nested too deeply are rejected.
"""

import json
from typing import Any

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dovetail.data.clean import DEEPEST, clean_data, clean_text
from dovetail.server.errors import error_response

MOST_VALUES = 500_000
"""The most lists and objects in one body; many more than in the longest session."""
_SUSPECT = (b"\\u", b"\xed", b"NaN", b"Infinity")
"""Without one of these, no text of a JSON document needs cleaning."""
_BRACKETS = b"[]{}"
_OTHERS = bytes(set(range(256)) - set(_BRACKETS))


class CleanInput:
    """Pass requests on such that every text can be stored and sent back."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        scope["path"] = clean_text(scope["path"])
        scope["query_string"] = scope["query_string"].replace(b"%00", b"%EF%BF%BD")
        if "json" not in Headers(scope=scope).get("content-type", "json").lower():
            await self._app(scope, receive, send)
            return
        body = _Body(receive)
        try:
            await body.read()
        except ValueError as error:
            report = {"type": "invalid_request", "message": f"body: {error}"}
            await error_response(422, report, scope["path"])(scope, receive, send)
            return
        await self._app(scope, body.receive, send)


class _Body:
    """A body that was read whole and is passed on clean."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._messages: list[Message] = []

    async def read(self) -> None:
        """Read it to its end; raise `ValueError` if it is not a usable JSON document."""
        pieces: list[bytes] = []
        more = True
        while more:
            message = await self._receive()
            if message["type"] != "http.request":
                self._messages = [message]
                return
            pieces.append(message.get("body", b""))
            more = message.get("more_body", False)
        self._messages = [{"type": "http.request", "body": clean_json(b"".join(pieces)), "more_body": False}]

    async def receive(self) -> Message:
        """Return the whole body, then the client's next event."""
        return self._messages.pop() if self._messages else await self._receive()


def clean_json(body: bytes) -> bytes:
    """Return the same document with clean texts; a document that cannot be parsed is returned as it is.

    Raises:
        ValueError: it has values that JSON does not have, too many values, or values nested too deeply.
    """
    encoding = json.detect_encoding(body)
    if encoding != "utf-8":  # in one of the others, the signs that are looked for have other bytes
        body = body.decode(encoding, errors="replace").encode("utf-8", errors="surrogatepass")
    brackets = body.translate(None, _OTHERS)
    if len(brackets) > 2 * MOST_VALUES:
        raise ValueError(f"more than {MOST_VALUES} lists and objects")
    if not any(sign in body for sign in _SUSPECT) and _is_shallow(brackets):
        return body
    try:
        value = json.loads(body, parse_constant=_refuse)
    except RecursionError:
        raise ValueError(f"nested more than {DEEPEST} levels deep") from None
    except json.JSONDecodeError:
        return body  # the route says at which character
    try:
        cleaned = clean_data(value)
    except ValueError:
        raise ValueError(f"nested more than {DEEPEST} levels deep") from None
    return body if cleaned is value else json.dumps(cleaned).encode()


def _is_shallow(brackets: bytes) -> bool:
    """Whether the brackets alone show that nothing is nested deeply; each round removes the innermost."""
    if len(brackets) <= 2 * DEEPEST:
        return True
    for _ in range(DEEPEST):
        left = brackets.replace(b"[]", b"").replace(b"{}", b"")
        if not left:
            return True
        if len(left) == len(brackets):
            return False  # a text has brackets of its own
        brackets = left
    return False


def _refuse(constant: str) -> Any:
    raise ValueError(f"Invalid JSON: {constant}")
