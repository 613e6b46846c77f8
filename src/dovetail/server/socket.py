"""The ASGI app served on a socket until it is asked to stop."""

import asyncio
import faulthandler
import gc
import logging
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from types import FrameType
from typing import Any

import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol

from dovetail.server.middleware.client_address import check_proxies
from dovetail.server.routes.feed import end_feeds
from dovetail.settings.sections import ServerSettings
from dovetail.tools.threads import DaemonExecutor

logger = logging.getLogger(__name__)

HEAD_SECONDS = 20.0
"""The most seconds for the head of a request, from the connection or the previous response."""

BODY_SECONDS = 120.0
_QUIET_SECONDS = 60.0
_EXHAUSTED = "socket.accept() out of system resource"


class TimedProtocol(H11Protocol):
    """HTTP/1.1 that closes a connection if its request does not arrive in time."""

    _stage: str | None = None
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Wait for a request."""
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        """Receive a piece of a request."""
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
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
        """Start the timer of a new stage; a stage in progress keeps its timer."""
        if stage == self._stage:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._stage = stage
        seconds = HEAD_SECONDS if stage == "head" else BODY_SECONDS
        self._timer = self.loop.call_later(seconds, self._give_up) if stage else None

    def _give_up(self) -> None:
        if not self.transport.is_closing():
            logger.info("connection closed: the %s of its request did not arrive in time", self._stage)
            self.transport.close()


class QuietHandler:
    """An error handler of the event loop that logs once, not thousands of times, that descriptors ran out."""

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
                "cannot accept connections: %s. Raise the limit of open files (ulimit -n), "
                "or look for clients that keep connections open",
                context.get("exception"),
            )


LAST_SECOND = 9.0
"""Seconds after which a server that does not stop is killed; ten are promised."""


def run_server(api: FastAPI, listener: socket.socket, on_ready: Callable[[], None]) -> None:
    """Serve until Ctrl-C or SIGTERM; streams are closed, and runs are resumed at the next start.

    An error that keeps the app from starting is raised here. After SIGTERM it returns, so that the program
    can finish its work at exit, such as sending traces and closing files.
    """
    proxies = api.state.dovetail.settings.section(ServerSettings).trusted_proxies
    check_proxies(proxies)
    config = uvicorn.Config(
        api,
        http=TimedProtocol,
        log_level="critical",
        access_log=False,
        timeout_graceful_shutdown=5,
        server_header=False,
        reset_contextvars=True,  # else a request knows what the one before it on its connection was
        forwarded_allow_ips=list(proxies),
    )
    server = _Server(config, on_ready, partial(end_feeds, api.state.dovetail))
    try:
        with _returning_after_a_signal(server):
            server.run(sockets=[listener])
    except SystemExit:
        if api.state.failure is None:
            raise
    finally:
        server.has_returned.set()
    if api.state.failure is not None:
        raise api.state.failure


@contextmanager
def _returning_after_a_signal(server: uvicorn.Server) -> Generator[None]:
    """Ignore the SIGTERM that uvicorn sends itself again after it stopped, which would kill the process."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: object) -> None:
        server.should_exit = True

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


class _Server(uvicorn.Server):
    def __init__(
        self, config: uvicorn.Config, on_ready: Callable[[], None], on_stop: Callable[[], None]
    ) -> None:
        super().__init__(config)
        self._on_ready = on_ready
        self._on_stop = on_stop
        self.has_returned = threading.Event()

    def run(self, sockets: list[socket.socket] | None = None) -> None:
        """Serve to the end; a callback of a tool or a library that exits does not stop the server.

        While it serves, uvicorn handles signals, so such an exit never comes from the user.
        """
        with asyncio.Runner(loop_factory=self.config.get_loop_factory()) as runner:
            loop = runner.get_loop()
            serving = loop.create_task(self.serve(sockets=sockets))
            while True:
                try:
                    loop.run_until_complete(serving)
                    return
                except (SystemExit, KeyboardInterrupt):
                    if serving.done() or not self.started or self.should_exit:
                        raise
                    logger.exception("a callback exited; the server continues")

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to stop, and make sure that the process ends."""
        if not self.should_exit:
            threading.Thread(target=self._end_in_time, name="dovetail-end", daemon=True).start()
        super().handle_exit(sig, frame)

    def _end_in_time(self) -> None:
        """Kill the process if its event loop is blocked; all that matters is in the database by then."""
        if self.has_returned.wait(LAST_SECOND):
            return
        logger.error("the server did not stop within %g s and is killed; its threads follow", LAST_SECOND)
        faulthandler.dump_traceback()
        logging.shutdown()
        os._exit(1)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop; streams that never end by themselves are ended first, or it would wait for them."""
        self._on_stop()
        await super().shutdown(sockets)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        loop = asyncio.get_running_loop()
        loop.set_default_executor(DaemonExecutor())
        loop.set_exception_handler(QuietHandler())
        await super().startup(sockets)
        if self.started:
            gc.collect()
            gc.freeze()  # what was made up to here stays: it need not be looked through again and again
            gc.set_threshold(20_000, 20, 50)  # streams make many objects and hardly any cycles
            self._on_ready()
