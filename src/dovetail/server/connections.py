"""Connections that take too long to say what they want, and a system that has none left."""

import asyncio
import logging
import time
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

logger = logging.getLogger(__name__)

HEAD_SECONDS = 20.0
"""How long the head of a request may take, from the connection or from the end of the answer before."""

BODY_SECONDS = 120.0
_QUIET_SECONDS = 60.0
_EXHAUSTED = "socket.accept() out of system resource"


class TimedProtocol(H11Protocol):
    """HTTP/1.1 that closes a connection whose request does not arrive in time."""

    _stage: str | None = None
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        """Take what has come."""
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        """Begin to wait for the next request."""
        super().on_response_complete()
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._wait_for(None)
        super().connection_lost(exc)

    def _watch(self) -> None:
        cycle: Any = self.cycle
        if cycle is None or cycle.response_complete:
            self._wait_for("head")
        else:
            self._wait_for("body" if cycle.more_body else None)

    def _wait_for(self, stage: str | None) -> None:
        """Start the time of a new stage; one in progress keeps what is left of it."""
        if stage == self._stage:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._stage = stage
        seconds = HEAD_SECONDS if stage == "head" else BODY_SECONDS
        self._timer = self.loop.call_later(seconds, self._give_up) if stage else None

    def _give_up(self) -> None:
        if not self.transport.is_closing():
            logger.info("a connection was closed: the %s of its request did not arrive in time", self._stage)
            self.transport.close()


class QuietHandler:
    """An event loop's handler of errors that logs once, not thousands of times, that descriptors ran out."""

    def __init__(self) -> None:
        self._last = -_QUIET_SECONDS

    def __call__(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Handle one error."""
        if context.get("message") != _EXHAUSTED:
            loop.default_exception_handler(context)
            return
        now = time.monotonic()
        if now - self._last >= _QUIET_SECONDS:
            self._last = now
            logger.error(
                "no further connection can be accepted: %s. Raise the limit of open files (ulimit -n), "
                "or look for clients that keep connections open",
                context.get("exception"),
            )
