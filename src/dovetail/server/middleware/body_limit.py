"""A limit for request bodies, applied before they are stored anywhere."""

import asyncio

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dovetail.server.errors import error_response

LARGEST_BODY = 20_000_000
_DISCARDED = 10
"""How many times the limit is read and discarded: a client may not see the response while it sends."""
_SILENCE_SECONDS, _DISCARD_SECONDS = 1.0, 30.0


class BodyLimit:
    """Respond with 413 if a body is longer than allowed, whatever its header says."""

    def __init__(self, app: ASGIApp, *, limit: int = LARGEST_BODY) -> None:
        self._app = app
        self._limit = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        length = Headers(scope=scope).get("content-length", "0")
        if not length.isdecimal() or int(length) > self._limit:
            await self._refuse(scope, receive, send)
            return
        left = self._limit
        has_begun = False

        async def receive_some() -> Message:
            nonlocal left
            message = await receive()
            left -= len(message.get("body", b""))
            return message if left >= 0 else {"type": "http.disconnect"}

        async def send_some(message: Message) -> None:
            nonlocal has_begun
            if left >= 0 or has_begun:  # what is said of half a body is not worth hearing
                has_begun = True
                await send(message)

        await self._app(scope, receive_some, send_some)
        if left < 0 and not has_begun:
            await self._refuse(scope, receive, send)

    async def _refuse(self, scope: Scope, receive: Receive, send: Send) -> None:
        if "expect" not in Headers(scope=scope):  # a client that waits for 100 Continue need not send
            await _discard(receive, _DISCARDED * self._limit)
        message = f"Request body too large: the limit is {self._limit} bytes."
        error = {"type": "too_large", "message": message}
        await error_response(413, error, scope["path"])(scope, receive, send)


async def _discard(receive: Receive, most: int) -> None:
    """Continue to read until the body ends, is far too long, or stops arriving."""
    try:
        async with asyncio.timeout(_DISCARD_SECONDS):
            while most > 0:
                async with asyncio.timeout(_SILENCE_SECONDS):
                    message = await receive()
                if not message.get("more_body", False):
                    return
                most -= len(message.get("body", b""))
    except TimeoutError:
        return
