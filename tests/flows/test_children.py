"""An agent that a run has called can be read, sent messages and stopped by the id of its own run."""

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from dovetail.events.call import Kind
from dovetail.testing import Gate
from dovetail.tools.makers.function import make_tool
from dovetail.tools.tool import Tool
from patience import PATIENCE
from postgres import make_database, uses_postgres
from serving import Serving, serve, text_of

AGENT = """---
name: researcher
description: Finds things out.
tools: [dig]
---
You are the researcher.
"""
KINDS = pytest.mark.parametrize("kind", ["here", pytest.param("elsewhere", marks=uses_postgres)])


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"tool_calls": [{"call_id": "c1", "name": name, "arguments": arguments}]}


ASK = {"when": "how many?", **call("researcher", query="find oaks")}
DIG = {"when": "find oaks", **call("dig", where="here")}


class Digging:
    """A tool that waits until it may end."""

    def __init__(self) -> None:
        self.began, self.may_end = asyncio.Event(), asyncio.Event()

    def tool(self) -> Tool:
        async def dig(where: str) -> str:
            """Dig."""
            self.began.set()
            await self.may_end.wait()
            return f"dug {where}"

        return make_tool(dig, kind=Kind.Read)


async def open_servers(
    exits: AsyncExitStack, folder: Path, kind: str, replies: list[Any], digging: Digging
) -> tuple[Serving, Serving]:
    """Return the server that works, and the one that is asked: another process, or the same."""
    (folder / "agents").mkdir()
    (folder / "agents" / "researcher.md").write_text(AGENT)
    settings = {} if kind == "here" else {"store": {"url": await make_database()}}
    here = await exits.enter_async_context(serve(folder, replies, [digging.tool()], settings))
    if kind == "here":
        return here, here
    return here, await exits.enter_async_context(serve(folder, [], settings=settings))


async def find_child(server: Serving) -> tuple[str, str]:
    """Return the ids of the run in progress and of the agent that it has called."""
    root = (await server.get("/api/v1/sessions/s"))["run_id"]
    async for event in server.stream("GET", f"/api/v1/runs/{root}/events"):
        if event["type"] == "tool-start" and len(event["path"]) > 1:
            return root, event["path"][-1]
    raise AssertionError("no agent was called")


@KINDS
async def test_message_to_an_agent_at_work_is_read_in_its_next_turn(tmp_path: Path, kind: str) -> None:
    digging = Digging()
    replies = [ASK, DIG, {"when": "Only big ones.", "text": "Two oaks."}, {"when": "Two", "text": "Two."}]
    async with AsyncExitStack() as exits, asyncio.timeout(PATIENCE):
        here, there = await open_servers(exits, tmp_path, kind, replies, digging)
        asking = asyncio.create_task(here.chat("how many?"))
        await digging.began.wait()
        root, child = await find_child(here)
        run = await there.get(f"/api/v1/runs/{child}")
        body = {"message": "Only big ones."}
        sent = await there.client.post(f"/api/v1/runs/{child}/messages", json=body)
        queued = await there.client.post(f"/api/v1/runs/{child}/messages", json={**body, "mode": "queue"})
        digging.may_end.set()
        events = [event async for event in there.stream("GET", f"/api/v1/runs/{root}/events")]
        assert text_of(await asking) == "Two."
        waiting = (await here.get("/api/v1/sessions/s/inbox"))["messages"]
    assert (run["id"], run["agent"], run["state"], run["reason"]) == (child, "researcher", "running", None)
    assert sent.status_code == 202, sent.text
    assert queued.status_code == 409
    assert root in queued.json()["error"]["hint"]
    [read] = [event for event in events if event["type"] == "user-message"]
    assert read["path"] == [root, child]
    assert waiting == []
    [*_, asked, _] = here.model.requests
    assert asked.messages[-1] == {"role": "user", "content": "Only big ones."}


@KINDS
async def test_agent_at_work_is_stopped_and_its_caller_continues(tmp_path: Path, kind: str) -> None:
    digging, answer = Digging(), Gate()
    replies = [ASK, DIG, {"when": "cancelled", "steps": [answer, "I do not know."]}]
    async with AsyncExitStack() as exits, asyncio.timeout(PATIENCE):
        here, there = await open_servers(exits, tmp_path, kind, replies, digging)
        asking = asyncio.create_task(here.chat("how many?"))
        await digging.began.wait()
        _, child = await find_child(here)
        stopped = await there.client.post(f"/api/v1/runs/{child}/cancel")
        events = [event async for event in there.stream("GET", f"/api/v1/runs/{child}/events")]
        answer.open()
        chunks = await asking
        gone = await there.client.get(f"/api/v1/runs/{child}")
    assert stopped.status_code == 202, stopped.text
    assert (events[0]["type"], events[-1]["type"]) == ("run-start", "run-end")
    assert events[-1]["reason"] == "cancelled"
    assert {event["path"][-1] for event in events} == {child}
    assert text_of(chunks) == "I do not know."
    assert gone.status_code == 404


async def test_message_that_an_agent_does_not_read_any_more_is_read_by_its_caller(tmp_path: Path) -> None:
    digging = Digging()
    replies = [ASK, DIG, {"when": "Only big ones.", "text": "No big ones."}]
    async with AsyncExitStack() as exits, asyncio.timeout(PATIENCE):
        here, _ = await open_servers(exits, tmp_path, "here", replies, digging)
        asking = asyncio.create_task(here.chat("how many?"))
        await digging.began.wait()
        _, child = await find_child(here)
        await here.client.post(f"/api/v1/runs/{child}/messages", json={"message": "Only big ones."})
        await here.client.post(f"/api/v1/runs/{child}/cancel")
        assert text_of(await asking) == "No big ones."


async def test_child_of_another_owner_and_an_unknown_one_are_not_found(tmp_path: Path) -> None:
    digging = Digging()
    async with AsyncExitStack() as exits, asyncio.timeout(PATIENCE):
        here, _ = await open_servers(exits, tmp_path, "here", [ASK, DIG, "Two oaks.", "Two."], digging)
        asking = asyncio.create_task(here.chat("how many?"))
        await digging.began.wait()
        _, child = await find_child(here)
        with pytest.raises(Exception, match="not found"):
            await here.app.runs.get(child, owner="bob")
        for unknown in ("run_none", "%"):
            assert (await here.client.get(f"/api/v1/runs/{unknown}")).status_code == 404
            assert (await here.client.post(f"/api/v1/runs/{unknown}/cancel")).status_code == 404
        digging.may_end.set()
        await asking
