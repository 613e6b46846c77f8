"""Runs the ASGI app on a socket until it is told to stop."""

import gc
import socket
from collections.abc import Callable

import uvicorn
from fastapi import FastAPI

from dovetail.server.whereabouts import read_proxies


def run_server(api: FastAPI, listener: socket.socket, on_ready: Callable[[], None]) -> None:
    """Serve until Ctrl-C or SIGTERM; streams are let go, runs go on at the next start.

    What keeps the app from starting is raised here.
    """
    config = uvicorn.Config(
        api,
        log_level="critical",
        access_log=False,
        timeout_graceful_shutdown=5,
        server_header=False,
        reset_contextvars=True,  # else a request knows what the one before it on its connection was
        forwarded_allow_ips=list(read_proxies(api.state.dovetail.settings.get("server.trusted_proxies"))),
    )
    server = _Server(config, on_ready)
    try:
        server.run(sockets=[listener])
    except SystemExit:
        if api.state.failure is None:
            raise
    if api.state.failure is not None:
        raise api.state.failure


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, on_ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_ready = on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            gc.collect()
            gc.freeze()  # what was made up to here stays: it need not be looked through again and again
            gc.set_threshold(20_000, 20, 50)  # streams make many objects and hardly any cycles
            self._on_ready()
