"""Compression: whole bodies of text for clients that accept it, and never a part of a stream."""

import gzip
from collections.abc import AsyncGenerator
from pathlib import Path

import httpx
import pytest
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from dovetail.server.middleware.compress import Compression
from dovetail.testing import Gate
from serving import serve

GZIP = {"accept-encoding": "gzip"}
PLAIN = {"accept-encoding": "identity"}


def client_of(response: Response) -> httpx.AsyncClient:
    """Return a client of an app that always answers with this response."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await response(scope, receive, send)

    return httpx.AsyncClient(transport=httpx.ASGITransport(Compression(app)), base_url="http://127.0.0.1")


async def test_long_json_is_compressed_for_clients_that_accept_it(tmp_path: Path) -> None:
    async with serve(tmp_path) as server:
        plain = await server.client.get("/openapi.json", headers=PLAIN)
        packed = await server.client.get("/openapi.json", headers=GZIP)
    assert "content-encoding" not in plain.headers
    assert packed.headers["content-encoding"] == "gzip"
    assert int(packed.headers["content-length"]) < int(plain.headers["content-length"]) / 4
    assert packed.json() == plain.json()
    assert "Accept-Encoding" in plain.headers["vary"]
    assert "Accept-Encoding" in packed.headers["vary"]


async def test_a_short_body_is_sent_as_it_is(tmp_path: Path) -> None:
    async with serve(tmp_path) as server:
        folders = await server.client.get("/api/v1/folders", headers=GZIP)
    assert folders.status_code == 200
    assert "content-encoding" not in folders.headers
    assert "Accept-Encoding" in folders.headers["vary"]


async def test_each_piece_of_an_answer_arrives_when_the_model_says_it(tmp_path: Path) -> None:
    gate, seen = Gate(), ""
    async with serve(tmp_path, [["One ", gate, "two"]]) as server:
        body = {"message": "Count.", "session_id": "s", "tab_id": "t"}
        async with server.client.stream("POST", "/api/v1/chat", json=body, headers=GZIP) as response:
            async for line in response.aiter_lines():
                seen += line
                if "One " in line:
                    gate.open()  # the rest of the answer is not written before its start was read
    assert "content-encoding" not in response.headers
    assert "two" in seen


@pytest.mark.parametrize("header", ["", "identity", "br", "gzip;q=0", "gzip; q=0.0", "x-gzip"])
async def test_a_client_that_does_not_accept_gzip_gets_none(header: str) -> None:
    async with client_of(JSONResponse(["word"] * 1000)) as client:
        response = await client.get("/", headers={"accept-encoding": header})
    assert "content-encoding" not in response.headers
    assert len(response.json()) == 1000


@pytest.mark.parametrize("header", ["gzip", "br, GZIP;q=0.5", "deflate,gzip ; q=1"])
async def test_a_client_may_accept_gzip_among_others(header: str) -> None:
    async with client_of(JSONResponse(["word"] * 1000)) as client:
        response = await client.get("/", headers={"accept-encoding": header})
    assert response.headers["content-encoding"] == "gzip"
    assert len(response.json()) == 1000


async def test_a_very_long_body_is_compressed_whole() -> None:
    async with client_of(JSONResponse(["word"] * 100_000)) as client:
        response = await client.get("/", headers=GZIP)
    assert response.headers["content-encoding"] == "gzip"
    assert len(response.json()) == 100_000


async def test_pieces_of_json_pass_as_they_come() -> None:
    async def pieces() -> AsyncGenerator[bytes]:
        for number in range(3):
            yield b"%d" % number * 2000

    async with client_of(StreamingResponse(pieces(), media_type="application/json")) as client:
        response = await client.get("/", headers=GZIP)
    assert "content-encoding" not in response.headers
    assert len(response.content) == 6000


async def test_what_is_compressed_already_is_not_compressed_again(tmp_path: Path) -> None:
    packed = gzip.compress(b"word" * 1000)
    picture = Response(b"\x89PNG" * 1000, media_type="image/png")
    for response in (
        Response(packed, headers={"content-encoding": "gzip"}, media_type="text/plain"),
        picture,
    ):
        async with client_of(response) as client:
            answer = await client.get("/", headers=GZIP)
        assert answer.headers["content-length"] == str(len(response.body))


async def test_a_body_that_its_etag_names_is_not_changed(tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("word" * 1000)
    async with client_of(FileResponse(tmp_path / "words.txt")) as client:
        answer = await client.get("/", headers=GZIP)
        part = await client.get("/", headers={**GZIP, "range": "bytes=0-3"})
    assert "content-encoding" not in answer.headers
    assert (part.status_code, part.text) == (206, "word")
