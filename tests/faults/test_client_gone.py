"""Clients that disconnect, or never read: the run continues, and nothing piles up for them."""

import asyncio
import json
import socket
from pathlib import Path

from dovetail.testing import Gate
from patience import PATIENCE
from serving import Serving, serve, text_of

PIECE = "0123456789" * 1_000
PIECES = 1500


async def connect(server: Serving) -> socket.socket:
    """Send a message over a connection with hardly any room, and read nothing of its answer."""
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.setblocking(False)
    host, port = server.address.removeprefix("http://").split(":")
    loop = asyncio.get_running_loop()
    await loop.sock_connect(connection, (host, int(port)))
    body = json.dumps({"message": "Talk.", "session_id": "s", "tab_id": "t"})
    head = f"POST /api/v1/chat HTTP/1.1\r\nhost: {host}:{port}\r\ncontent-type: application/json\r\n"
    await loop.sock_sendall(connection, f"{head}content-length: {len(body)}\r\n\r\n{body}".encode())
    return connection


async def read_to_end(connection: socket.socket) -> bytes:
    loop, pieces = asyncio.get_running_loop(), list[bytes]()
    while not pieces or b"data: [DONE]" not in pieces[-1][-40:]:
        pieces.append(await loop.sock_recv(connection, 1_000_000))
    return b"".join(pieces)


async def wait_for_end(server: Serving, run_id: str) -> None:
    async with await server.app.runs.read(run_id) as reader:
        while not reader.ended:
            await reader.next()


async def test_a_reader_that_never_reads_holds_up_no_run_and_gets_all_when_it_does(tmp_path: Path) -> None:
    gate = Gate()
    settings = {"limits": {"answer": {"text": PIECES * len(PIECE)}}}
    replies = [[gate, *[PIECE] * PIECES]]
    async with serve(tmp_path, replies, settings=settings) as server, asyncio.timeout(PATIENCE):
        connection = await connect(server)
        await gate.reached.async_wait()
        record = await server.app.runs.find_running("s")
        assert record is not None
        gate.open()
        await wait_for_end(server, record.id)
        assert (await server.get(f"/api/v1/runs/{record.id}"))["reason"] == "goal"
        late = await read_to_end(connection)  # what it has not read so far comes from the store
        connection.close()
    assert late.count(PIECE[:100].encode()) == PIECES * len(PIECE) // 100


async def test_a_client_that_breaks_off_leaves_a_run_that_ends_and_is_kept(tmp_path: Path) -> None:
    gate = Gate()
    async with serve(tmp_path, [["one ", gate, "two"]]) as server, asyncio.timeout(PATIENCE):
        connection = await connect(server)
        await gate.reached.async_wait()
        record = await server.app.runs.find_running("s")
        assert record is not None
        # No farewell: the other side finds out when it writes.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        connection.close()
        following = server.stream("GET", "/api/v1/chat/s/stream")
        first = await anext(following)
        gate.open()
        assert text_of([first, *[chunk async for chunk in following]]) == "one two"
        await wait_for_end(server, record.id)
        answer = (await server.get("/api/v1/sessions/s"))["path"][-1]
    assert answer["parts"][-1]["text"] == "one two"
    assert answer["metadata"]["reason"] == "goal"
