"""A port for the health checks and metrics of a process that serves no HTTP interface, such as a worker."""

import asyncio
import json
import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from dovetail.app import Dovetail
from dovetail.errors import ConfigError, StoreError
from dovetail.server.metrics import CONTENT_TYPE, Metrics, RunMetrics
from dovetail.version import __version__

logger = logging.getLogger(__name__)

_HEAD_SECONDS = 10.0
_JSON = "application/json"
_WORDS = {200: "OK", 404: "Not Found", 503: "Service Unavailable"}


class HealthPort:
    """Answers `GET /healthz`, `/readyz` and `/metrics`; everything else is not found."""

    def __init__(self, app: Dovetail, metrics: Metrics, run_metrics: RunMetrics) -> None:
        self.is_draining = False
        """Whether the process takes no more runs; then it is not ready."""
        self._app = app
        self._metrics = metrics
        self._run_metrics = run_metrics

    @asynccontextmanager
    async def open(self, host: str, port: int) -> AsyncGenerator[int]:
        """Listen until the end of the block; yields the port."""
        try:
            server = await asyncio.start_server(self._serve, host, port)
        except OSError as error:
            raise ConfigError(
                f"Cannot listen on {host}:{port} for metrics: {error.strerror or error}.",
                hint="Choose another port with --metrics-port.",
            ) from error
        async with server:
            yield server.sockets[0].getsockname()[1]

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(_HEAD_SECONDS):
                head = await reader.readuntil(b"\r\n\r\n")
            status, kind, body = await self._answer(head.split(b" ", 2)[1].decode("ascii", "replace"))
            lines = (
                f"HTTP/1.1 {status} {_WORDS[status]}",
                f"content-type: {kind}",
                f"content-length: {len(body)}",
                "connection: close",
            )
            writer.write("\r\n".join((*lines, "", "")).encode() + body)
            await writer.drain()
        except (OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, IndexError):
            logger.debug("a client of the health port sent no request")
        finally:
            writer.close()

    async def _answer(self, path: str) -> tuple[int, str, bytes]:
        try:
            return await self._read(path)
        except ConfigError:  # the worker is starting: its chat is not open yet
            return _report(503, "starting")

    async def _read(self, path: str) -> tuple[int, str, bytes]:
        if path == "/metrics":
            self._run_metrics.sample()
            await self._run_metrics.sample_stored()
            return 200, CONTENT_TYPE, self._metrics.write()
        if path == "/healthz":
            return _report(200, "ok", version=__version__)
        if path != "/readyz":
            return _report(404, "not found")
        if self.is_draining:
            return _report(503, "draining")
        try:
            await self._app.sessions.check()
        except StoreError as error:
            return _report(503, "unavailable", detail=error.message)
        return _report(200, "ok")


def _report(code: int, status: str, **more: str) -> tuple[int, str, bytes]:
    return code, _JSON, json.dumps({"status": status, **more}).encode()
