"""The feed streams what changes for its owner, whichever process changes it."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from dovetail.events.call import Kind
from dovetail.tools.makers.function import make_tool
from dovetail.tools.tool import Tool
from patience import PATIENCE
from postgres import make_database, uses_postgres
from serving import Serving, serve

KEYS = {"server": {"api_keys": "ann:one-key,bob:two-key"}}
ANN = {"authorization": "Bearer one-key"}
BOB = {"authorization": "Bearer two-key"}
NOTE = {"tool_calls": [{"call_id": "c1", "name": "write_note", "arguments": {"text": "oak"}}]}


def make_note_tool() -> Tool:
    def write_note(text: str) -> str:
        """Keep a note."""
        return f"kept {text}"

    return make_tool(write_note, kind=Kind.Write)


class News:
    """The news of one feed, in order."""

    def __init__(self, items: AsyncIterator[dict[str, Any]]) -> None:
        self._items = items
        self.seen: list[dict[str, Any]] = []

    async def until(self, **wanted: Any) -> dict[str, Any]:
        """Read on until news with these fields, and return it.

        `reset` comes whenever another process may have been missed, and says nothing of what a test did.
        """
        async with asyncio.timeout(PATIENCE):
            async for item in self._items:
                del item["_number"]
                if item["type"] == "reset" != wanted.get("type"):
                    continue
                self.seen.append(item)
                if wanted.items() <= item.items():
                    return item
        raise AssertionError(f"the feed ended without {wanted}: {self.seen}")


@asynccontextmanager
async def following(server: Serving, **options: Any) -> AsyncGenerator[News]:
    """Yield the news of a feed after its first `reset`."""
    stream: Any = server.stream("GET", "/api/v1/feed", **options)
    try:
        news = News(stream)
        await news.until(type="reset")
        news.seen.clear()
        yield news
    finally:
        await stream.aclose()


async def test_a_chat_is_announced_from_its_question_to_its_end(tmp_path: Path) -> None:
    async with serve(tmp_path, ["Hello."]) as server, following(server) as news:
        chunks = await server.chat("Hi", "s")
        run = {"type": "run", "run_id": chunks[0]["messageMetadata"]["run_id"], "session_id": "s"}
        await news.until(type="session", change="changed")
    assert news.seen == [
        {**run, "state": "running"},
        {"type": "session", "session_id": "s", "change": "created"},
        {**run, "state": "ended", "reason": "goal"},
        {"type": "session", "session_id": "s", "change": "changed"},
    ]


async def test_a_question_is_announced_until_it_is_answered(tmp_path: Path) -> None:
    async with serve(tmp_path, [NOTE, "Done."], [make_note_tool()]) as server, following(server) as news:
        chat = asyncio.create_task(server.chat("note it", "s"))
        asked = await news.until(type="ask", state="open")
        assert asked["kind"] == "approval"
        assert asked["session_id"] == "s"
        assert await news.until(type="run", state="waiting")
        await server.client.post(f"/api/v1/asks/{asked['ask_id']}", json={"approved": True})
        assert (await news.until(type="ask", state="answered"))["ask_id"] == asked["ask_id"]
        assert await news.until(type="run", state="running")
        assert (await news.until(type="run", state="ended"))["reason"] == "goal"
        await chat


async def test_the_answer_to_a_run_that_was_parked_is_announced(tmp_path: Path) -> None:
    parking = {"runs": {"park_after": 0.05}}
    async with (
        serve(tmp_path, [NOTE, "Done."], [make_note_tool()], settings=parking) as server,
        following(server) as news,
    ):
        chat = asyncio.create_task(server.chat("note it", "s"))
        asked = await news.until(type="ask", state="open")
        async with asyncio.timeout(PATIENCE):
            await server.app.runs.attempt(asked["run_id"])  # returns once it is stored that the run waits
        assert (await server.app.runs.get(asked["run_id"])).phase == "waiting"
        await server.client.post(f"/api/v1/asks/{asked['ask_id']}", json={"approved": True})
        answered = await news.until(type="ask", state="answered")
        assert answered == {**asked, "state": "answered"}
        await news.until(type="run", state="ended")
        await chat


async def test_changes_of_a_session_are_announced(tmp_path: Path) -> None:
    async with serve(tmp_path) as server, following(server) as news:
        await server.client.post("/api/v1/sessions", json={"id": "s"})
        await server.client.patch("/api/v1/sessions/s", json={"title": "Plans"})
        await server.client.delete("/api/v1/sessions/s")
        await news.until(change="deleted")
    assert [item["change"] for item in news.seen] == ["created", "changed", "deleted"]


async def test_a_task_in_the_background_names_the_session_above(tmp_path: Path) -> None:
    async with serve(tmp_path, ["Done."]) as server, following(server) as news:
        await server.client.post("/api/v1/sessions", json={"id": "s"})
        body = {"message": "Look", "session_id": "s", "background": True}
        started = (await server.client.post("/api/v1/chat", json=body)).json()
        created = await news.until(type="session", session_id=started["session_id"])
    assert created["parent_id"] == "s"


async def test_a_reload_of_the_folders_is_announced(tmp_path: Path) -> None:
    async with serve(tmp_path) as server, following(server) as news:
        reloaded = (await server.client.post("/api/v1/extensions/reload")).json()
        assert (await news.until(type="extensions"))["generation"] == reloaded["version"]


async def test_the_feed_of_another_owner_says_nothing(tmp_path: Path) -> None:
    async with serve(tmp_path, ["Hello."], settings=KEYS) as server:
        async with following(server, headers=BOB) as bobs:
            server.client.headers.update(ANN)
            await server.chat("Hi", "anns")
            await server.client.patch("/api/v1/sessions/anns", json={"title": "Plans"})
            await server.client.post("/api/v1/sessions", json={"id": "bobs"}, headers=BOB)
            await bobs.until(session_id="bobs")
        assert [item["session_id"] for item in bobs.seen] == ["bobs"]


async def test_the_feed_needs_a_key_where_others_do(tmp_path: Path) -> None:
    async with serve(tmp_path, settings=KEYS) as server:
        assert (await server.client.get("/api/v1/feed")).status_code == 401


async def test_a_feed_that_connects_again_starts_from_a_reset(tmp_path: Path) -> None:
    async with serve(tmp_path) as server:
        async with following(server):
            pass
        await server.client.post("/api/v1/sessions", json={"id": "missed"})
        async with following(server) as news:  # which waits for `reset`
            await server.client.post("/api/v1/sessions", json={"id": "next"})
            await news.until(session_id="next")
        assert len(news.seen) == 1


async def test_feeds_end_when_the_server_stops(tmp_path: Path) -> None:
    async with serve(tmp_path) as server, following(server) as news:
        server.app.runs.feed.close()
        with pytest.raises(AssertionError, match="the feed ended"):
            await news.until(type="never")


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=uses_postgres)])
async def shared(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, Any]:
    url = f"sqlite:///{tmp_path}/shared.db" if request.param == "sqlite" else await make_database()
    return {"store": {"url": url}, **KEYS}


async def test_processes_share_their_news(tmp_path: Path, shared: dict[str, Any]) -> None:
    async with (
        serve(tmp_path, ["Hello."], settings=shared) as here,
        serve(tmp_path, settings=shared) as there,
        following(there, headers=ANN) as anns,
        following(there, headers=BOB) as bobs,
    ):
        here.client.headers.update(ANN)
        await here.chat("Hi", "s")
        assert await anns.until(type="run", session_id="s", state="running")
        assert (await anns.until(type="run", session_id="s", state="ended"))["reason"] == "goal"
        await here.client.post("/api/v1/sessions", json={"id": "bobs"}, headers=BOB)
        await bobs.until(session_id="bobs")
        sessions = [item["session_id"] for item in bobs.seen if item["type"] != "extensions"]
        assert sessions == ["bobs"]
