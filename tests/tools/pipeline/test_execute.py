"""A running tool can be limited, stopped and abandoned; its clock is paused while a question is open."""

import asyncio
import subprocess
import sys
import threading
from collections.abc import Mapping
from typing import Any

import pytest

from dovetail.errors import ToolError
from dovetail.events.call import ToolCall
from dovetail.events.run_events import Event, ToolEnd, ToolProgress
from dovetail.tools import (
    CallOutcome,
    RunContext,
    Tool,
    ToolContext,
    ToolRunner,
    ToolSnapshot,
    make_tool,
)
from dovetail.tools.pipeline import execute
from leap import leap
from patience import PATIENCE


async def call(tool: Tool, scope: RunContext | None = None) -> CallOutcome:
    made = ToolCall(call_id="1", name=tool.name, arguments={})
    return await ToolRunner().run_call(ToolSnapshot.of([tool]), made, scope or RunContext())


async def test_sync_tool_that_never_returns_is_abandoned_and_signalled_to_stop() -> None:
    released, told = threading.Event(), threading.Event()

    def hang(context: ToolContext) -> None:
        released.wait(PATIENCE)
        if context.cancelled.is_set():
            told.set()

    outcome = await call(make_tool(hang, time_limit=0.01))
    assert outcome.status == "timeout"
    released.set()
    assert await asyncio.to_thread(told.wait, PATIENCE)


async def test_async_tool_that_does_not_listen_is_left_behind(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(execute, "GRACE", 0.01)
    release = asyncio.Event()
    ended = asyncio.Event()

    async def deaf() -> None:
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                continue
        ended.set()

    outcome = await call(make_tool(deaf, time_limit=0.01))
    assert outcome.status == "timeout"
    assert "did not stop within 0.01 s and was abandoned" in caplog.text
    release.set()
    await ended.wait()


async def test_tool_that_ends_well_after_all_keeps_its_result() -> None:
    started, scope = asyncio.Event(), RunContext()

    async def careful(context: ToolContext) -> str:
        started.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return "saved what there was"
        return ""

    task = asyncio.create_task(call(make_tool(careful), scope))
    await started.wait()
    scope.cancelled.set()
    outcome = await task
    assert (outcome.status, outcome.result.data) == ("ok", "saved what there was")


async def test_clock_is_paused_while_a_question_is_open() -> None:
    async def ask(*question: Any) -> Mapping[str, Any]:
        leap()
        for _ in range(5):
            await asyncio.sleep(0)
        return {"value": "blue"}

    async def choose(context: ToolContext) -> Any:
        assert context.ask is not None
        answer = await context.ask("question", {"text": "which colour?"}, timeout=5)
        return answer["value"]

    outcome = await call(make_tool(choose, time_limit=60), RunContext(ask=ask))
    assert (outcome.status, outcome.result.data) == ("ok", "blue")


async def test_cooperative_thread_stops_at_a_cancel() -> None:
    started, scope = threading.Event(), RunContext()
    stopped: list[str] = []

    def work(context: ToolContext) -> None:
        started.set()
        try:
            while True:
                context.check_cancelled()
        except ToolError as error:
            stopped.append(error.type)
            raise

    task = asyncio.create_task(call(make_tool(work), scope))
    await asyncio.to_thread(started.wait, PATIENCE)
    scope.cancelled.set()
    assert (await task).status == "interrupted"
    while not stopped:  # noqa: ASYNC110 - a thread sets no event of the loop
        await asyncio.sleep(0.001)
    assert stopped == ["interrupted"]


async def test_progress_after_the_end_is_not_shown() -> None:
    events: list[Event] = []
    kept: list[ToolContext] = []

    async def chatty(context: ToolContext) -> str:
        context.update("now")
        kept.append(context)
        return "done"

    await call(make_tool(chatty), RunContext(emit=events.append))
    kept[0].update("too late")
    assert [event.output for event in events if isinstance(event, ToolProgress)] == ["now"]
    assert isinstance(events[-1], ToolEnd)


async def test_tool_that_cancels_itself_is_a_failed_call_not_a_dead_run() -> None:
    async def odd() -> None:
        raise asyncio.CancelledError

    outcome = await call(make_tool(odd))
    assert (outcome.status, outcome.result.llm_content) == ("error", "Error: 'odd' cancelled itself.")


async def test_function_that_leaves_the_program_fails_its_call_only() -> None:
    def leave() -> None:
        sys.exit(3)

    def stop() -> None:
        raise StopIteration

    assert "sys.exit(3)" in str((await call(make_tool(leave))).result.llm_content)
    assert "StopIteration" in str((await call(make_tool(stop))).result.llm_content)


def test_hanging_thread_does_not_hold_up_the_end_of_the_program() -> None:
    script = """
import asyncio, threading
from dovetail.tools import ToolManager, make_tool
manager = ToolManager()
manager.add(make_tool(lambda: threading.Event().wait(), name="hang", time_limit=0.05))
try:
    asyncio.run(manager.async_call_tool("hang"))
except Exception as error:
    print(error.type)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=PATIENCE)
    assert done.stdout == "timeout\n", done.stderr


class Unreadable(Exception):
    """Its text cannot be had."""

    def __str__(self) -> str:
        raise OSError


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (Unreadable(), "Error: Unreadable: its text cannot be read"),
        (ToolError(ValueError("too long")), "Error: too long"),
        (ToolError(None), "Error: None"),
    ],
)
@pytest.mark.parametrize("is_async", [True, False])
async def test_any_exception_ends_the_call_at_once(error: Exception, text: str, is_async: bool) -> None:
    def fail() -> None:
        raise error

    async def fail_async() -> None:
        raise error

    outcome = await call(make_tool(fail_async if is_async else fail, time_limit=None))
    assert (outcome.status, outcome.result.llm_content) == ("error", text)
