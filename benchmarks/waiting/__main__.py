"""Print what idle sessions and waiting runs cost in memory and time: `python -m benchmarks.waiting`.

Chats call a tool that needs an approval, with a scripted model and everything stored in SQLite. The memory of
a run is counted while its task waits, and again once it is parked; the floor is an asyncio task that waits.
"""

import asyncio
import gc
import sys
import tempfile
import time
import tracemalloc
from pathlib import Path

from benchmarks.harness import Row, report
from dovetail import Dovetail, Kind, tool
from dovetail.agent.runtime import Runtime
from dovetail.events.call import ToolCall
from dovetail.sessions.request import ChatRequest
from dovetail.settings import as_settings
from dovetail.testing import Reply, ScriptedRequester

COUNT = 500


@tool(kind=Kind.Edit)
def write(text: str) -> str:
    """Write something."""
    return text


class Scripted(Runtime):
    """A runtime whose model always asks for the same call."""

    def requester(self, model=None, settings=None):
        call = ToolCall(call_id="call_1", name="write", arguments={"text": "x"})
        return ScriptedRequester(
            [Reply(tool_calls=[call], when="Hello", repeat=True), Reply(text="Done.", repeat=True)]
        )


def measure() -> int:
    """Return the bytes in use."""
    gc.collect()
    return tracemalloc.get_traced_memory()[0]


async def main() -> int:
    """Measure all; return the exit status."""
    tracemalloc.start()
    before = measure()
    tasks = [asyncio.create_task(asyncio.Event().wait()) for _ in range(COUNT)]
    await asyncio.sleep(0)
    floor = (measure() - before) / COUNT
    for task in tasks:
        task.cancel()
    with tempfile.TemporaryDirectory() as folder:
        rows = await measure_runs(Path(folder), floor)
    return report(f"{COUNT} waiting runs (an asyncio task that waits takes {floor / 1024:.1f} kB)", rows)


async def measure_runs(folder: Path, floor: float) -> list[Row]:
    """Start runs that wait, and measure them in memory, parked, and answered."""
    settings = as_settings({"runs": {"park_after": 20.0}})
    async with Dovetail(workspace=folder, runtime=Scripted(settings)) as app:
        app.tools.register_tool(write)
        chat = await app.open_chat()
        first = await chat.send(ChatRequest(parts=[{"type": "text", "text": "Hello"}]))
        await wait_for_asks(app, 1)
        await app.runs.cancel(first.run_id)
        await first.handle.result()
        before = measure()
        started = time.process_time()
        runs = [await chat.send(ChatRequest(parts=[{"type": "text", "text": "Hello"}])) for _ in range(COUNT)]
        await wait_for_asks(app, COUNT)
        cost = (time.process_time() - started) / COUNT
        run_ids = [run.run_id for run in runs]
        del runs
        working = (measure() - before) / COUNT
        while app.runs.running:  # noqa: ASYNC110 - nothing announces that a run is parked
            await asyncio.sleep(0.1)
        await asyncio.sleep(1)
        parked = (measure() - before) / COUNT
        started = time.process_time()
        await asyncio.sleep(5)
        idle = (time.process_time() - started) / 5
        started = time.process_time()
        for ask in await app.runs.asks.store.list_open("local"):
            await app.runs.asks.answer(ask.id, {"approved": False}, owner="local")
        for run_id in run_ids:
            await app.runs.result(run_id)
        woken = (time.process_time() - started) / COUNT
    return [
        Row("waiting, its task in memory", working / floor, None, "x a task", f"{working / 1024:.1f} kB"),
        Row("waiting, parked", parked / floor, 1.0, "x a task", f"{parked / 1024:.2f} kB"),
        Row("starting and asking, CPU", cost * 1000, None, "ms"),
        Row("waking and ending, CPU", woken * 1000, None, "ms"),
        Row("all of them waiting, CPU", idle * 100, 1.0, "% of a core"),
    ]


async def wait_for_asks(app: Dovetail, count: int) -> None:
    """Wait until this many questions are open."""
    while len(await app.runs.asks.store.list_open("local")) < count:  # noqa: ASYNC110 - in the database
        await asyncio.sleep(0.05)


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
