"""What a model was asked in a chat is kept once, however long the chat gets, and can be read whole."""

import json
from pathlib import Path
from typing import Any

from dovetail.events.model_events import ModelRequestEvent
from serving import Serving, serve

CALL = {"tool_calls": [{"call_id": "c1", "name": "summarizer", "arguments": {"text": "A long tale"}}]}


async def read_requests(server: Serving, run_id: str) -> list[dict[str, Any]]:
    """The requests of a run as those see them who inspect it."""
    journal = [event async for event in server.stream("GET", f"/api/v1/runs/{run_id}/events")]
    return [event for event in journal if event["type"] == "model-request" and len(event["path"]) == 1]


async def chat(server: Serving, text: str) -> str:
    """Send a message; return the run of its answer."""
    return (await server.chat(text))[0]["messageMetadata"]["run_id"]


async def measure(server: Serving, run_id: str) -> int:
    """How much the journal of a run keeps of what the model was asked."""
    events = [entry.event for entry in await server.app.runs.history(run_id)]
    return sum(len(json.dumps(event.messages)) for event in events if isinstance(event, ModelRequestEvent))


async def test_a_request_in_the_middle_of_a_chat_is_read_whole(tmp_path: Path) -> None:
    async with serve(tmp_path, ["Hello.", CALL, "Short.", "It is short."]) as server:
        await chat(server, "Hi")
        asked = await read_requests(server, await chat(server, "Sum it up"))
        sent = [[dict(message) for message in request.messages] for request in server.model.requests]
    assert asked[0]["messages"] == sent[1]
    assert asked[1]["kept"] == len(sent[1])
    assert asked[0]["messages"] + asked[1]["messages"] == sent[3]


async def test_a_long_chat_grows_by_what_is_said_in_it(tmp_path: Path) -> None:
    async with serve(tmp_path, ["An answer of some length. " * 40] * 12) as server:
        sizes = [await measure(server, await chat(server, f"Question {number:02}")) for number in range(12)]
    assert max(sizes) - min(sizes) < 100


async def test_what_was_deleted_from_the_session_is_gone_from_its_journals(tmp_path: Path) -> None:
    async with serve(tmp_path, ["Hello."]) as server:
        run_id = await chat(server, "My secret")
        message_id = (await server.get("/api/v1/sessions/s"))["path"][0]["id"]
        await server.client.delete(f"/api/v1/sessions/s/messages/{message_id}")
        (asked,) = await read_requests(server, run_id)
    assert "My secret" not in json.dumps(asked)
    assert "deleted" in asked["messages"][-1]["content"]


async def test_a_conversation_that_is_stored_nowhere_else_is_recorded_whole(tmp_path: Path) -> None:
    async with serve(tmp_path, ["Hello."]) as server:
        body = {"model": "master", "messages": [{"role": "user", "content": "Hi"}]}
        assert (await server.client.post("/v1/chat/completions", json=body)).status_code == 200
        (record,) = await server.app.runs.store.find(state="ended")
        (asked,) = await read_requests(server, record.id)
    assert asked["messages"][-1] == {"role": "user", "content": "Hi"}
