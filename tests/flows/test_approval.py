"""An approval raised in a run is one ask: a listener on the bus or a client over HTTP answers it."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from dovetail.errors import NotFoundError
from dovetail.events.call import Kind
from dovetail.policy.bus import Message
from dovetail.tools.makers.function import make_tool
from dovetail.tools.tool import Tool
from serving import Serving, serve, text_of

SCRIPT: list[Any] = [
    {"tool_calls": [{"call_id": "c1", "name": "write_note", "arguments": {"text": "oak"}}]},
    "Done.",
]
BODY = {"message": "note it", "session_id": "s", "tab_id": "t"}


def make_note_tool(notes: list[str]) -> Tool:
    def write_note(text: str) -> str:
        """Keep a note."""
        notes.append(text)
        return f"kept {text}"

    return make_tool(write_note, kind=Kind.Write)


async def answer_over_http(server: Serving, ask_id: str, text: str) -> bool:
    """Approve the ask with another text; false if it was answered already."""
    answer = {"approved": True, "edited_args": {"text": text}}
    response = await server.client.post(f"/api/v1/asks/{ask_id}", json=answer)
    if response.status_code == 200:
        return True
    assert response.status_code == 409
    assert "it has already been answered" in response.text
    return False


def answer_on_bus(server: Serving, ask_id: str, text: str) -> bool:
    """Approve the ask with another text; false if it was answered already."""
    try:
        server.app.bus.answer(ask_id, {"approved": True, "edited_args": {"text": text}})
    except NotFoundError:
        return False
    return True


async def list_stored(server: Serving, run_id: str) -> list[tuple[str, str]]:
    """The asks and answers in the journal, with their ids."""
    journal = server.stream("GET", f"/api/v1/runs/{run_id}/events")
    return [(entry["type"], entry["ask_id"]) async for entry in journal if entry["type"].startswith("ask-")]


async def test_listener_on_the_bus_answers_the_ask_that_clients_see(tmp_path: Path) -> None:
    notes: list[str] = []
    async with serve(tmp_path, SCRIPT, [make_note_tool(notes)]) as server:
        server.app.bus.subscribe("ask-request", lambda message: None)
        ask_id, is_first, is_second = "", False, True
        chunks: list[dict[str, Any]] = []
        async for chunk in server.stream("POST", "/api/v1/chat", json=BODY):
            chunks.append(chunk)
            if chunk["type"] == "tool-approval-request":
                [ask] = server.app.bus.asks
                ask_id = chunk["approvalId"]
                assert (ask.ask_id, ask.call_id) == (ask_id, "c1")
                is_first = answer_on_bus(server, ask_id, "elm")
                is_second = await answer_over_http(server, ask_id, "ash")
        stored = await list_stored(server, chunks[0]["messageMetadata"]["run_id"])
        left = (await server.get("/api/v1/asks"))["asks"]
    assert (is_first, is_second, notes, text_of(chunks)) == (True, False, ["elm"], "Done.")
    assert (stored, left) == ([("ask-request", ask_id), ("ask-answer", ask_id)], [])


async def test_answer_over_http_ends_the_ask_on_the_bus(tmp_path: Path) -> None:
    notes: list[str] = []
    heard: list[Message] = []
    async with serve(tmp_path, SCRIPT, [make_note_tool(notes)]) as server:
        server.app.bus.subscribe("ask-request", heard.append)
        server.app.bus.subscribe("ask-answer", heard.append)
        is_first, is_second = False, True
        async for chunk in server.stream("POST", "/api/v1/chat", json=BODY):
            if chunk["type"] == "tool-approval-request":
                is_first = await answer_over_http(server, chunk["approvalId"], "ash")
                is_second = answer_on_bus(server, chunk["approvalId"], "elm")
        assert server.app.bus.asks == []
    assert (is_first, is_second, notes) == (True, False, ["ash"])
    assert [message.topic for message in heard] == ["ask-request", "ask-answer"]
    assert len({message.payload["ask_id"] for message in heard}) == 1
    assert heard[1].payload["value"]["edited_args"] == {"text": "ash"}


async def test_listener_hears_of_an_ask_when_it_is_stored_together_with_its_call(tmp_path: Path) -> None:
    found: list[tuple[int, int]] = []

    def look(message: Message) -> None:
        with closing(sqlite3.connect(server.app.store_url)) as store:
            (asks,) = store.execute("SELECT count(*) FROM asks WHERE id = ?", (message.payload["ask_id"],))
            (calls,) = store.execute("SELECT count(*) FROM entries WHERE type = 'tool-input-end'")
            found.append((asks[0], calls[0]))

    async with serve(tmp_path, SCRIPT, [make_note_tool([])]) as server:
        server.app.bus.subscribe("ask-request", look)
        async for chunk in server.stream("POST", "/api/v1/chat", json=BODY):
            if chunk["type"] == "tool-approval-request":
                await answer_over_http(server, chunk["approvalId"], "ash")
    assert found == [(1, 1)]


@pytest.mark.parametrize("turns", range(4))
async def test_of_answers_that_come_at_once_exactly_one_counts(tmp_path: Path, turns: int) -> None:
    notes: list[str] = []

    async def answer_later(server: Serving, ask_id: str) -> bool:
        for _ in range(turns * 5):
            await asyncio.sleep(0)
        return await asyncio.to_thread(answer_on_bus, server, ask_id, "elm")

    async with serve(tmp_path, SCRIPT, [make_note_tool(notes)]) as server:
        server.app.bus.subscribe("ask-request", lambda message: None)
        run_id, won = "", list[bool]()
        async for chunk in server.stream("POST", "/api/v1/chat", json=BODY):
            if chunk["type"] == "tool-approval-request":
                ask_id = chunk["approvalId"]
                won = await asyncio.gather(
                    answer_over_http(server, ask_id, "ash"),
                    answer_later(server, ask_id),
                    answer_over_http(server, ask_id, "oak"),
                )
            run_id = chunk.get("messageMetadata", {}).get("run_id") or run_id
        stored = await list_stored(server, run_id)
    assert won.count(True) == 1
    assert notes == [text for text, is_winner in zip(("ash", "elm", "oak"), won, strict=True) if is_winner]
    assert [kind for kind, _ in stored] == ["ask-request", "ask-answer"]


async def test_a_call_allowed_for_a_run_is_not_asked_about_again_after_a_restart(tmp_path: Path) -> None:
    notes: list[str] = []
    other = {"tool_calls": [{"call_id": "c2", "name": "write_note", "arguments": {"text": "ash"}}]}
    again = {"tool_calls": [{"call_id": "c3", "name": "write_note", "arguments": {"text": "oak"}}]}
    tools = [make_note_tool(notes)]
    run_id = ""
    async with serve(tmp_path, [SCRIPT[0], other], tools) as server:
        asked = 0
        async for chunk in server.stream("POST", "/api/v1/chat", json=BODY):
            if chunk["type"] == "data-ask":
                asked, run_id = asked + 1, chunk["data"]["run_id"]
                if asked == 2:
                    break
                answer = {"approved": True, "remember": "run"}
                await server.client.post(f"/api/v1/asks/{chunk['data']['ask_id']}", json=answer)
    async with serve(tmp_path, [again, "Done."], tools) as server:
        [ask] = (await server.get("/api/v1/asks"))["asks"]
        await server.client.post(f"/api/v1/asks/{ask['id']}", json={"approved": False, "reason": "not ash"})
        events = [event async for event in server.stream("GET", f"/api/v1/runs/{run_id}/events")]
        heard = str(server.model.requests[0].messages)
    assert (events[-1]["reason"], notes) == ("goal", ["oak", "oak"])
    assert len([event for event in events if event["type"] == "ask-request"]) == 2
    assert "and said: not ash" in heard
