"""Everything around one run of a cell: processes of one engine, their database, model, tools and clients."""

import asyncio
import json
import signal
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from itertools import repeat
from pathlib import Path
from typing import Any, Self, TypeVar

import httpx

from dovetail.concurrency import retrying
from dovetail.ids import new_id
from dovetail.testing import ScriptedServer
from dovetail.testing.script import Script
from patience import PATIENCE
from resume.engines import Engine, make_settings
from resume.machine import Machine, Maker
from resume.model import Model
from resume.storage import Storage, open_storage
from resume.workspace import Workspace, open_workspace

S = TypeVar("S", bound=Script)
TAKEOVER = 15.0
"""The default of `runs.takeover`."""
PAUSE = 0.02
"""Seconds between two looks at something that sends no news."""


@dataclass
class Makers:
    """What makes processes of this version and of a newer one."""

    now: Maker
    newer: Maker


@dataclass
class World:
    """The processes of a cell; `async with` ends them."""

    engine: Engine
    folder: Path
    makers: Makers
    web: list[Machine] = field(default_factory=list[Machine])
    workers: list[Machine] = field(default_factory=list[Machine])
    awake: list[Machine] = field(default_factory=list[Machine])
    """Processes that have lost their runs and live on."""
    up: asyncio.Event = field(default_factory=asyncio.Event)
    model: Model = field(default_factory=Model)
    storage: Storage = field(init=False)
    workspace: Workspace = field(init=False)
    client: httpx.AsyncClient = field(init=False)
    _server: ScriptedServer = field(init=False)
    _exits: AsyncExitStack = field(default_factory=AsyncExitStack)

    async def __aenter__(self) -> Self:
        enter = self._exits.enter_async_context
        self.storage = await enter(open_storage(self.engine.storage, self.folder))
        self._server = await enter(ScriptedServer())
        self._server.script = self.model
        self.workspace = await enter(open_workspace(self.folder))
        self.workspace.write(settings=await make_settings(self.engine))
        self.client = await enter(httpx.AsyncClient(timeout=PATIENCE))
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        self.workspace.open_all()
        self.storage.release()
        await asyncio.gather(*(machine.end() for machine in self.machines + self.awake))
        await self._exits.aclose()

    def play(self, script: S) -> S:
        """Let another script answer as the model; return it."""
        self._server.script = script
        return script

    @property
    def machines(self) -> list[Machine]:
        """All processes."""
        return self.web + self.workers

    @property
    def takeover(self) -> float:
        """The seconds within which the runs of a process that stands still are taken over."""
        return float(self.engine.settings.get("takeover", TAKEOVER))

    @property
    def working(self) -> list[Machine]:
        """The processes that work on runs."""
        return self.workers if self.engine.has_workers else self.web

    async def start(self, web: int = 1, workers: int = 1) -> None:
        """Start the first processes."""
        await asyncio.gather(*(self._start_web() for _ in range(web)))
        if self.engine.has_workers:
            await asyncio.gather(*(self._start_worker() for _ in range(workers)))

    async def start_working(self, count: int = 1, *, newer: bool = False) -> None:
        """Start more processes that work on runs."""
        start = self._start_worker if self.engine.has_workers else self._start_web
        await asyncio.gather(*(start(newer=newer) for _ in range(count)))

    async def start_machine(self, host: str) -> list[Machine]:
        """Start a server, and a worker next to it, on an address of its own; return both."""
        before = self.machines
        await self._start_web(host=host)
        if self.engine.has_workers:
            await self._start_worker()
        return [machine for machine in self.machines if machine not in before]

    async def end_working(self, how: signal.Signals) -> None:
        """End the processes that work on runs now."""
        ending = list(self.working)
        self.forget(ending)
        await asyncio.gather(*(machine.end(how) for machine in ending))

    def forget(self, machines: list[Machine]) -> None:
        """Send nothing to these processes any more."""
        self.workers = [machine for machine in self.workers if machine not in machines]
        self.web = [machine for machine in self.web if machine not in machines]
        if not self.web:
            self.up.clear()

    async def run_command(self, *words: str) -> str:
        """Run a command of the command line to its end; return its output."""
        machine = await self.makers.now.make(list(words), self.folder, self._environment)
        return await machine.wait_until_ended()

    async def _start_web(self, *, newer: bool = False, host: str = "127.0.0.1") -> None:
        words = ["serve", "--host", host, "--port", "0", *self.engine.web_options]
        machine = await self._make(words, newer)
        self.web.append(machine)
        self.up.set()

    async def _start_worker(self, *, newer: bool = False) -> None:
        self.workers.append(await self._make(["worker", "--drain-seconds", "0.5"], newer))

    async def _make(self, words: list[str], newer: bool) -> Machine:
        maker = self.makers.newer if newer else self.makers.now
        url, way = await self.storage.open_way()
        clock = self.folder / f"clock-{new_id('machine')}"
        place = {"DATABASE_URL": url, "RESUME_CLOCK": str(clock)}
        machine = await maker.make(words, self.folder, {**self._environment, **place})
        machine.way, machine.clock = way, clock
        try:
            await machine.wait_until_ready()
        except BaseException:
            await machine.end()
            raise
        return machine

    @property
    def _environment(self) -> dict[str, str]:
        return {
            "DATABASE_URL": self.storage.url,
            "DOVETAIL_MODEL": "openai:x",
            "DOVETAIL_BASE_URL": self._server.url,
            "DOVETAIL_API_KEY": "none",
            "DOVETAIL_DATA": str(self.folder / "data"),
        }

    async def request(self, method: str, path: str, **options: Any) -> httpx.Response:
        """Send a request to the first server; try again until one is there."""
        while True:
            await self.up.wait()
            with suppress(httpx.TransportError, IndexError):
                return await self.client.request(method, self.web[0].address + path, **options)
            await asyncio.sleep(PAUSE)

    async def get(self, path: str) -> Any:
        """Return the JSON of a response; the database may be back only in a moment."""
        response = await self.request("GET", path)
        while response.status_code == 503:
            await asyncio.sleep(PAUSE)
            response = await self.request("GET", path)
        assert response.status_code == 200, f"GET {path}: {response.text}"
        return response.json()

    async def stream(self, path: str) -> AsyncGenerator[dict[str, Any], None]:
        """Yield the events of a stream until it ends or breaks."""
        await self.up.wait()
        with suppress(httpx.TransportError, IndexError):
            async with self.client.stream("GET", self.web[0].address + path) as response:
                if response.status_code != 200:
                    await asyncio.sleep(PAUSE)
                    return
                async for line in response.aiter_lines():
                    if line.startswith("data: ") and line != "data: [DONE]":
                        yield json.loads(line[6:])

    async def wait_until(self, is_so: Callable[[], Awaitable[Any]], what: str) -> Any:
        """Look again and again until something is so, and return it."""
        try:
            async with asyncio.timeout(PATIENCE):
                async for _ in retrying(repeat(PAUSE)):
                    if found := await is_so():
                        return found
        except TimeoutError as error:
            raise AssertionError(f"timed out: {what}") from error
