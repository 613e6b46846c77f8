"""Code that holds the event loop is named while it does, and counted afterwards."""

import asyncio
import logging
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from dovetail import tool
from dovetail.stall import Stall, StallWatch
from patience import PATIENCE
from serving import serve

BLOCK = {"tool_calls": [{"name": "block", "arguments": {}, "call_id": "c1"}]}


class Alarm(logging.Handler):
    """Is set by the first warning that names this test's code; a busy machine may lead to others."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.rung = threading.Event()
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        if "test_stall.py" in record.getMessage():
            self.texts.append(record.getMessage())
            self.rung.set()


@pytest.fixture
def alarm() -> Iterator[Alarm]:
    logger, alarm = logging.getLogger("dovetail.stall"), Alarm()
    logger.addHandler(alarm)
    yield alarm
    logger.removeHandler(alarm)


async def test_an_async_tool_that_blocks_is_named_in_the_log_the_metrics_and_its_run(
    tmp_path: Path, alarm: Alarm
) -> None:
    @tool
    async def block() -> str:
        """Do something slow without `await`."""
        return "Rung." if alarm.rung.wait(PATIENCE) else "Nobody noticed."

    settings = {"runs": {"stall_after": 0.05}}
    async with serve(tmp_path, [BLOCK, "Done."], [block], settings=settings) as server:
        chunks = await server.chat("Go.")
        [output] = [chunk["output"] for chunk in chunks if chunk["type"] == "tool-output-available"]
        assert output == "Rung."
        [run] = (await server.get("/api/v1/runs"))["runs"]
        events = [entry.to_dict() for entry in await server.app.runs.history(run["id"])]
        metrics = (await server.client.get("/metrics")).text
    assert len(alarm.texts) == 1
    assert alarm.texts[0].startswith("Tool 'block' blocks the event loop for more than 0.05 s at ")
    assert " in block. " in alarm.texts[0]
    assert "`def` instead of `async def`" in alarm.texts[0]
    kinds = [event["type"] for event in events if event.get("call_id") == "c1"]
    assert kinds[-2:] == ["tool-stall", "tool-end"]
    [stall] = [event for event in events if event["type"] == "tool-stall"]
    assert stall["seconds"] >= 0.05
    assert "in block" in stall["where"]
    assert 'dovetail_loop_blocked_seconds_total{tool="block"}' in metrics


async def test_code_outside_of_tools_is_named_by_its_line(alarm: Alarm) -> None:
    stalls: asyncio.Queue[Stall] = asyncio.Queue()
    async with StallWatch(0.01, stalls.put_nowait), asyncio.timeout(PATIENCE):

        async def hold() -> None:
            assert alarm.rung.wait(PATIENCE)

        await asyncio.create_task(hold())
        while "in hold" not in (stall := await stalls.get()).where:
            pass
    assert alarm.texts[0].startswith("Code blocks the event loop")
    assert stall.tool == ""


@pytest.mark.parametrize("way", ["task", "callback"])
async def test_what_a_tool_starts_is_named_as_the_tool(tmp_path: Path, alarm: Alarm, way: str) -> None:
    @tool
    async def indirectly() -> str:
        """Block where the task of the call does not."""
        ended = asyncio.Event()

        def hold() -> None:
            assert alarm.rung.wait(PATIENCE)
            ended.set()

        async def inner() -> None:
            hold()

        if way == "callback":
            asyncio.get_running_loop().call_soon(hold)
            await ended.wait()
        else:
            await asyncio.create_task(inner())
        return "Rung."

    reply = {"tool_calls": [{"name": "indirectly", "arguments": {}, "call_id": "c1"}]}
    settings = {"runs": {"stall_after": 0.05}}
    async with serve(tmp_path, [reply, "Done."], [indirectly], settings=settings) as server:
        await server.chat("Go.")
        [run] = (await server.get("/api/v1/runs"))["runs"]
        events = [entry.to_dict() for entry in await server.app.runs.history(run["id"])]
    assert alarm.texts[0].startswith("Tool 'indirectly' blocks the event loop for more than 0.05 s at ")
    kinds = [event["type"] for event in events if event.get("call_id") == "c1"]
    assert kinds[-2:] == ["tool-stall", "tool-end"]


class Opener(logging.Handler):
    """Release a lock at the first warning about it."""

    def __init__(self, lock: threading.Lock) -> None:
        super().__init__(logging.WARNING)
        self.gate = lock

    def emit(self, record: logging.LogRecord) -> None:
        if "lock.acquire, a callback of the event loop" in record.getMessage() and self.gate.locked():
            self.gate.release()


async def test_a_callback_without_a_line_of_python_is_named() -> None:
    stalls: asyncio.Queue[Stall] = asyncio.Queue()
    lock = threading.Lock()
    logger, opener = logging.getLogger("dovetail.stall"), Opener(lock)
    logger.addHandler(opener)
    async with StallWatch(0.01, stalls.put_nowait), asyncio.timeout(PATIENCE):
        assert lock.acquire()
        asyncio.get_running_loop().call_soon(lock.acquire, True, PATIENCE)
        while "lock.acquire" not in (await stalls.get()).where:
            pass
    logger.removeHandler(opener)


async def test_a_loop_that_waits_is_not_blocked() -> None:
    async with StallWatch(PATIENCE) as watch:

        def look() -> bool:  # as after the process was suspended
            end = time.monotonic() + PATIENCE
            while watch._find_holder() is not None:  # pyright: ignore[reportPrivateUsage]
                if time.monotonic() > end:  # the loop has not begun to wait
                    return False
            return True

        assert await asyncio.to_thread(look)


async def test_the_thread_ends_with_its_watch() -> None:
    def find_threads() -> list[str]:
        return [thread.name for thread in threading.enumerate() if thread.name == "dovetail-stall"]

    before = find_threads()
    async with StallWatch(PATIENCE):
        assert len(find_threads()) == len(before) + 1
    async with StallWatch(0):
        assert find_threads() == before
