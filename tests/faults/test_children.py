"""The server is killed while agents work below agents: they continue, and their questions stay open.

A task is its own plan: JSON with the calls of each turn, so that an agent hands a part of it to the next one.
"""

import asyncio
import json
import os
import sqlite3
import sys
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from dovetail.events.call import ModelRequest, ToolCall
from dovetail.testing import ScriptedServer
from dovetail.testing.replies import Reply
from dovetail.testing.script import Script
from faults.brain import find_faults
from faults.world import World
from patience import PATIENCE
from postgres import make_database

pytestmark = pytest.mark.slow
KINDS = ("sqlite", "postgresql")
AGENT_FILE = """---
description: Does a task.
inputs:
  task: {type: string, description: What to do., required: true}
query: "${task}"
tools: [%s]
---
You do what the task says.
"""
AGENTS = {
    "boss": "worker, scout, held, note, enter, spend, peek",
    "worker": "note, enter, spend",
    "scout": "peek",
}
Entry = dict[str, Any]


def plan(name: str, *turns: list[tuple[str, Any]]) -> dict[str, Any]:
    return {"name": name, "turns": turns}


def below(depth: int, tool: str, task: dict[str, Any]) -> dict[str, Any]:
    """Return a plan whose task is done by an agent that many levels below the chat."""
    if depth == 0:
        return task
    inner = task if depth == 1 else plan("middle", [(tool, task)])
    return plan("top", [("boss" if depth == 2 else tool, inner)])


class Planner(Script):
    """A model that does what the task says; `asked` counts its answers by task and turn."""

    def __init__(self) -> None:
        super().__init__(())
        self.asked: Counter[tuple[str, int]] = Counter()
        self.complaints: list[str] = []

    def take(self, request: ModelRequest) -> Reply:
        messages = request.messages
        self.complaints += find_faults(messages)
        question = max(place for place, message in enumerate(messages) if message["role"] == "user")
        task = json.loads(str(messages[question]["content"]))
        turn = sum(message["role"] == "assistant" for message in messages[question:])
        self.asked[task["name"], turn] += 1
        if turn >= len(task["turns"]):
            return Reply(text=f"{task['name']} is done.")
        calls = [_call(place, *call) for place, call in enumerate(task["turns"][turn])]
        return Reply(tool_calls=calls)


def _call(place: int, name: str, task: Any) -> ToolCall:
    if name == "complete_task":
        arguments = {"result": task}
    else:
        arguments = {"key": task} if isinstance(task, str) else {"task": json.dumps(task)}
    return ToolCall(call_id=f"call_{place}", name=name, arguments=arguments)


@dataclass
class Stage:
    """A world, its model, and the run that is watched in it."""

    world: World
    model: Planner
    folder: Path
    run_id: str = ""

    async def send(self, task: dict[str, Any]) -> None:
        body = {"message": json.dumps(task), "session_id": "s", "tab_id": "t"}
        async for chunk in self.world.stream("POST", "/api/v1/chat", json=body):
            self.run_id = chunk["messageMetadata"]["run_id"]
            return

    async def read(self, is_last: Callable[[Entry], bool]) -> list[Entry]:
        """Return the events of the run up to one."""
        entries: list[Entry] = []
        async for entry in self.world.stream("GET", f"/api/v1/runs/{self.run_id}/events"):
            entries.append(entry)
            if is_last(entry):
                return entries
        raise AssertionError(f"ended without it: {entries[-3:]}\n{self.world.read_log()}")

    async def find_asks(self) -> list[Entry]:
        """Look until a question is listed."""
        while not (asks := (await self.world.request("GET", "/api/v1/asks")).json()["asks"]):
            pass
        return asks

    async def kill_and_restart(self) -> None:
        await self.world.end()
        (self.folder / "hold").write_text("")
        await self.world.start()

    async def approve(self, ask_id: str) -> None:
        await self.world.request("POST", f"/api/v1/asks/{ask_id}", json={"approved": True})

    async def finish(self) -> list[Entry]:
        """Return all events once the run has ended, and check that nothing was begun or asked for twice."""
        entries = await self.read(lambda entry: entry["type"] == "run-end" and len(entry["path"]) == 1)
        assert entries[-1]["reason"] == "goal"
        starts = [tuple(entry["path"]) for entry in entries if entry["type"] == "run-start"]
        ends = [entry for entry in entries if entry["type"] == "run-end"]
        assert len(starts) == len(set(starts)) == len(ends)
        assert {entry["reason"] for entry in ends} == {"goal"}
        assert set(self.model.asked.values()) == {1}, self.model.asked
        assert self.model.complaints == []
        assert (await self.world.request("GET", "/api/v1/asks")).json()["asks"] == []
        return entries

    @property
    def ledger(self) -> list[str]:
        return sorted(self.world.ledger.read_text().splitlines())


@asynccontextmanager
async def stage(folder: Path, kind: str, hold: str = "", settings: str = "") -> AsyncIterator[Stage]:
    url = f"sqlite:///{folder / 'x.db'}" if kind == "sqlite" else await make_database()
    (folder / "hold").write_text(hold)
    (folder / "dovetail.toml").write_text(settings)
    (folder / "agents").mkdir()
    for name, tools in AGENTS.items():
        (folder / "agents" / f"{name}.md").write_text(AGENT_FILE % tools)
    with ScriptedServer() as server:
        server.script = model = Planner()
        environment = {"DATABASE_URL": url, "DOVETAIL_MODEL": "openai:x", "DOVETAIL_BASE_URL": server.url}
        async with World(folder, environment) as world, asyncio.timeout(PATIENCE):
            await world.start()
            yield Stage(world, model, folder)


def is_inside(entry: Entry) -> bool:
    return entry["type"] == "tool-progress" and entry["output"] == "inside"


def find_result(entries: list[Entry], tool: str) -> Entry:
    """Return the end of the one call of a tool."""
    made = {(*entry["path"], entry["call_id"]) for entry in entries if entry.get("name") == tool}
    ends = [entry for entry in entries if entry["type"] == "tool-end"]
    (found,) = [entry for entry in ends if (*entry["path"], entry["call_id"]) in made]
    return found


@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize("kind", KINDS)
async def test_a_child_continues_after_a_kill_inside_of_its_call(
    tmp_path: Path, kind: str, depth: int
) -> None:
    task = plan("task", [("note", "1")], [("enter", "2"), ("note", "3")], [("note", "4")])
    async with stage(tmp_path, kind, "enter") as here:
        await here.send(below(depth, "worker", task))
        await here.read(is_inside)
        await here.kill_and_restart()
        entries = await here.finish()
        assert here.ledger == ["enter 2", "note 1", "note 3", "note 4"]
    cut_off = find_result(entries, "enter")
    assert (cut_off["status"], len(cut_off["path"])) == ("interrupted", depth + 1)
    assert "whether it had an effect is not known" in cut_off["result"]["llm_content"]


@pytest.mark.parametrize("depth", [0, 1, 2])
@pytest.mark.parametrize("kind", KINDS)
async def test_a_question_stays_open_after_a_kill_in_the_moment_it_is_listed(
    tmp_path: Path, kind: str, depth: int
) -> None:
    task = plan("task", [("note", "1")], [("spend", "2"), ("note", "3")], [("note", "4")])
    async with stage(tmp_path, kind) as here:
        await here.send(below(depth, "worker", task))
        (first,) = await here.find_asks()
        await here.kill_and_restart()
        assert await here.find_asks() == [first]
        assert len(first["path"]) == depth + 1
        await here.approve(first["ask_id"])
        entries = await here.finish()
        assert here.ledger == ["note 1", "note 3", "note 4", "spend 2"]
    assert find_result(entries, "spend")["status"] == "ok"
    assert [entry["ask_id"] for entry in entries if entry["type"] == "ask-request"] == [first["ask_id"]]


@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize("kind", KINDS)
async def test_a_child_that_had_ended_hands_over_its_result_after_a_kill(
    tmp_path: Path, kind: str, depth: int
) -> None:
    report = {"parts": [1, 2, 3]}
    task = plan("task", [("note", "1")], [("complete_task", report)])
    async with stage(tmp_path, kind, "held") as here:
        await here.send(below(depth, "held", task))
        seen = await here.read(lambda entry: entry["type"] == "tool-progress" and entry["output"] == "held")
        assert [len(entry["path"]) for entry in seen if entry["type"] == "run-end"] == [depth + 1]
        await here.kill_and_restart()
        entries = await here.finish()
        assert here.ledger == ["note 1"]
    assert find_result(entries, "held")["result"]["data"] == report


@pytest.mark.parametrize("kind", KINDS)
async def test_children_next_to_each_other_all_continue_after_a_kill(tmp_path: Path, kind: str) -> None:
    asks = plan("asks", [("note", "1")], [("spend", "2")])
    looks = plan("looks", [("peek", "3")], [("peek", "4")])
    async with stage(tmp_path, kind, "peek") as here:
        await here.send(
            plan("top", [("worker", asks), ("scout", looks), ("scout", {**looks, "name": "more"})])
        )
        (first,) = await here.find_asks()
        await here.read(is_inside)
        await here.kill_and_restart()
        await here.approve(first["ask_id"])
        entries = await here.finish()
        lines = Counter(here.ledger)
    assert (lines["note 1"], lines["spend 2"]) == (1, 1)
    assert [entry["type"] for entry in entries].count("run-start") == 4


@pytest.mark.parametrize("is_killed", [False, True])
@pytest.mark.parametrize("depth", [1, 2])
async def test_a_child_that_waits_leaves_memory_and_continues_with_its_answer(
    tmp_path: Path, depth: int, is_killed: bool
) -> None:
    task = plan("task", [("note", "1")], [("spend", "2"), ("note", "3")], [("note", "4")])
    async with stage(tmp_path, "sqlite", settings="runs = {park_after = 0.01}") as here:
        await here.send(below(depth, "worker", task))
        (first,) = await here.find_asks()
        with closing(sqlite3.connect(tmp_path / "x.db")) as store:
            while store.execute("SELECT phase FROM runs").fetchall() != [("waiting",)]:
                pass
        if is_killed:
            await here.kill_and_restart()
        await here.approve(first["ask_id"])
        entries = await here.finish()
        assert here.ledger == ["note 1", "note 3", "note 4", "spend 2"]
    assert "run-resume" not in [entry["type"] for entry in entries]
    assert find_result(entries, "spend")["status"] == "ok"


EXTENSION = """
from pathlib import Path

def publish(title: str) -> str:
    "Publish a page."
    with Path("published.txt").open("a") as file:
        file.write(title + "\\n")
    return "It is online."

TOOL = {
    "label": "pages",
    "name": "publish",
    "description": "Publish a page.",
    "kind": "communicate",
    "parameters": {"title": {"type": "string", "description": "The title"}},
    "execute": publish,
}
"""
EDITOR = """---
description: Publishes pages.
tools: [publish]
---
You are an editor.
"""


async def test_a_folder_with_an_agent_and_a_tool_outlives_a_kill_of_the_server(tmp_path: Path) -> None:
    for path, text in (("agents/editor.md", EDITOR), ("extensions/pages/extension.py", EXTENSION)):
        (tmp_path / path).parent.mkdir(parents=True)
        (tmp_path / path).write_text(text)
    replies = [
        {"tool_calls": [{"name": "editor", "arguments": {"query": "Publish the news."}}]},
        {"tool_calls": [{"name": "publish", "arguments": {"title": "News"}}]},
        "The page is online.",
        "Your editor says that the page is online.",
    ]
    with ScriptedServer(replies) as model:
        async with httpx.AsyncClient(timeout=PATIENCE) as client:
            async with serve_folder(tmp_path, model) as (server, address):
                asking = asyncio.create_task(
                    client.post(f"{address}/api/v1/chat", json={"message": "News!", "session_id": "s"})
                )
                while not (asks := (await client.get(f"{address}/api/v1/asks")).json()["asks"]):
                    pass
                server.kill()
                await server.communicate()
                await asyncio.gather(asking, return_exceptions=True)
            async with serve_folder(tmp_path, model) as (_, address):
                await client.post(f"{address}/api/v1/asks/{asks[0]['ask_id']}", json={"approved": True})
                events = await client.get(f"{address}/api/v1/runs/{asks[0]['run_id']}/events")
                path = (await client.get(f"{address}/api/v1/sessions/s")).json()["path"]
        assert model.script.unused == []
    assert '"run-end"' in events.text
    assert path[-1]["parts"][-1]["text"] == "Your editor says that the page is online."
    assert (tmp_path / "published.txt").read_text() == "News\n"


@asynccontextmanager
async def serve_folder(
    folder: Path, model: ScriptedServer
) -> AsyncIterator[tuple[asyncio.subprocess.Process, str]]:
    """Run `dovetail serve` in a folder, as its user does."""
    environment = {**os.environ, "DOVETAIL_MODEL": "openai:x", "DOVETAIL_BASE_URL": model.url}
    server = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "dovetail", "serve", "--port", "0"),
        cwd=folder,
        env=environment,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        assert server.stdout is not None
        yield server, (await server.stdout.readline()).decode().split()[-1]
    finally:
        if server.returncode is None:
            server.kill()
            await server.communicate()
