"""A run is stopped over HTTP: at once, after the tool that runs, or after the turn."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from dovetail.events.tool_context import ToolContext
from dovetail.tools.tool import Tool
from patience import PATIENCE
from serving import Serving, serve

CALLS = {
    "tool_calls": [
        {"call_id": "c1", "name": "work", "arguments": {}},
        {"call_id": "c2", "name": "work", "arguments": {}},
    ]
}


class Work:
    """A tool that waits until it may end, and counts how often it did."""

    def __init__(self) -> None:
        self.began = asyncio.Event()
        self.may_end = asyncio.Event()
        self.ended = 0

    def tool(self) -> Tool:
        async def work(args: dict[str, Any], context: ToolContext) -> str:
            self.began.set()
            await self.may_end.wait()
            self.ended += 1
            return "done"

        schema = {"type": "object", "properties": {}}
        return Tool(name="work", description="Work.", parameters=schema, execute=work)


async def cancel(server: Serving, work: Work, mode: str) -> list[str]:
    """Cancel while the first call runs; return how the calls ended."""
    body = {"message": "Work", "session_id": "s", "tab_id": "t"}
    stream = server.stream("POST", "/api/v1/chat", json=body)
    run_id = (await anext(stream))["messageMetadata"]["run_id"]
    async with asyncio.timeout(PATIENCE):
        await work.began.wait()
        response = await server.client.post(f"/api/v1/runs/{run_id}/cancel", json={"mode": mode})
        assert response.status_code == 202
        work.may_end.set()
        rest = [chunk async for chunk in stream]
    assert rest[-1]["type"] == "abort"
    run = await server.get(f"/api/v1/runs/{run_id}")
    assert (run["state"], run["reason"]) == ("ended", "cancelled")
    answer = (await server.get("/api/v1/sessions/s"))["path"][-1]
    parts = [part for part in answer["parts"] if part["type"] == "dynamic-tool"]
    return [part["toolMetadata"]["status"] for part in parts]


@pytest.mark.parametrize(
    ("mode", "statuses"),
    [
        ("now", ["interrupted", "interrupted"]),
        ("after_tool", ["ok", "interrupted"]),
        ("after_turn", ["ok", "ok"]),
    ],
)
async def test_a_cancel_lets_end_what_its_mode_says(tmp_path: Path, mode: str, statuses: list[str]) -> None:
    work = Work()
    async with serve(tmp_path, [CALLS, "Never said.", "Fine."], [work.tool()]) as server:
        assert await cancel(server, work, mode) == statuses
        assert work.ended == statuses.count("ok")
        assert len(server.model.requests) == 1
        server.model.script.take(server.model.requests[0])  # the reply that nobody asked for
        await server.chat("And now?")
        roles = [message["role"] for message in server.model.requests[-1].messages[2:]]
        assert roles == ["user", "assistant", "tool", "tool", "user"]
