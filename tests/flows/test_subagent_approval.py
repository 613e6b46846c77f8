"""A sub-agent needs an approval: the user is asked under its path, and the very call that waits continues."""

import logging
from pathlib import Path
from typing import Any

import pytest

from dovetail.events.call import Kind
from dovetail.policy.bus import Message
from dovetail.tools.makers.function import make_tool
from dovetail.tools.tool import Tool
from serving import Serving, serve, text_of

AGENTS = {
    "scribe": "---\ndescription: Writes notes.\ntools: [write_note]\n---\nYou write notes.\n",
    "looker": "---\ndescription: Looks.\ntools: []\n---\nYou look.\n",
}
SCRIPT: list[Any] = [
    {
        "when": "do both",
        "tool_calls": [
            {"call_id": "c1", "name": "scribe", "arguments": {"query": "note it"}},
            {"call_id": "c2", "name": "looker", "arguments": {"query": "look there"}},
        ],
    },
    {
        "when": "note it",
        "tool_calls": [{"call_id": "c3", "name": "write_note", "arguments": {"text": "oak"}}],
    },
    {"when": "look there", "text": "Looked."},
]


def make_note_tool(notes: list[str]) -> Tool:
    def write_note(text: str) -> str:
        """Keep a note."""
        notes.append(text)
        return f"kept {text}"

    return make_tool(write_note, kind=Kind.Write)


def write_agents(folder: Path) -> Path:
    (folder / "agents").mkdir()
    for name, text in AGENTS.items():
        (folder / "agents" / f"{name}.md").write_text(text)
    return folder


async def chat(server: Serving, answer: dict[str, Any]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Read the answer; when the question has come and the sibling is done, answer it."""
    chunks: list[dict[str, Any]] = []
    ask: dict[str, Any] | None = None
    is_answered = looked = False
    body = {"message": "do both", "session_id": "s", "tab_id": "t"}
    async for chunk in server.stream("POST", "/api/v1/chat", json=body):
        chunks.append(chunk)
        if chunk["type"] == "data-ask":
            ask = chunk["data"]
        looked = looked or (chunk.get("toolCallId") == "c2" and chunk["type"] == "tool-output-available")
        if ask is not None and looked and not is_answered:
            is_answered = True
            [listed] = (await server.get("/api/v1/asks"))["asks"]
            assert listed["ask_id"] == ask["ask_id"]
            ask = listed
            response = await server.client.post(f"/api/v1/asks/{listed['ask_id']}", json=answer)
            assert response.status_code == 200
    assert ask is not None
    return chunks, ask


@pytest.mark.parametrize(
    ("answer", "told", "kept"),
    [
        ({"approved": True}, "kept oak", ["oak"]),
        ({"approved": True, "edited_args": {"text": "ash"}}, "kept ash", ["ash"]),
        ({"approved": False, "value": "not now"}, "not now", []),
    ],
    ids=["yes", "yes, with other words", "no"],
)
async def test_question_of_a_child_reaches_the_person_while_its_sibling_works(
    tmp_path: Path, answer: dict[str, Any], told: str, kept: list[str]
) -> None:
    notes: list[str] = []
    replies = [*SCRIPT, {"when": told, "text": "Scribe is done."}, "Both are done."]
    async with serve(write_agents(tmp_path), replies, [make_note_tool(notes)]) as server:
        chunks, ask = await chat(server, answer)
        run_id = chunks[0]["messageMetadata"]["run_id"]
        events = server.stream("GET", f"/api/v1/runs/{run_id}/events")
        journal = [entry async for entry in events]
        left = (await server.get("/api/v1/asks"))["asks"]
    assert text_of(chunks) == "Both are done."
    assert (notes, left) == (kept, [])
    assert ask["payload"]["agent_path"] == ["master", "scribe"]
    assert (ask["path"][0], len(ask["path"]), ask["call_id"]) == (run_id, 2, "c3")
    ends = [entry for entry in journal if entry["type"] == "tool-end" and entry["call_id"] == "c3"]
    assert [(entry["path"], entry["status"]) for entry in ends] == [(ask["path"], "ok" if kept else "denied")]
    asked = [(entry["type"], entry["path"]) for entry in journal if entry["type"].startswith("ask-")]
    assert asked == [("ask-request", ask["path"]), ("ask-answer", ask["path"])]


async def test_listener_on_the_bus_answers_before_the_person_and_the_question_is_closed(
    tmp_path: Path,
) -> None:
    notes: list[str] = []
    replies = [*SCRIPT, {"when": "kept oak", "text": "Scribe is done."}, "Both are done."]
    async with serve(write_agents(tmp_path), replies, [make_note_tool(notes)]) as server:
        bus = server.app.bus
        asked: list[Message] = []
        records: list[Message] = []

        def approve(message: Message) -> None:
            asked.append(message)
            bus.answer(message.payload["ask_id"], {"approved": True})

        bus.subscribe("ask-request", approve)
        bus.subscribe("audit", records.append)
        chunks = await server.chat("do both")
        run_id = chunks[0]["messageMetadata"]["run_id"]
        journal = [entry async for entry in server.stream("GET", f"/api/v1/runs/{run_id}/events")]
        left = (await server.get("/api/v1/asks"))["asks"]
    assert text_of(chunks) == "Both are done."
    assert (notes, left) == (["oak"], [])
    assert [message.payload["payload"]["agent_path"] for message in asked] == [["master", "scribe"]]
    assert [entry["type"] for entry in journal if entry["type"].startswith("ask-")] == [
        "ask-request",
        "ask-answer",
    ]
    assert [message.payload["tool"] for message in records][-1] == "scribe"
    assert {message.payload["tool"] for message in records} == {"write_note", "scribe", "looker"}


async def test_a_child_that_leaves_memory_while_it_waits_is_not_reported_as_ended(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "dovetail.audit")
    notes: list[str] = []
    heard: list[Any] = []
    script = [*SCRIPT[1:], {"when": "kept oak", "text": "Noted."}, {"when": "Noted.", "text": "Done."}]
    begin = {
        "when": "begin",
        "tool_calls": [{"call_id": "c1", "name": "scribe", "arguments": {"query": "note it"}}],
    }
    settings = {"runs": {"park_after": 0.01}}
    tools = [make_note_tool(notes)]
    async with serve(write_agents(tmp_path), [begin, *script], tools, settings=settings) as server:
        server.app.bus.subscribe("subagent-activity", lambda message: heard.append(message.payload))
        run_id = ""
        async for chunk in server.stream(
            "POST", "/api/v1/chat", json={"message": "begin", "session_id": "s"}
        ):
            run_id = chunk["messageMetadata"]["run_id"]
            break
        [ask] = await wait_until_parked(server, run_id)
        assert caplog.records == []
        assert not [item for item in heard if item["type"] == "end"]
        await server.client.post(f"/api/v1/asks/{ask['ask_id']}", json={"approved": True})
        events = [entry async for entry in server.stream("GET", f"/api/v1/runs/{run_id}/events")]
    assert (events[-1]["type"], events[-1]["result"], notes) == ("run-end", "Done.", ["oak"])
    assert len(caplog.records) == 2
    assert [item["status"] for item in heard if item["type"] == "end"] == ["ok"]


async def wait_until_parked(server: Serving, run_id: str) -> list[dict[str, Any]]:
    while (await server.app.runs.store.get(run_id)).phase != "waiting":
        pass
    return (await server.get("/api/v1/asks"))["asks"]
