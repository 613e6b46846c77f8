"""Web processes and workers as real processes: a worker that dies, and one that is stopped."""

import asyncio
import os
import re
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from dovetail.testing import ScriptedServer
from patience import PATIENCE
from postgres import make_database

pytestmark = pytest.mark.slow
HALF = ["Half an ", {"hold": "gate"}]


@dataclass(frozen=True, slots=True)
class Program:
    """A process of the command line and the address that it has printed."""

    process: asyncio.subprocess.Process
    address: str

    async def end(self, number: signal.Signals) -> int:
        self.process.send_signal(number)
        async with asyncio.timeout(PATIENCE):
            return await self.process.wait()


@asynccontextmanager
async def started(folder: Path, environment: dict[str, str], *arguments: str) -> AsyncIterator[Program]:
    """Start a command and wait until it has printed its address and is ready."""
    with (folder / "log.txt").open("ab") as log:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "dovetail", *arguments, "--workspace", str(folder)),
            env={**os.environ, **environment},
            stdout=asyncio.subprocess.PIPE,
            stderr=log,
        )
    try:
        address, output = "", ""
        assert process.stdout is not None
        async with asyncio.timeout(PATIENCE):
            while "Stop with Ctrl-C" not in output:
                line = (await process.stdout.readline()).decode()
                assert line, (folder / "log.txt").read_text()
                output += line
        if found := re.search(r"http://[\d.:]+", output):
            address = found[0]
        yield Program(process, address)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


class Site:
    """A web process that does not work, and workers."""

    def __init__(self, folder: Path, model: ScriptedServer, database: str, stack: AsyncExitStack) -> None:
        self._folder = folder
        self._stack = stack
        self._environment = {
            "DATABASE_URL": database,
            "DOVETAIL_MODEL": "openai:x",
            "DOVETAIL_BASE_URL": model.url,
            "DOVETAIL_API_KEY": "none",
        }

    async def start(self, *arguments: str) -> Program:
        command = started(self._folder, self._environment, *arguments, "--engine", "dbos")
        return await self._stack.enter_async_context(command)

    async def start_web(self) -> Program:
        return await self.start("serve", "--no-work", "--port", "0")

    async def start_worker(self, *options: str) -> Program:
        return await self.start("worker", "--metrics-port", "0", *options)


@asynccontextmanager
async def open_site(folder: Path, model: ScriptedServer) -> AsyncIterator[Site]:
    async with AsyncExitStack() as stack:
        yield Site(folder, model, await make_database(), stack)


async def ask(web: Program) -> str:
    async with httpx.AsyncClient(timeout=PATIENCE) as client:
        reply = await client.post(
            f"{web.address}/api/v1/chat", json={"message": "Hi"}, headers={"accept": "application/json"}
        )
    return reply.json()["response"]


async def find_busy(workers: list[Program]) -> Program:
    async with httpx.AsyncClient(timeout=PATIENCE) as client, asyncio.timeout(PATIENCE):
        while True:
            for worker in workers:
                metrics = (await client.get(f"{worker.address}/metrics")).text
                if "dovetail_runs_active 1.0" in metrics:
                    return worker


async def test_another_worker_continues_the_runs_of_one_that_was_killed(tmp_path: Path) -> None:
    with ScriptedServer([HALF, "All of it."]) as model:
        async with open_site(tmp_path, model) as site:
            web = await site.start_web()
            workers = [await site.start_worker(), await site.start_worker()]
            answer = asyncio.create_task(ask(web))
            gate = model.script.gate("gate")
            assert await asyncio.to_thread(gate.reached.wait, PATIENCE)
            busy = await find_busy(workers)
            assert await busy.end(signal.SIGKILL) == -signal.SIGKILL
            assert await answer == "All of it."


async def test_a_worker_that_is_stopped_finishes_its_runs_and_takes_no_more(tmp_path: Path) -> None:
    with ScriptedServer([HALF, "Another."]) as model:
        async with open_site(tmp_path, model) as site:
            web, worker = await site.start_web(), await site.start_worker()
            answer = asyncio.create_task(ask(web))
            gate = model.script.gate("gate")
            assert await asyncio.to_thread(gate.reached.wait, PATIENCE)
            worker.process.send_signal(signal.SIGTERM)
            async with httpx.AsyncClient(timeout=PATIENCE) as client, asyncio.timeout(PATIENCE):
                while (await client.get(f"{worker.address}/readyz")).status_code != 503:
                    pass
            gate.open()
            assert await answer == "Half an "
            assert await worker.process.wait() == 0
            later = asyncio.create_task(ask(web))
            await site.start_worker()
            assert await later == "Another."


async def test_a_second_signal_leaves_the_runs_to_another_worker_at_once(tmp_path: Path) -> None:
    with ScriptedServer([HALF, "All of it."]) as model:
        async with open_site(tmp_path, model) as site:
            web, worker = await site.start_web(), await site.start_worker("--drain-seconds", "3600")
            answer = asyncio.create_task(ask(web))
            gate = model.script.gate("gate")
            assert await asyncio.to_thread(gate.reached.wait, PATIENCE)
            await site.start_worker()
            worker.process.send_signal(signal.SIGTERM)
            async with httpx.AsyncClient(timeout=PATIENCE) as client, asyncio.timeout(PATIENCE):
                while (await client.get(f"{worker.address}/readyz")).status_code != 503:
                    pass
            assert await worker.end(signal.SIGINT) == 0
            assert await answer == "All of it."
