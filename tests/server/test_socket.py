"""Half requests are closed after a while, whole ones are not; a lack of descriptors is logged once."""

import asyncio
import contextlib
import logging
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import uvicorn

from dovetail.server import socket as connections
from dovetail.server.socket import QuietHandler, TimedProtocol
from leap import leap
from serving import QuietServer

GET = b"GET /fast HTTP/1.1\r\nhost: x\r\n\r\n"


@asynccontextmanager
async def serve(app: Any) -> AsyncIterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = QuietServer(uvicorn.Config(app, http=TimedProtocol, log_level="critical", lifespan="off"))
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        yield listener.getsockname()[1]
        server.should_exit = True
        await serving


async def read_to_the_end(port: int, *pieces: bytes) -> bytes:
    """Send pieces, then nothing more; what comes until the server closes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
        return await reader.read()
    finally:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()


async def test_half_requests_are_closed_and_a_slow_answer_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    others_are_closed, is_asked = asyncio.Event(), asyncio.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["path"] == "/slow":
            is_asked.set()
            await others_are_closed.wait()
        if scope["method"] == "POST":
            while (await receive()).get("more_body"):
                pass
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
        await send({"type": "http.response.body", "body": b"ok"})

    async with serve(app) as port:
        slow = GET.replace(b"fast", b"slow").replace(b"host", b"connection: close\r\nhost")
        waiting = asyncio.create_task(read_to_the_end(port, slow))
        await is_asked.wait()
        body = b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\n\r\nab"
        assert b"200 OK" in await read_to_the_end(
            port, body.replace(b"host", b"connection: close\r\nhost"), b"cde"
        )
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(GET)
        assert b"200 OK" in await reader.readuntil(b"\r\n\r\nok")
        writer.write(b"GET / HTTP/1.1\r\n")
        leap()
        assert await reader.read() == b""
        writer.close()
        monkeypatch.setattr(connections, "HEAD_SECONDS", 0.1)
        monkeypatch.setattr(connections, "BODY_SECONDS", 0.1)
        assert await read_to_the_end(port) == b""
        assert await read_to_the_end(port, b"GET / HT") == b""
        assert await read_to_the_end(port, b"GET / HTTP/1.1\r\nhost: x\r\nx-a: ", b"b\r\n") == b""
        assert b"200 OK" not in await read_to_the_end(port, body)
        others_are_closed.set()
        assert (await waiting).endswith(b"ok")


async def test_a_lack_of_descriptors_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.ERROR)
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(QuietHandler())
    for _ in range(2048):
        loop.call_exception_handler(
            {
                "message": "socket.accept() out of system resource",
                "exception": OSError(24, "Too many open files"),
            }
        )
    loop.call_exception_handler({"message": "something else"})
    loop.set_exception_handler(None)
    assert [record.name for record in caplog.records] == ["dovetail.server.socket", "asyncio"]
    assert "cannot accept connections: [Errno 24] Too many open files" in caplog.text
