"""The way to an MCP server: a program that is started, or HTTP; watched, so that its end is noticed."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable, Coroutine
from typing import Any

from dovetail.lazy import lazy
from dovetail.tools.mcp.answer_limit import limit_answer
from dovetail.tools.mcp.server import McpServer
from dovetail.tools.mcp.unreadable import read_again

mcp = lazy("mcp", extra="mcp")
mcp_stdio = lazy("mcp.client.stdio", extra="mcp")
mcp_http = lazy("mcp.client.streamable_http", extra="mcp")
httpx2 = lazy("httpx2", extra="mcp")
anyio = lazy("anyio")

CONNECT_SECONDS = 30.0
_UNAUTHORIZED = (401, 403)


class Transport:
    """The transport of one connection.

    `lost` is set as soon as the server's side of it ends; `on_fault` is called for each message that cannot
    be read.
    """

    def __init__(self, server: McpServer, on_fault: Callable[[], None]) -> None:
        self.lost = asyncio.Event()
        self._server = server
        self._on_fault = on_fault
        self._status = 0

    def open(self) -> Any:
        """Return what the package's client connects to."""
        server = self._server
        if server.target is not None:
            return server.target
        if server.url:
            return self._watch(_open_http(server, self._note_status))
        parameters = mcp.StdioServerParameters(
            command=server.command, args=list(server.args), env=dict(server.env) or None, cwd=server.cwd
        )
        return self._watch(mcp_stdio.stdio_client(parameters))

    def explain(self, error: Exception) -> str:
        """Why the server could not be reached: its last HTTP status if that was an error, else the error."""
        if self._status in _UNAUTHORIZED:
            return f"it answered {self._status} (unauthorized). Check the `headers` of the server's entry"
        return f"it answered with HTTP status {self._status}" if self._status >= 400 else find_cause(error)

    async def _note_status(self, response: Any) -> None:
        self._status = response.status_code

    def _read_again(self, error: Exception) -> Any:
        message, is_whole = read_again(error)
        if not is_whole:
            self._on_fault()
        return message

    @contextlib.asynccontextmanager
    async def _watch(self, transport: Any) -> AsyncGenerator[Any, None]:
        async with transport as (read, write), anyio.create_task_group() as group:
            send, receive = anyio.create_memory_object_stream(0)

            async def pass_on() -> None:
                async with send:
                    async for message in read:
                        if isinstance(message, Exception):
                            message = self._read_again(message)
                        await send.send(message)
                self.lost.set()

            group.start_soon(pass_on)
            try:
                yield receive, write
            finally:
                group.cancel_scope.cancel()


@contextlib.asynccontextmanager
async def _open_http(
    server: McpServer, hear: Callable[[Any], Coroutine[Any, Any, None]]
) -> AsyncGenerator[Any, None]:
    timeout = httpx2.Timeout(CONNECT_SECONDS, read=server.time_limit)
    headers = {"accept-encoding": "identity", **server.headers}
    hooks = {"response": [hear, limit_answer]}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=timeout, event_hooks=hooks) as client,
        mcp_http.streamable_http_client(server.url, http_client=client) as streams,
    ):
        yield streams


def find_cause(error: Any) -> str:
    """The text of an error, of a group the text of its first one."""
    while inner := getattr(error, "exceptions", None):
        error = inner[0]
    return str(error) or type(error).__name__
