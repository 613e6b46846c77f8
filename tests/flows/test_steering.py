"""A message sent while an answer is written is read in its next turn, or answered after it; none is lost."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from dovetail.events.call import Kind
from dovetail.events.tool_context import ToolContext
from dovetail.testing import Gate
from dovetail.tools.makers.function import make_tool
from dovetail.tools.tool import Tool
from patience import PATIENCE
from postgres import make_database, uses_postgres
from serving import Serving, serve, text_of, types_of

CALL = {"tool_calls": [{"call_id": "c1", "name": "work", "arguments": {}}]}
METRES = {"role": "user", "content": "Use metres."}


class Work:
    """A tool that waits until it may end."""

    def __init__(self) -> None:
        self.began = asyncio.Event()
        self.may_end = asyncio.Event()

    def tool(self) -> Tool:
        async def work(args: dict[str, Any], context: ToolContext) -> str:
            self.began.set()
            await self.may_end.wait()
            return "10 ft"

        return Tool(name="work", description="Work.", parameters={"type": "object"}, execute=work)


async def send(server: Serving, run_id: str, text: str, mode: str = "steer") -> dict[str, Any]:
    response = await server.client.post(
        f"/api/v1/runs/{run_id}/messages", json={"message": text, "mode": mode}
    )
    assert response.status_code == 202, response.text
    return response.json()


async def list_inbox(server: Serving, session_id: str = "s") -> list[tuple[str, str]]:
    waiting = (await server.get(f"/api/v1/sessions/{session_id}/inbox"))["messages"]
    assert all(message.keys() == {"id", "kind", "parts", "created_at"} for message in waiting)
    return [(message["kind"], message["parts"][0]["text"]) for message in waiting]


async def read_answer(server: Serving, session_id: str = "s") -> list[dict[str, Any]]:
    """Follow the answer in progress to its end, if there is one."""
    async with server.client.stream("GET", f"/api/v1/chat/{session_id}/stream") as response:
        if response.status_code == 204:
            return []
        await response.aread()
        return [{"status": response.status_code}]


async def settle(server: Serving, count: int, session_id: str = "s") -> list[dict[str, Any]]:
    """Return the messages of a session once it has so many and no run is in progress."""
    async with asyncio.timeout(PATIENCE):
        while True:
            await read_answer(server, session_id)
            view = await server.get(f"/api/v1/sessions/{session_id}")
            if view["run_id"] is None and len(view["path"]) >= count:
                return view["path"]


def show(path: list[dict[str, Any]]) -> list[tuple[str, list[str]]]:
    """Return who said what; a message that reached an answer stands in its place."""
    shown: list[tuple[str, list[str]]] = []
    for message in path:
        texts: list[str] = []
        for part in message["parts"]:
            if part["type"] == "text":
                texts.append(part["text"])
            elif part["type"] == "data-user-message":
                texts.append(f"{part['data']['kind']}: {part['data']['parts'][0]['text']}")
        shown.append((message["role"], texts))
    return shown


async def test_a_message_sent_during_a_call_is_read_in_the_next_turn(tmp_path: Path) -> None:
    work = Work()
    async with serve(tmp_path, [CALL, "3 m.", "So it is."], [work.tool()]) as server:
        chunks: list[dict[str, Any]] = []
        sent: dict[str, Any] = {}
        async for chunk in server.stream(
            "POST", "/api/v1/chat", json={"message": "How long?", "session_id": "s"}
        ):
            chunks.append(chunk)
            if chunk["type"] == "tool-input-available":
                await work.began.wait()
                sent = await send(server, chunks[0]["messageMetadata"]["run_id"], "Use metres.")
                assert await list_inbox(server) == [("steer", "Use metres.")]
                work.may_end.set()
        run_id = chunks[0]["messageMetadata"]["run_id"]
        assert (sent["mode"], sent["run_id"], sent["session_id"]) == ("steer", run_id, "s")
        assert server.model.requests[1].messages[-1] == METRES
        kinds = types_of(chunks)
        place = kinds.index("data-user-message")
        assert kinds[place - 1 : place + 3] == [
            "finish-step",
            "data-user-message",
            "start-step",
            "text-start",
        ]
        [shown] = [chunk for chunk in chunks if chunk["type"] == "data-user-message"]
        assert shown["id"] == sent["message_id"]
        assert shown["data"] == {"kind": "steer", "parts": [{"type": "text", "text": "Use metres."}]}
        path = (await server.get("/api/v1/sessions/s"))["path"]
        assert show(path) == [("user", ["How long?"]), ("assistant", ["steer: Use metres.", "3 m."])]
        assert await list_inbox(server) == []
        await server.chat("Really?")
        roles = [message["role"] for message in server.model.requests[2].messages]
        assert roles[-6:] == ["user", "assistant", "tool", "user", "assistant", "user"]
        assert server.model.requests[2].messages[-3] == METRES
        events = [event async for event in server.stream("GET", f"/api/v1/runs/{run_id}/events")]
        [told] = [event for event in events if event["type"] == "user-message"]
        assert (told["message_id"], told["kind"]) == (sent["message_id"], "steer")


async def test_a_message_sent_during_the_last_words_gets_an_answer_in_the_same_run(tmp_path: Path) -> None:
    gate = Gate()
    async with serve(tmp_path, [["10 ft", gate, "."], "3 m."]) as server:
        chunks: list[dict[str, Any]] = []
        async for chunk in server.stream(
            "POST", "/api/v1/chat", json={"message": "How long?", "session_id": "s"}
        ):
            chunks.append(chunk)
            if chunk["type"] == "start":
                await gate.reached.async_wait()
                await send(server, chunk["messageMetadata"]["run_id"], "Use metres.")
                gate.open()
        assert text_of(chunks) == "10 ft.3 m."
        path = (await server.get("/api/v1/sessions/s"))["path"]
        assert show(path)[1] == ("assistant", ["10 ft.", "steer: Use metres.", "3 m."])
        assert server.model.requests[1].messages[-2:] == (
            {"role": "assistant", "content": "10 ft."},
            METRES,
        )


async def test_a_queued_message_is_answered_after_the_run(tmp_path: Path) -> None:
    work = Work()
    async with serve(tmp_path, [CALL, "10 ft.", "3 m.", "300 cm."], [work.tool()]) as server:
        sent: list[dict[str, Any]] = []
        async for chunk in server.stream(
            "POST", "/api/v1/chat", json={"message": "How long?", "session_id": "s"}
        ):
            if chunk["type"] == "start":
                run_id = chunk["messageMetadata"]["run_id"]
                await work.began.wait()
                sent = [await send(server, run_id, text, "queue") for text in ("In metres?", "In cm?")]
                work.may_end.set()
        path = await settle(server, 6)
        assert show(path) == [
            ("user", ["How long?"]),
            ("assistant", ["10 ft."]),
            ("user", ["In metres?"]),
            ("assistant", ["3 m."]),
            ("user", ["In cm?"]),
            ("assistant", ["300 cm."]),
        ]
        assert [path[2]["id"], path[4]["id"]] == [each["message_id"] for each in sent]
        assert [each["mode"] for each in sent] == ["queue", "queue"]
        assert await list_inbox(server) == []


@pytest.mark.parametrize("kind", ["sqlite", pytest.param("postgresql", marks=uses_postgres)])
async def test_a_run_ends_and_the_answer_to_what_waits_begins_in_one_transaction(
    tmp_path: Path, kind: str
) -> None:
    work = Work()
    settings = {} if kind == "sqlite" else {"store": {"url": await make_database()}}
    async with serve(tmp_path, [CALL, "10 ft.", "3 m."], [work.tool()], settings) as server:
        run_id = ""
        async for chunk in server.stream(
            "POST", "/api/v1/chat", json={"message": "How long?", "session_id": "s"}
        ):
            if chunk["type"] == "start":
                run_id = chunk["messageMetadata"]["run_id"]
                await work.began.wait()
                await send(server, run_id, "In metres?", "queue")
                work.may_end.set()
        next_run, ended = await server.app.runs.store.find(session_id="s")
        assert (ended.id, ended.state) == (run_id, "ended")
        path = await settle(server, 4)
        assert [text for _, text in show(path)] == [["How long?"], ["10 ft."], ["In metres?"], ["3 m."]]
        assert path[3]["metadata"]["run_id"] == next_run.id
        said = [message["content"] for message in server.model.requests[2].messages]
        assert said[-2:] == ["10 ft.", "In metres?"]


async def test_a_message_to_a_run_that_has_ended_is_a_new_question(tmp_path: Path) -> None:
    async with serve(tmp_path, ["10 ft.", "3 m."]) as server:
        chunks = await server.chat("How long?")
        sent = await send(server, chunks[0]["messageMetadata"]["run_id"], "In metres?")
        path = await settle(server, 4)
        assert sent["mode"] == "queue"
        assert (path[2]["id"], show(path)[2:]) == (
            sent["message_id"],
            [("user", ["In metres?"]), ("assistant", ["3 m."])],
        )


async def test_a_queued_message_follows_its_answer_when_the_head_has_moved(tmp_path: Path) -> None:
    work = Work()
    async with serve(tmp_path, ["Hi.", CALL, "10 ft.", "3 m."], [work.tool()]) as server:
        await server.chat("Hello")
        view = await server.get("/api/v1/sessions/s")
        body = {"message": "How long?", "session_id": "s", "parent_id": None}
        async for chunk in server.stream("POST", "/api/v1/chat", json=body):
            if chunk["type"] == "start":
                await work.began.wait()
                await send(server, chunk["messageMetadata"]["run_id"], "In metres?", "queue")
                await server.client.patch("/api/v1/sessions/s", json={"head": view["path"][0]["id"]})
                work.may_end.set()
        path = await settle(server, 4)
        assert [text for _, text in show(path)] == [["How long?"], ["10 ft."], ["In metres?"], ["3 m."]]


async def test_a_message_during_an_approval_is_read_after_it(tmp_path: Path) -> None:
    notes: list[str] = []

    def write_note(text: str) -> str:
        """Keep a note."""
        notes.append(text)
        return "kept"

    tool = make_tool(write_note, kind=Kind.Write)
    call = {"tool_calls": [{"call_id": "c1", "name": "write_note", "arguments": {"text": "oak"}}]}
    async with serve(tmp_path, [call, "Noted."], [tool]) as server:
        chunks: list[dict[str, Any]] = []
        async for chunk in server.stream(
            "POST", "/api/v1/chat", json={"message": "Note it", "session_id": "s", "tab_id": "t"}
        ):
            chunks.append(chunk)
            if chunk["type"] == "tool-approval-request":
                await send(server, chunks[0]["messageMetadata"]["run_id"], "Use metres.")
                assert len((await server.get("/api/v1/asks"))["asks"]) == 1
                assert await list_inbox(server) == [("steer", "Use metres.")]
                await server.client.post(f"/api/v1/asks/{chunk['approvalId']}", json={"approved": True})
        assert (notes, text_of(chunks)) == (["oak"], "Noted.")
        assert [message["role"] for message in server.model.requests[1].messages][-2:] == ["tool", "user"]


async def test_a_message_to_a_run_that_left_memory_is_read_after_its_answer(tmp_path: Path) -> None:
    def write_note(text: str) -> str:
        """Keep a note."""
        return "kept"

    tool = make_tool(write_note, kind=Kind.Write)
    call = {"tool_calls": [{"call_id": "c1", "name": "write_note", "arguments": {"text": "oak"}}]}
    settings = {"runs": {"park_after": 0.01}}
    async with serve(tmp_path, [call, "Noted."], [tool], settings) as server, asyncio.timeout(PATIENCE):
        body = {"message": "Note it", "session_id": "s", "tab_id": "t"}
        async for chunk in server.stream("POST", "/api/v1/chat", json=body):
            if chunk["type"] == "start":
                run_id = chunk["messageMetadata"]["run_id"]
            elif chunk["type"] == "tool-approval-request":
                while (await server.app.runs.store.get(run_id)).phase != "waiting":
                    pass
                assert (await send(server, run_id, "Use metres."))["mode"] == "steer"
                assert (await server.app.runs.store.get(run_id)).phase == "waiting"
                await server.client.post(f"/api/v1/asks/{chunk['approvalId']}", json={"approved": True})
        assert server.model.requests[1].messages[-1] == METRES
        assert show((await server.get("/api/v1/sessions/s"))["path"])[1][1] == [
            "steer: Use metres.",
            "Noted.",
        ]


async def test_what_waits_is_answered_also_when_its_run_is_cancelled(tmp_path: Path) -> None:
    work = Work()
    async with serve(tmp_path, [CALL, "3 m.", "300 cm."], [work.tool()]) as server:
        async for chunk in server.stream(
            "POST", "/api/v1/chat", json={"message": "How long?", "session_id": "s"}
        ):
            if chunk["type"] == "start":
                run_id = chunk["messageMetadata"]["run_id"]
                await work.began.wait()
                await send(server, run_id, "In metres?", "steer")
                await send(server, run_id, "In cm?", "queue")
                await server.client.post(f"/api/v1/runs/{run_id}/cancel", json={"mode": "now"})
        path = await settle(server, 6)
        assert [text for _, text in show(path)[2:]] == [["In metres?"], ["3 m."], ["In cm?"], ["300 cm."]]
        assert path[1]["metadata"]["reason"] == "cancelled"


async def test_a_message_is_taken_back_until_it_is_taken(tmp_path: Path) -> None:
    work = Work()
    async with serve(tmp_path, [CALL, "10 ft."], [work.tool()]) as server:
        async for chunk in server.stream(
            "POST", "/api/v1/chat", json={"message": "How long?", "session_id": "s"}
        ):
            if chunk["type"] == "start":
                run_id = chunk["messageMetadata"]["run_id"]
                await work.began.wait()
                gone = await send(server, run_id, "In feet!")
                kept = await send(server, run_id, "Use metres.")
                place = f"/api/v1/sessions/s/inbox/{gone['message_id']}"
                first, again = await server.client.delete(place), await server.client.delete(place)
                work.may_end.set()
        late = await server.client.delete(f"/api/v1/sessions/s/inbox/{kept['message_id']}")
        elsewhere = await server.client.delete(f"/api/v1/sessions/other/inbox/{kept['message_id']}")
    assert [each.status_code for each in (first, again, late, elsewhere)] == [204, 404, 409, 404]
    assert [
        message["content"] for message in server.model.requests[1].messages if message["role"] == "user"
    ] == [
        "How long?",
        "Use metres.",
    ]


async def test_a_question_to_a_busy_session_is_refused_with_the_way_to_its_run(tmp_path: Path) -> None:
    work = Work()
    async with serve(tmp_path, [CALL, "10 ft."], [work.tool()]) as server:
        async for chunk in server.stream(
            "POST", "/api/v1/chat", json={"message": "How long?", "session_id": "s"}
        ):
            if chunk["type"] == "start":
                run_id = chunk["messageMetadata"]["run_id"]
                await work.began.wait()
                refused = await server.client.post(
                    "/api/v1/chat", json={"message": "And?", "session_id": "s"}
                )
                work.may_end.set()
        assert refused.status_code == 409
        assert f"POST /api/v1/runs/{run_id}/messages" in refused.json()["error"]["hint"]


async def test_a_run_of_no_session_takes_no_messages(tmp_path: Path) -> None:
    async with serve(tmp_path, ["Hello."]) as server:
        asked = {"model": "master", "messages": [{"role": "user", "content": "Hi"}]}
        answer = (await server.client.post("/v1/chat/completions", json=asked)).json()
        refused = await server.client.post(f"/api/v1/runs/{answer['id']}/messages", json={"message": "And?"})
        missing = await server.client.post("/api/v1/runs/run_x/messages", json={"message": "And?"})
        empty = await server.client.post(f"/api/v1/runs/{answer['id']}/messages", json={"message": " "})
    assert [each.status_code for each in (refused, missing, empty)] == [409, 404, 422]
    assert "belongs to no session" in refused.json()["error"]["message"]


async def test_messages_inside_an_answer_are_exported_and_imported(tmp_path: Path) -> None:
    gate = Gate()
    async with serve(tmp_path, [["10 ft", gate, "."], "3 m.", "Yes.", "No."]) as server:
        async for chunk in server.stream(
            "POST", "/api/v1/chat", json={"message": "How long?", "session_id": "s"}
        ):
            if chunk["type"] == "start":
                await gate.reached.async_wait()
                await send(server, chunk["messageMetadata"]["run_id"], "Use metres.")
                gate.open()
        markdown = (await server.client.get("/api/v1/sessions/s/export?format=markdown")).text
        said = [
            "## You\n\nHow long?",
            "## Assistant\n\n10 ft.",
            "## You\n\nUse metres.",
            "## Assistant\n\n3 m.",
        ]
        assert markdown == "\n\n".join(["# How long?", *said]) + "\n"
        exported = await server.get("/api/v1/sessions/s/export")
        for body in (exported, {"markdown": markdown}):
            imported = (await server.client.post("/api/v1/sessions/import", json=body)).json()
            await server.chat("Sure?", imported["id"])
            sent = [
                dict(message) for message in server.model.requests[-1].messages if message["role"] != "system"
            ]
            assert sent == [
                {"role": "user", "content": "How long?"},
                {"role": "assistant", "content": "10 ft."},
                METRES,
                {"role": "assistant", "content": "3 m."},
                {"role": "user", "content": "Sure?"},
            ]


async def test_a_queued_message_whose_agent_is_gone_fails_with_the_reason(tmp_path: Path) -> None:
    agent = tmp_path / "agents" / "surveyor.md"
    agent.parent.mkdir()
    agent.write_text("---\nname: surveyor\ndescription: Measures.\n---\nMeasure.\n")
    work = Work()
    async with serve(tmp_path, [CALL, "10 ft."], [work.tool()]) as server:
        body = {"message": "How long?", "session_id": "s", "agent": "surveyor"}
        async for chunk in server.stream("POST", "/api/v1/chat", json=body):
            if chunk["type"] == "start":
                await work.began.wait()
                await send(server, chunk["messageMetadata"]["run_id"], "In metres?", "queue")
                agent.unlink()
                await server.client.post("/api/v1/extensions/reload")
                work.may_end.set()
        path = await settle(server, 4)
        assert path[3]["metadata"]["reason"] == "error"
        assert "surveyor" in path[3]["metadata"]["error"]["message"]
        assert await list_inbox(server) == []


@pytest.mark.slow
async def test_a_message_sent_to_another_server_reaches_the_run(tmp_path: Path) -> None:
    work = Work()
    settings = {"store": {"url": await make_database()}}
    async with (
        serve(tmp_path, [CALL, "3 m.", "300 cm."], [work.tool()], settings) as here,
        serve(tmp_path, ["300 cm."], settings=settings) as there,
        asyncio.timeout(PATIENCE),
    ):
        body = {"message": "How long?", "session_id": "s"}
        async for chunk in here.stream("POST", "/api/v1/chat", json=body):
            if chunk["type"] == "start":
                run_id = chunk["messageMetadata"]["run_id"]
                await work.began.wait()
                assert (await send(there, run_id, "Use metres."))["mode"] == "steer"
                await send(there, run_id, "In cm?", "queue")
                assert await list_inbox(here) == [("steer", "Use metres."), ("queue", "In cm?")]
                work.may_end.set()
        path = await settle(there, 4)
        assert show(path) == [
            ("user", ["How long?"]),
            ("assistant", ["steer: Use metres.", "3 m."]),
            ("user", ["In cm?"]),
            ("assistant", ["300 cm."]),
        ]
        late = await send(there, run_id, "Thanks.")
        assert late["mode"] == "queue"
        assert len(await settle(here, 6)) == 6


async def test_a_message_that_is_sent_twice_with_one_id_is_answered_once(tmp_path: Path) -> None:
    gate = Gate()
    async with serve(tmp_path, [[gate, "3 m."], "Done."]) as server, asyncio.timeout(PATIENCE):
        chatting = asyncio.create_task(server.chat("How long?"))
        await gate.reached.async_wait()
        run_id = (await server.get("/api/v1/sessions/s"))["run_id"]
        address = f"/api/v1/runs/{run_id}/messages"
        body = {"id": "mine", "message": "And then?", "mode": "queue"}
        replies = [await server.client.post(address, json=body) for _ in range(2)]
        inbox = await list_inbox(server)
        gate.open()
        await chatting
        path = await settle(server, 4)
        replies.append(await server.client.post(address, json=body))
        taken = await server.client.delete("/api/v1/sessions/s/inbox/mine")
        unknown = await server.client.delete("/api/v1/sessions/s/inbox/other")
        after = await settle(server, 4)
    assert [(reply.status_code, reply.json()["message_id"]) for reply in replies] == [(202, "mine")] * 3
    assert [reply.json()["mode"] for reply in replies] == ["queue"] * 3
    assert inbox == [("queue", "And then?")]
    assert [message["id"] for message in path].count("mine") == 1
    assert after == path
    assert (taken.status_code, unknown.status_code) == (409, 404)
