"""Text from models, tools, files and clients that no database or JSON answer could hold, over HTTP."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from dovetail.events.delta import ReasoningDelta, TextDelta, ToolCallDelta
from dovetail.testing import Reply
from dovetail.tools import make_tool
from dovetail.tools.tool import Tool
from patience import PATIENCE
from postgres import make_database, uses_postgres
from serving import Serving, serve, text_of

HOSTILE = ["a\0b", "\ud83d", "\ude00x", "caf\udce9", "\ud83d\0"]


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=uses_postgres)])
async def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'x.db'}" if request.param == "sqlite" else await make_database()


@asynccontextmanager
async def open_server(
    folder: Path, url: str, replies: Sequence[Any], tools: Sequence[Tool] = ()
) -> AsyncIterator[Serving]:
    async with serve(folder, replies, tools, {"store": {"url": url}}) as server:
        yield server


def echo(text: str = "") -> str:
    """Say what was said."""
    return text


async def look_at_all(server: Serving, session_id: str = "s") -> str:
    """Read the session in every way; all that people see of it, as one text."""
    views = ["", "/messages", "/export", "/export?format=markdown"]
    seen: list[str] = []
    for view in views:
        response = await server.client.get(f"/api/v1/sessions/{session_id}{view}")
        assert response.status_code == 200, (view, response.text)
        seen.append(response.text)
    assert (await server.client.get("/api/v1/sessions")).status_code == 200
    return "\n".join(seen)


@pytest.mark.parametrize("call_id", ["call\0", "call\ud83d", "\ude00", "c" * 10_000])
async def test_one_bad_call_id_stops_no_other(tmp_path: Path, url: str, call_id: str) -> None:
    call = Reply(steps=[ToolCallDelta(0, call_id, "echo", '{"text": "well"}')])
    async with open_server(tmp_path, url, [call, *["Done."] * 13], [make_tool(echo)]) as server:
        async with asyncio.timeout(PATIENCE):
            chunks = await server.chat("Saw it.")
            others = await asyncio.gather(*(server.chat("Hello", f"s{n}") for n in range(12)))
        assert text_of(chunks) == "Done."
        assert [text_of(other) for other in others] == ["Done."] * 12
        outputs = [chunk for chunk in chunks if chunk["type"] == "tool-output-available"]
        assert [chunk["output"] for chunk in outputs] == ["well"]
        await look_at_all(server)
        assert (await server.client.get("/readyz")).status_code == 200


@pytest.mark.parametrize("text", HOSTILE)
async def test_a_model_may_say_anything_anywhere(tmp_path: Path, url: str, text: str) -> None:
    arguments = '{"text": "' + text.encode("ascii", "backslashreplace").decode().replace("\\x", "\\u00")
    arguments = arguments.replace("\0", "\\u0000") + '"}'
    steps = [
        ReasoningDelta(text),
        TextDelta(text),
        ToolCallDelta(0, "1", "echo", arguments),
        ToolCallDelta(1, "2", text, "{}"),
        ToolCallDelta(2, "3", "echo", text),
    ]
    async with open_server(tmp_path, url, [Reply(steps=steps), "Done."], [make_tool(echo)]) as server:
        async with asyncio.timeout(PATIENCE):
            assert text_of(await server.chat("Hello")).endswith("Done.")
        seen = await look_at_all(server)
        assert "\ufffd" in seen
        assert "\\u0000" not in seen


async def test_a_character_in_two_halves_is_whole_for_people(tmp_path: Path, url: str) -> None:
    steps = [TextDelta("Hi \ud83d"), TextDelta("\ude00!")]
    async with open_server(tmp_path, url, [Reply(steps=steps)]) as server:
        assert text_of(await server.chat("Hello")) == "Hi 😀!"
        assert "Hi 😀!" in await look_at_all(server)


@pytest.mark.parametrize("text", HOSTILE)
async def test_a_tool_may_return_anything(tmp_path: Path, url: str, text: str) -> None:
    def name_all() -> dict[str, Any]:
        """Name everything."""
        return {text: [text, {"inner": text}], "number": float("nan")}

    def fail() -> str:
        """Fail."""
        raise ValueError(text)

    def say() -> str:
        """Say it."""
        return text

    calls = [ToolCallDelta(n, f"c{n}", name, "{}") for n, name in enumerate(["name_all", "fail", "say"])]
    tools = [make_tool(name_all), make_tool(fail), make_tool(say)]
    async with open_server(tmp_path, url, [Reply(steps=calls), "Done."], tools) as server:
        async with asyncio.timeout(PATIENCE):
            assert text_of(await server.chat("Hello")) == "Done."
        await look_at_all(server)
        for tool in tools:
            response = await server.client.post(f"/api/v1/tools/{tool.name}/call", json={})
            assert response.status_code == 200, response.text
            assert "\ufffd" in response.text


async def test_a_file_name_in_latin_1_works(tmp_path: Path, url: str) -> None:
    try:
        (tmp_path / "r\udce9sum\udce9.txt").write_text("work\n")
    except OSError:
        pytest.skip("this file system takes names in UTF-8 alone")
    calls = [
        ToolCallDelta(0, "1", "list_files", "{}"),
        ToolCallDelta(1, "2", "search_files", '{"query": "work", "pattern": "work"}'),
    ]
    async with open_server(tmp_path, url, [Reply(steps=calls), "Done."]) as server:
        async with asyncio.timeout(PATIENCE):
            assert text_of(await server.chat("Hello")) == "Done."
        assert "r\ufffdsum\ufffd.txt" in await look_at_all(server)


async def test_a_secret_in_an_exception_reaches_neither_journal_nor_export(tmp_path: Path, url: str) -> None:
    secret = "geheim-0123456789"

    def fetch() -> str:
        """Fetch it."""
        raise RuntimeError(f"401 for https://x/?key={secret} with Bearer abcdefgh12345")

    settings = {"store": {"url": url}, "model": {"api_key": secret}}
    replies = [Reply(steps=[ToolCallDelta(0, "1", "fetch", "{}")]), "Done."]
    async with serve(tmp_path, replies, [make_tool(fetch)], settings) as server:
        chunks = await server.chat("Hello")
        [run_id] = [chunk["messageMetadata"]["run_id"] for chunk in chunks if chunk["type"] == "start"]
        events = [event async for event in server.stream("GET", f"/api/v1/runs/{run_id}/events")]
        seen = await look_at_all(server) + str(events) + str(chunks) + str(server.model.requests)
    assert "401 for https://x/?key=***" in seen
    assert secret not in seen
    assert "abcdefgh12345" not in seen


async def test_a_body_is_cleaned_whatever_its_type_and_encoding(tmp_path: Path) -> None:
    kinds = ("application/JSON", "application/x+JSON", "application/json; charset=utf-16")
    async with serve(tmp_path) as server:
        for kind in kinds:
            for encoding in ("utf-8", "utf-16", "utf-16-le", "utf-32"):
                body = json.dumps({"title": "a\0b\ud800c"}).encode(encoding)
                headers = {"content-type": kind}
                made = await server.client.post("/api/v1/sessions", content=body, headers=headers)
                assert made.status_code == 201, made.text
                assert made.json()["title"] == "a\ufffdb\ufffdc", (kind, encoding)
