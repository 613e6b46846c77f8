"""A run that is resumed after a restart has the budget it had left."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from dovetail.events.delta import Usage
from dovetail.events.run_events import ToolEnd, TurnEnd
from dovetail.events.tool_context import ToolContext
from dovetail.testing import Gate
from dovetail.tools.tool import Tool
from patience import PATIENCE
from serving import Serving, serve

CALL = {"tool_calls": [{"name": "step"}], "usage": Usage(100, 10)}


def make_tool() -> Tool:
    async def execute(args: dict[str, Any], context: ToolContext) -> str:
        return "one step further"

    return Tool(name="step", description="Go.", parameters={"type": "object"}, execute=execute)


def define_agent(folder: Path, limits: str) -> None:
    (folder / "agents").mkdir()
    text = f"---\nname: walker\ndescription: Walks.\ntools: [step]\n{limits}\n---\nWalk."
    (folder / "agents" / "walker.md").write_text(text)


async def begin(folder: Path) -> str:
    """Let the first life of a server take two turns and end in the middle of the third; return the run."""
    gate = Gate()
    async with serve(folder, [CALL, CALL, ["I was about to", gate]], [make_tool()]) as server:
        body = {"message": "Go.", "session_id": "s", "agent": "walker"}
        async with server.client.stream("POST", "/api/v1/chat", json=body):
            async with asyncio.timeout(PATIENCE):
                await gate.reached.async_wait()
            record = await server.app.runs.find_running("s")
    assert record is not None
    return record.id


async def end(server: Serving, run_id: str) -> None:
    async with asyncio.timeout(PATIENCE), await server.app.runs.read(run_id) as reader:
        while not reader.ended:
            await reader.next()


@pytest.mark.parametrize("limits", ["max_turns: 3", "max_tokens: 300"])
async def test_turns_and_tokens_from_before_a_restart_count(tmp_path: Path, limits: str) -> None:
    define_agent(tmp_path, limits)
    run_id = await begin(tmp_path)
    async with serve(tmp_path, [CALL, "As far as I got.", "Too far."], [make_tool()]) as server:
        await end(server, run_id)
        asked = server.model.requests
        events = [entry.event for entry in await server.app.runs.history(run_id)]
        session = await server.get("/api/v1/sessions/s")
    assert [request.tool_choice for request in asked] == ["auto", "none"]
    assert "limit" in asked[1].messages[-1]["content"]
    assert [event.turn for event in events if isinstance(event, TurnEnd)] == [1, 2, 3, 4]
    calls = [event.call_id for event in events if isinstance(event, ToolEnd)]
    assert len(set(calls)) == len(calls) == 3
    assert session["usage"]["input_tokens"] == 300


async def test_a_budget_that_is_not_used_up_lets_the_run_continue(tmp_path: Path) -> None:
    define_agent(tmp_path, "max_turns: 5")
    run_id = await begin(tmp_path)
    async with serve(tmp_path, [CALL, "There."], [make_tool()]) as server:
        await end(server, run_id)
        assert [request.tool_choice for request in server.model.requests] == ["auto", "auto"]
