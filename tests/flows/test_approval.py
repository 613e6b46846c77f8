"""An approval raised in a run is one ask: a listener on the bus or a client over HTTP answers it."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from dovetail.errors import NotFoundError
from dovetail.events.call import Kind
from dovetail.events.tool_context import ToolContext
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


async def test_an_edit_that_would_send_a_secret_elsewhere_is_refused_and_the_question_stays_open(
    tmp_path: Path,
) -> None:
    logins: list[tuple[str, str]] = []

    def log_in(user: str, password: str) -> str:
        """Log in."""
        logins.append((user, password))
        return "done"

    call = {"call_id": "c1", "name": "log_in", "arguments": {"user": "ann", "password": "hunter22"}}
    label = "*** (secret 1, 8 characters)"
    async with serve(
        tmp_path, [{"tool_calls": [call]}, "Done."], [make_tool(log_in, kind=Kind.Write)]
    ) as server:
        statuses: list[int] = []
        async for chunk in server.stream("POST", "/api/v1/chat", json=BODY):
            if chunk["type"] != "data-ask":
                continue
            assert chunk["data"]["payload"]["args"] == {"user": "ann", "password": label}
            for edited in ({"user": label, "password": "x"}, {"user": "bob", "password": label}):
                answer = {"approved": True, "edited_args": edited}
                response = await server.client.post(f"/api/v1/asks/{chunk['data']['ask_id']}", json=answer)
                statuses.append(response.status_code)
                if response.status_code == 422:
                    assert "Type the value." in response.text
    assert (statuses, logins) == ([422, 200], [("bob", "hunter22")])


async def wait_for_ask(server: Serving, title: str) -> dict[str, Any]:
    """The one open ask, once it has this title."""
    while True:
        for ask in (await server.get("/api/v1/asks"))["asks"]:
            if ask["payload"]["title"] == title:
                return ask


async def test_a_tool_that_asks_itself_is_not_answered_by_the_approval_of_its_call(tmp_path: Path) -> None:
    sent: list[dict[str, Any]] = []
    states = iter(range(9))

    async def send(to: str, context: ToolContext) -> str:
        """Send a letter."""
        assert context.ask is not None
        for number in range(2):
            payload = {"tool": "send", "title": f"Letter {number}", "args": {"to": to}}
            sent.append(dict(await context.ask("approval", payload)))
        return "sent"

    def preview(arguments: dict[str, Any], context: ToolContext) -> str:
        return f"preview {next(states)}"  # another one after each restart

    tool = make_tool(send, kind=Kind.Write, idempotent=True, display_name="Send", preview=preview)
    call = {"tool_calls": [{"call_id": "c1", "name": "send", "arguments": {"to": "ann"}}]}

    async def answer(server: Serving, title: str, **given: Any) -> None:
        ask = await wait_for_ask(server, title)
        await server.client.post(f"/api/v1/asks/{ask['id']}", json=given)

    async with serve(tmp_path, [call], [tool]) as server:
        chat = asyncio.create_task(server.chat("write"))
        await answer(server, "Send", approved=True)
        run_id = (await wait_for_ask(server, "Letter 0"))["run_id"]
        chat.cancel()
    assert sent == []
    async with serve(tmp_path, ["Done."], [tool]) as server:
        await answer(server, "Letter 0", approved=True)
        await answer(server, "Letter 1", approved=False)
        events = [event async for event in server.stream("GET", f"/api/v1/runs/{run_id}/events")]
    asked = [event["payload"]["title"] for event in events if event["type"] == "ask-request"]
    assert asked == ["Send", "Letter 0", "Letter 1"]
    assert [answer["approved"] for answer in sent] == [True, False]


@pytest.mark.parametrize("edited", [None, {"user": "ann", "password": "*** (secret 1, 8 characters)"}])
async def test_a_call_with_a_secret_that_is_allowed_for_a_run_is_not_asked_about_after_a_restart(
    tmp_path: Path, edited: dict[str, str] | None
) -> None:
    logins: list[tuple[str, str]] = []

    async def log_in(user: str, password: str, context: ToolContext) -> str:
        """Log in."""
        logins.append((user, password))
        if len(logins) == 1 and context.ask is not None:  # the tool's own question allows no call
            own = {
                "tool": "log_in",
                "title": "own",
                "args": {"user": "eve", "password": "x"},
                "kind": "write",
            }
            await context.ask("approval", own | {"agent_path": ["master"]})
        return "done"

    def call(number: int, user: str) -> dict[str, Any]:
        arguments = {"user": user, "password": "x" if user == "eve" else "hunter22"}
        return {"tool_calls": [{"call_id": f"c{number}", "name": "log_in", "arguments": arguments}]}

    tool = make_tool(log_in, kind=Kind.Write, display_name="Log in")
    first = call(1, "bob" if edited else "ann")
    async with serve(tmp_path, [first, call(2, "cid")], [tool]) as server:
        chat = asyncio.create_task(server.chat("log in"))
        answer = {"approved": True, "remember": "run"}
        ask = await wait_for_ask(server, "Log in")
        given = answer | ({"edited_args": edited} if edited else {})
        await server.client.post(f"/api/v1/asks/{ask['id']}", json=given)
        own = await wait_for_ask(server, "own")
        await server.client.post(f"/api/v1/asks/{own['id']}", json=answer)
        ask = await wait_for_ask(server, "Log in")
        chat.cancel()
    assert logins == [("ann", "hunter22")]
    async with serve(tmp_path, [call(3, "ann"), call(4, "eve"), "Done."], [tool]) as server:
        await server.client.post(f"/api/v1/asks/{ask['id']}", json={"approved": False})
        while (left := (await server.get("/api/v1/asks"))["asks"]) == [] or left[0]["id"] == ask["id"]:
            pass
        assert left[0]["payload"]["args"]["user"] == "eve"
        await server.client.post(f"/api/v1/asks/{left[0]['id']}", json={"approved": False})
        events = [event async for event in server.stream("GET", f"/api/v1/runs/{ask['run_id']}/events")]
    assert (events[-1]["reason"], logins) == ("goal", [("ann", "hunter22")] * 2)


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
