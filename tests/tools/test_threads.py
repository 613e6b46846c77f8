"""A tool that exits fails; the program it serves lives on, and a Ctrl-C of the user still ends it."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from dovetail import Dovetail
from dovetail.concurrency import run_sync
from dovetail.events.call import ToolCall
from dovetail.tools import CallOutcome, RunContext, Tool, ToolRunner, ToolSnapshot, make_tool
from patience import PATIENCE
from serving import serve


async def leave() -> None:
    await asyncio.sleep(0)
    sys.exit(2)


async def interrupt() -> None:
    raise KeyboardInterrupt


async def wait_for_it(action: Callable[[], Awaitable[None]]) -> None:
    await asyncio.wait_for(action(), PATIENCE)


async def gather_it(action: Callable[[], Any]) -> None:
    await asyncio.gather(action(), asyncio.sleep(0))


async def group_it(action: Callable[[], Any]) -> None:
    async with asyncio.TaskGroup() as group:
        group.create_task(action())


async def start_it(action: Callable[[], Any]) -> None:
    await asyncio.create_task(action())


async def start_it_deep(action: Callable[[], Any]) -> None:
    await asyncio.create_task(group_it(action))


async def do_it(action: Callable[[], Any]) -> None:
    await action()


async def do_it_in_a_thread(action: Callable[[], Any]) -> None:
    await asyncio.to_thread(asyncio.run, action())


async def start_it_from_a_thread(action: Callable[[], Any]) -> None:
    loop = asyncio.get_running_loop()
    future = await asyncio.to_thread(lambda: asyncio.run_coroutine_threadsafe(action(), loop))
    await asyncio.wrap_future(future)


WAYS = [
    do_it,
    wait_for_it,
    gather_it,
    group_it,
    start_it,
    start_it_deep,
    do_it_in_a_thread,
    start_it_from_a_thread,
]
EXITS = [(leave, "the tool called sys.exit(2)"), (interrupt, "the tool raised KeyboardInterrupt")]


def make(way: Callable[[Any], Awaitable[None]], action: Any) -> Tool:
    async def risky() -> str:
        await way(action)
        return "it went on"

    return make_tool(risky)


async def call(tool: Tool) -> CallOutcome:
    made = ToolCall(call_id="1", name=tool.name, arguments={})
    return await ToolRunner().run_call(ToolSnapshot.of([tool]), made, RunContext())


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("action", "words"), EXITS)
async def test_exit_in_an_async_tool_is_a_failed_result(way: Any, action: Any, words: str) -> None:
    outcome = await call(make(way, action))
    assert (outcome.status, outcome.result.llm_content) == ("error", f"Error: {words}")


@pytest.mark.parametrize("error", [SystemExit(2), KeyboardInterrupt()])
async def test_exit_in_a_sync_tool_is_a_failed_result(error: BaseException) -> None:
    def risky() -> None:
        raise error

    def risky_steps() -> Any:
        yield 1
        raise error

    async def risky_async_steps() -> AsyncIterator[int]:
        yield 1
        raise error

    for function in (risky, risky_steps, risky_async_steps):
        assert (await call(make_tool(function))).status == "error"


async def test_exit_in_an_unawaited_task_leaves_the_loop_running() -> None:
    tasks: list[asyncio.Task[None]] = []

    async def risky() -> str:
        tasks.append(asyncio.create_task(leave()))
        return "started"

    assert (await call(make_tool(risky))).result.data == "started"
    await asyncio.wait(tasks)
    assert "sys.exit(2)" in str(tasks[0].exception())


async def test_tasks_of_a_tool_look_unchanged_from_outside() -> None:
    async def inner() -> None:
        await asyncio.sleep(60)

    async def look() -> str:
        task = asyncio.create_task(inner(), name="mine")
        await asyncio.sleep(0)
        seen = f"{task.get_name()} {task.get_stack()[0].f_code.co_name} {task.get_coro().__name__}"
        task.cancel()
        early = asyncio.create_task(inner())
        early.cancel()  # before its first step: its coroutine is closed without a warning
        await asyncio.wait([task, early])
        return f"{seen} {task.cancelled()} {early.cancelled()}"

    assert (await call(make_tool(look))).result.data == "mine inner inner True True"


async def test_a_task_factory_of_the_program_is_still_used() -> None:
    loop, made = asyncio.get_running_loop(), list[str]()

    def factory(loop: asyncio.AbstractEventLoop, coroutine: Any, **options: Any) -> Any:
        made.append(coroutine.__qualname__)
        return asyncio.Task(coroutine, loop=loop, **options)

    loop.set_task_factory(factory)
    outcome = await call(make(gather_it, leave))
    assert outcome.status == "error"
    assert "leave" in made


def test_the_background_loop_of_sync_programs_survives() -> None:
    assert run_sync(call(make(gather_it, leave))).status == "error"
    assert run_sync(call(make(start_it, interrupt))).status == "error"
    assert run_sync(asyncio.sleep(0, "alive")) == "alive"


def test_an_exit_outside_of_tools_reaches_only_its_caller() -> None:
    async def exit_in_a_callback() -> str:
        asyncio.get_running_loop().call_soon(sys.exit, 3)
        await asyncio.sleep(0.01)
        return "alive"

    with pytest.raises(SystemExit):
        run_sync(leave())
    assert run_sync(exit_in_a_callback()) == "alive"


async def test_a_server_survives_a_tool_that_exits(tmp_path: Path) -> None:
    async with serve(tmp_path, tools=[make(group_it, leave)]) as server:
        response = await server.client.post("/api/v1/tools/risky/call", json={"arguments": {}})
        assert response.json()["error"]["message"] == "the tool called sys.exit(2)"
        assert (await server.client.get("/healthz")).status_code == 200


async def test_setup_of_a_folder_may_exit_in_a_task(tmp_path: Path) -> None:
    folder = tmp_path / "extensions" / "one"
    folder.mkdir(parents=True)
    (folder / "extension.py").write_text(
        "import asyncio, sys\n"
        "async def leave(): sys.exit(3)\n"
        "async def setup(context): await asyncio.gather(leave())\n"
        "TOOL = dict(label='x', name='one', description='d', parameters={}, execute=leave)\n"
    )
    async with Dovetail(workspace=tmp_path) as app:
        [failure] = app.extensions.snapshot.failed_extensions
        assert failure.error == "setup() failed: SystemExit: 3"


CALL = """
import asyncio, signal, sys
from dovetail.events.call import ToolCall
from dovetail.tools import RunContext, ToolRunner, ToolSnapshot, make_tool

async def spin():
    "Never ends."
    print("spinning", flush=True)
    while True:
        pass

async def main():
    call = ToolCall(call_id="1", name="spin", arguments={})
    outcome = await ToolRunner().run_call(ToolSnapshot.of([make_tool(spin)]), call, RunContext())
    print("the tool failed:", outcome.result.llm_content, flush=True)
"""


@pytest.mark.parametrize(
    "start", ["asyncio.run(main())", "asyncio.new_event_loop().run_until_complete(main())"]
)
def test_ctrl_c_still_ends_a_program_whose_tool_never_waits(start: str) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen(
        [sys.executable, "-c", f"{CALL}\n{start}\n"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == "spinning\n"
        end = time.monotonic() + PATIENCE
        while process.poll() is None and time.monotonic() < end:
            process.send_signal(signal.SIGINT)  # `asyncio.run` needs two that it sees one after the other
            with suppress(subprocess.TimeoutExpired):
                process.wait(1)
        process.kill()
        output, errors = process.communicate()
    assert "the tool failed" not in output
    assert "KeyboardInterrupt" in errors
