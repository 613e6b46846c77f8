"""Compression of responses that are sent whole, such as JSON; streams pass as they are."""

import asyncio
import zlib
from collections.abc import Awaitable

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

SMALLEST = 1000
"""A shorter body fits into the first packet anyway."""
_LEVEL = 5
_LARGE = 100_000
"""A body this long is compressed in a thread, so that it does not hold up streams."""
_TYPES = (
    "application/json",
    "text/css",
    "text/html",
    "text/javascript",
    "text/markdown",
    "text/plain",
    "image/svg+xml",
)


class Compression:
    """Compress whole bodies of text for clients that accept gzip.

    Promises: no part of a stream is held back, and a body that is compressed already or has an `ETag`, which
    names exactly these bytes, is not changed.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        is_accepted = accepts("gzip", Headers(scope=scope))
        held: Message | None = None

        def send_compressed(message: Message) -> Awaitable[None]:  # not a coroutine: it is called per token
            nonlocal held
            if message["type"] == "http.response.start" and _is_compressible(message):
                MutableHeaders(scope=message).add_vary_header("Accept-Encoding")
                if is_accepted:
                    held = message
                    return _wait_for_body()
            start, held = held, None
            return send(message) if start is None else _send_whole(start, message, send)

        await self._app(scope, receive, send_compressed)


def accepts(encoding: str, headers: Headers) -> bool:
    """Return whether a client takes a content encoding by its name; `*` does not count."""
    for each in headers.get("accept-encoding", "").split(","):
        name, _, weight = each.partition(";")
        if name.strip().lower() == encoding:
            return weight.replace(" ", "").lower() not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False


async def _wait_for_body() -> None:
    """The start of a response is sent with its body."""


async def _send_whole(start: Message, message: Message, send: Send) -> None:
    """Send the start of a response and its body, compressed if it is whole and long enough."""
    body: bytes = message.get("body", b"")
    if len(body) >= SMALLEST and not message.get("more_body", False):
        body = _compress(body) if len(body) < _LARGE else await asyncio.to_thread(_compress, body)
        headers = MutableHeaders(scope=start)
        headers["content-encoding"] = "gzip"
        headers["content-length"] = str(len(body))
        message = {**message, "body": body}
    await send(start)
    await send(message)


def _compress(body: bytes) -> bytes:
    return zlib.compress(body, _LEVEL, wbits=16 + zlib.MAX_WBITS)


def _is_compressible(start: Message) -> bool:
    headers = Headers(scope=start)
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    return kind in _TYPES and "content-encoding" not in headers and "etag" not in headers
