"""A plain `useChat` client answers by sending its message again: its streams end exactly when it must act."""

import asyncio
from pathlib import Path
from typing import Any

from dovetail.events.call import Kind
from dovetail.events.tool_context import ToolContext
from dovetail.tools.tool import Tool
from patience import PATIENCE
from serving import Serving, serve, text_of

CALLS = {"tool_calls": [{"call_id": f"c-{name}", "name": name} for name in ("save", "drop")]}
Chunks = list[dict[str, Any]]


def make_tool(name: str) -> Tool:
    async def execute(args: dict[str, Any], context: ToolContext) -> str:
        return f"{name} ran"

    return Tool(name=name, description=name, parameters={"type": "object"}, execute=execute, kind=Kind.Write)


async def send(server: Serving, message: dict[str, Any]) -> Chunks:
    """Send a client's last message and read until the stream ends."""
    body = {"id": "s", "messages": [message], "trigger": "submit-message"}
    async with asyncio.timeout(PATIENCE):
        return [chunk async for chunk in server.stream("POST", "/api/v1/chat", json=body)]


def answer(seen: Chunks, *names: str) -> dict[str, Any]:
    """The message that the client has by now, with approvals of some calls."""
    asked = {chunk["toolCallId"]: chunk for chunk in seen if chunk["type"] == "tool-approval-request"}
    parts = [
        {
            "type": "dynamic-tool",
            "toolName": name,
            "toolCallId": f"c-{name}",
            "state": "approval-responded",
            "input": {},
            "approval": {"id": asked[f"c-{name}"]["approvalId"], "approved": True},
        }
        for name in names
    ]
    metadata = {**seen[0]["messageMetadata"], **seen[-1]["messageMetadata"]}
    return {"id": seen[0]["messageId"], "role": "assistant", "parts": parts, "metadata": metadata}


async def test_a_stream_ends_when_all_was_asked_and_again_while_something_is_left(tmp_path: Path) -> None:
    question = {"id": "u", "role": "user", "parts": [{"type": "text", "text": "Do it."}]}
    async with serve(tmp_path, [CALLS, "Done."], [make_tool("save"), make_tool("drop")]) as server:
        first = await send(server, question)
        assert [chunk["type"] for chunk in first].count("tool-approval-request") == 2
        assert first[-1]["finishReason"] == "tool-calls"
        second = await send(server, answer(first, "save"))
        assert [chunk["type"] for chunk in second if chunk["type"] != "tool-approval-response"] == [
            "start",
            "finish",
        ]
        assert len((await server.get("/api/v1/asks"))["asks"]) == 1
        third = await send(server, answer([*first[:-1], *second[1:]], "save", "drop"))
        assert text_of(third) == "Done."
        assert third[-1]["finishReason"] == "stop"


async def test_an_answer_given_elsewhere_is_not_awaited_again(tmp_path: Path) -> None:
    question = {"id": "u", "role": "user", "parts": [{"type": "text", "text": "Do it."}]}
    async with serve(tmp_path, [CALLS, "Done."], [make_tool("save"), make_tool("drop")]) as server:
        first = await send(server, question)
        for ask in (await server.get("/api/v1/asks"))["asks"]:
            await server.client.post(f"/api/v1/asks/{ask['ask_id']}", json={"approved": True})
        rest = await send(server, answer(first, "save", "drop"))
        assert text_of(rest) == "Done."
