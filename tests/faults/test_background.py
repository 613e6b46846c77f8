"""The server is killed while an agent works in the background: nothing is lost, repeated or asked twice."""

import asyncio
import itertools
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from dovetail.events.call import ModelRequest, ToolCall
from dovetail.testing import ScriptedServer
from dovetail.testing.replies import Gate, Reply
from dovetail.testing.script import Script
from faults.brain import HELPER, HELPER_FILE, find_faults
from faults.world import World
from patience import PATIENCE
from postgres import make_database

pytestmark = pytest.mark.slow
KINDS = pytest.mark.parametrize("kind", ["sqlite", "postgresql"])


class Boss(Script):
    """Starts the helper in the background, and answers everything else; the helper notes, spends and ends.

    Each call has a new id, also when a turn is asked for again. The helper's first word waits for `gate`.
    """

    def __init__(self) -> None:
        super().__init__(())
        self.gate: Gate | None = None
        self._ids = (f"c{number}" for number in itertools.count())
        self.complaints: list[str] = []
        self.asked: list[Sequence[Mapping[str, Any]]] = []

    def take(self, request: ModelRequest) -> Reply:
        messages = request.messages
        self.complaints += find_faults(messages)
        if any(HELPER in str(message["content"]) for message in messages):
            return self._help(messages)
        self.asked.append(messages)
        if messages[-1]["content"] == "start":
            arguments = {"task": "job", "background": True}
            return Reply(tool_calls=[ToolCall(call_id=next(self._ids), name="helper", arguments=arguments)])
        return Reply(text="Fine.")

    def _help(self, messages: Sequence[Mapping[str, Any]]) -> Reply:
        turn = sum(message["role"] == "assistant" for message in messages)
        names = ("note", "spend")[turn : turn + 1]
        calls = [
            ToolCall(call_id=next(self._ids), name=name, arguments={"key": f"k{turn}"}) for name in names
        ]
        reply = Reply(text="" if calls else "helped", tool_calls=calls)
        gate, self.gate = self.gate, None
        if gate is None:
            return reply
        return Reply(steps=[gate, *reply.plan()], finish_reason="tool-calls")


@asynccontextmanager
async def open_world(folder: Path, kind: str) -> AsyncGenerator[tuple[World, Boss]]:
    url = f"sqlite:///{folder / 'x.db'}" if kind == "sqlite" else await make_database()
    (folder / "agents").mkdir()
    (folder / "agents" / "helper.md").write_text(HELPER_FILE)
    with ScriptedServer() as model:
        model.script = boss = Boss()
        environment = {"DATABASE_URL": url, "DOVETAIL_MODEL": "openai:x", "DOVETAIL_BASE_URL": model.url}
        async with World(folder, environment) as world:
            await world.start()
            yield world, boss
    assert boss.complaints == []


async def say(world: World, text: str) -> str:
    """Send a message to the session and read its answer."""
    body = {"message": text, "session_id": "s"}
    chunks = [chunk async for chunk in world.stream("POST", "/api/v1/chat", json=body)]
    return "".join(chunk["delta"] for chunk in chunks if chunk["type"] == "text-delta")


async def get(world: World, path: str) -> Any:
    return (await world.request("GET", f"/api/v1/{path}")).json()


async def find_child(world: World) -> dict[str, Any]:
    [child] = (await get(world, "sessions/s/children"))["children"]
    return child


async def follow(world: World, run_id: str, until: str) -> None:
    """Read the events of a run up to one of this type, across restarts."""
    while True:
        async for event in world.stream("GET", f"/api/v1/runs/{run_id}/events"):
            if event["type"] == until:
                return


async def restart(world: World) -> None:
    await world.end()
    await world.start()


async def approve(world: World, child: dict[str, Any]) -> None:
    """Answer the question of the task, which is listed with both sessions."""
    await follow(world, child["run_id"], "ask-request")
    [ask] = (await get(world, "asks"))["asks"]
    assert (ask["session_id"], ask["parent_session_id"]) == (child["session_id"], "s")
    answer = await world.request("POST", f"/api/v1/asks/{ask['id']}", json={"approved": True})
    assert answer.status_code == 200


async def check_end(world: World, boss: Boss, child: dict[str, Any]) -> None:
    """See that the task did everything once, and that its one notice reaches the next answer."""
    await follow(world, child["run_id"], "run-end")
    run = await get(world, f"runs/{child['run_id']}")
    assert (run["reason"], run["result"]) == ("goal", "helped")
    assert world.ledger.read_text().splitlines() == ["note k0", "spend k1"]
    for question in ("And now?", "And then?"):
        assert await say(world, question) == "Fine."
        notices = [message for message in boss.asked[-1] if "[Background task" in str(message["content"])]
        assert len(notices) == 1
        assert child["session_id"] in notices[0]["content"]
        assert notices[0]["content"].endswith("Result:\nhelped")
    assert (await get(world, "sessions/s/inbox"))["messages"] == []


@KINDS
async def test_task_is_not_started_again_after_a_kill_right_after_its_start(
    tmp_path: Path, kind: str
) -> None:
    async with open_world(tmp_path, kind) as (world, boss):
        gate = boss.gate = Gate("the first word of the helper")
        asking = asyncio.create_task(say(world, "start"))
        async with asyncio.timeout(PATIENCE):
            await gate.reached.async_wait()
        await world.end()
        gate.open()
        await asyncio.gather(asking, return_exceptions=True)
        await world.start()
        async for _ in world.stream("GET", "/api/v1/chat/s/stream"):
            pass
        child = await find_child(world)
        await approve(world, child)
        await check_end(world, boss, child)


@KINDS
async def test_task_continues_after_a_kill_while_it_works(tmp_path: Path, kind: str) -> None:
    async with open_world(tmp_path, kind) as (world, boss):
        assert await say(world, "start") == "Fine."
        child = await find_child(world)
        await follow(world, child["run_id"], "tool-end")
        await restart(world)
        await approve(world, child)
        await check_end(world, boss, child)


@KINDS
async def test_question_of_a_task_stays_open_across_a_kill(tmp_path: Path, kind: str) -> None:
    async with open_world(tmp_path, kind) as (world, boss):
        assert await say(world, "start") == "Fine."
        child = await find_child(world)
        await follow(world, child["run_id"], "ask-request")
        before = (await get(world, "asks"))["asks"]
        await restart(world)
        assert [ask["id"] for ask in (await get(world, "asks"))["asks"]] == [ask["id"] for ask in before]
        await approve(world, child)
        await check_end(world, boss, child)


@KINDS
async def test_notice_of_a_task_that_ended_before_a_kill_reaches_the_next_answer(
    tmp_path: Path, kind: str
) -> None:
    async with open_world(tmp_path, kind) as (world, boss):
        assert await say(world, "start") == "Fine."
        child = await find_child(world)
        await approve(world, child)
        await follow(world, child["run_id"], "run-end")
        await restart(world)
        await check_end(world, boss, child)
