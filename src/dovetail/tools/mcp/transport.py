"""The transport to an MCP server: a program that is started, or HTTP; watched, so that its end is noticed."""

import asyncio
import contextlib
import functools
import json
import logging
import re
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine
from typing import Any

from dovetail.data.clean import clean_data
from dovetail.data.shapes import is_dict
from dovetail.lazy import lazy
from dovetail.tools.mcp.log import ServerLog
from dovetail.tools.mcp.server import McpServer

httpx2 = lazy("httpx2", extra="mcp")

logger = logging.getLogger(__name__)

MOST_BYTES = 20_000_000
"""The limit for one answer, or for one event of a stream."""


async def limit_answer(response: Any) -> None:
    """Limit the size of an answer (a hook of the HTTP client): one that becomes too large ends with an error.

    Compressed answers are rejected: they were not requested, and a small one may unpack to any size.
    """
    if response.headers.get("content-encoding", "identity") != "identity":
        logger.warning("rejected an answer of an MCP server: it is compressed")
        raise httpx2.DecodingError(
            "the answer is compressed, which was not requested", request=response.request
        )
    is_stream = response.headers.get("content-type", "").startswith("text/event-stream")
    response.stream = _get_stream_class()(response.stream, is_stream)


async def _read(stream: Any) -> AsyncIterator[bytes]:
    size = 0
    async for chunk in stream.inner:
        size += len(chunk)
        if stream.is_stream and (b"\n\n" in chunk or b"\r\n\r\n" in chunk or b"\r\r" in chunk):
            size = 0
        if size > MOST_BYTES:
            logger.warning("rejected an answer of an MCP server: it has more than %d bytes", MOST_BYTES)
            raise httpx2.ReadError(f"the answer has more than {MOST_BYTES} bytes")
        yield chunk


async def _close(stream: Any) -> None:
    await stream.inner.aclose()


def _keep(stream: Any, inner: Any, is_stream: bool) -> None:
    stream.inner, stream.is_stream = inner, is_stream


@functools.cache
def _get_stream_class() -> Any:
    """Return a stream as the package expects it; made on first use because the import takes time."""
    return type(
        "LimitedStream", (httpx2.AsyncByteStream,), {"__init__": _keep, "__aiter__": _read, "aclose": _close}
    )


mcp_types = lazy("mcp.types", extra="mcp")
mcp_message = lazy("mcp.shared.message", extra="mcp")

REASON = "its answer cannot be read; it may be nested too deeply"
_PARSE_ERROR = -32700
_ID = re.compile(r'\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d{1,15})\s*,\s*"(?:result|error)"')


def read_again(error: Exception) -> tuple[Any, bool]:
    """Read the message behind an error once more, cleaned.

    Returns:
        What to pass on (the message, an error in place of the answer, or the given error), and whether it is
        the whole message.
    """
    data = _parse(error)
    try:
        return _make(clean_data(data)), True
    except Exception:  # the package checks the message and raises what it likes
        pass
    request_id = data.get("id")
    if not isinstance(request_id, int | str) or "method" in data:
        return error, False
    answer = {"jsonrpc": "2.0", "id": request_id, "error": {"code": _PARSE_ERROR, "message": REASON}}
    return _make(answer), False


def _parse(error: Exception) -> dict[str, Any]:
    """Return the message; of one that is nested too deeply only its id, if it starts with that."""
    read: Any = getattr(error, "errors", None)
    text: Any = read()[0].get("input") if read is not None else None
    try:
        data: Any = json.loads(text)
    except RecursionError:
        found = _ID.match(text)
        return {"id": int(found[1])} if found else {}
    except (TypeError, ValueError):  # not an error of the validator, or not JSON
        return {}
    return data if is_dict(data) else {}


def _make(data: Any) -> Any:
    return mcp_message.SessionMessage(mcp_types.jsonrpc_message_adapter.validate_python(data, by_name=False))


mcp = lazy("mcp", extra="mcp")
mcp_stdio = lazy("mcp.client.stdio", extra="mcp")
mcp_http = lazy("mcp.client.streamable_http", extra="mcp")
anyio = lazy("anyio")

CONNECT_SECONDS = 30.0
_UNAUTHORIZED = (401, 403)


class Transport:
    """The transport of one connection.

    `lost` is set as soon as the server's side of it ends; `on_fault` is called for each message that cannot
    be read.
    """

    def __init__(self, server: McpServer, on_fault: Callable[[], None], log: ServerLog, auth: Any) -> None:
        self.lost = asyncio.Event()
        self._server = server
        self._on_fault = on_fault
        self._log = log
        self._auth = auth
        self._status = 0

    @property
    def wants_login(self) -> bool:
        """Whether the server has refused the last request for want of a login."""
        return self._status == 401

    def open(self) -> Any:
        """Return what the package's client connects to."""
        server = self._server
        if server.target is not None:
            return server.target
        if server.url:
            return self._watch(_open_http(server, self._note_status, self._auth))
        parameters = mcp.StdioServerParameters(
            command=server.command, args=list(server.args), env=dict(server.env) or None, cwd=server.cwd
        )
        return self._watch(_open_program(parameters, self._log))

    def explain(self, error: Exception) -> str:
        """Explain why the server could not be reached: by its last HTTP status, otherwise by the error."""
        if self._status in _UNAUTHORIZED:
            return (
                f"it answered {self._status} (unauthorized). Check the `headers` of the server's entry, "
                "or log in on the page (MCP servers)"
            )
        return f"it answered with HTTP status {self._status}" if self._status >= 400 else find_cause(error)

    async def _note_status(self, response: Any) -> None:
        if response.request.url == httpx2.URL(self._server.url):  # not one of a login
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
async def _open_program(parameters: Any, log: ServerLog) -> AsyncGenerator[Any, None]:
    with log.piped() as errors:
        async with mcp_stdio.stdio_client(parameters, errlog=errors) as streams:
            yield streams


@contextlib.asynccontextmanager
async def _open_http(
    server: McpServer, hear: Callable[[Any], Coroutine[Any, Any, None]], auth: Any
) -> AsyncGenerator[Any, None]:
    timeout = httpx2.Timeout(CONNECT_SECONDS, read=server.time_limit)
    headers = {"accept-encoding": "identity", **server.headers}
    hooks = {"response": [hear, limit_answer]}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=timeout, event_hooks=hooks, auth=auth) as client,
        mcp_http.streamable_http_client(server.url, http_client=client) as streams,
    ):
        yield streams


def find_cause(error: Any) -> str:
    """Return the text of an error, or of the first one in a group."""
    while inner := getattr(error, "exceptions", None):
        error = inner[0]
    return str(error) or type(error).__name__
