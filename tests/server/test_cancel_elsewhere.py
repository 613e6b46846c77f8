"""A run is stopped at another server than the one that works on it: both share a PostgreSQL."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from dovetail.events.tool_context import ToolContext
from dovetail.tools.tool import Tool
from patience import PATIENCE
from postgres import make_database, uses_postgres
from serving import serve

pytestmark = uses_postgres
CALLS = {"tool_calls": [{"call_id": "c1", "name": "work"}, {"call_id": "c2", "name": "work"}]}


class Work:
    """A tool that waits until it may end, or until it is cancelled."""

    def __init__(self) -> None:
        self.began = asyncio.Event()
        self.may_end = asyncio.Event()

    def tool(self) -> Tool:
        async def work(args: dict[str, Any], context: ToolContext) -> str:
            self.began.set()
            await self.may_end.wait()
            return "done"

        return Tool(name="work", description="Work.", parameters={"type": "object"}, execute=work)


@pytest.mark.parametrize(
    ("mode", "statuses"),
    [
        ("now", ["interrupted", "interrupted"]),
        ("after_tool", ["ok", "interrupted"]),
        ("after_turn", ["ok", "ok"]),
    ],
)
async def test_a_cancel_at_another_server_lets_end_what_its_mode_says(
    tmp_path: Path, mode: str, statuses: list[str]
) -> None:
    work = Work()
    settings = {"store": {"url": await make_database()}}
    async with (
        serve(tmp_path, [CALLS, "Never said."], [work.tool()], settings) as here,
        serve(tmp_path, settings=settings) as there,
        asyncio.timeout(PATIENCE),
    ):
        body = {"message": "Work", "session_id": "s", "tab_id": "t"}
        stream = here.stream("POST", "/api/v1/chat", json=body)
        run_id = (await anext(stream))["messageMetadata"]["run_id"]
        await work.began.wait()
        assert here.app.runs.link.process_id != there.app.runs.link.process_id
        cancelled = await there.client.post(f"/api/v1/runs/{run_id}/cancel", json={"mode": mode})
        assert cancelled.status_code == 202
        if mode != "now":  # which does not wait for the tool
            while (await here.app.runs.get(run_id)).cancel_mode is None:  # the news travels to the other one
                await here.get("/healthz")
            work.may_end.set()
        assert [chunk async for chunk in stream][-1]["type"] == "abort"
        run = await there.get(f"/api/v1/runs/{run_id}")
        assert (run["state"], run["reason"]) == ("ended", "cancelled")
        answer = (await there.get("/api/v1/sessions/s"))["path"][-1]
        again = await there.client.post(f"/api/v1/runs/{run_id}/cancel", json={"mode": mode})
    parts = [part for part in answer["parts"] if part["type"] == "dynamic-tool"]
    assert [part["toolMetadata"]["status"] for part in parts] == statuses
    assert again.status_code == 409
    assert len(here.model.requests) == 1
