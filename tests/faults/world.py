"""A server process that can be killed and restarted, with everything that outlives it."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

import httpx

from patience import PATIENCE

PROCESS = Path(__file__).parent / "process.py"


class World:
    """The server's processes, one after the other; `async with` stops the last one."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self.ledger = folder / "ledger.txt"
        self.address = ""
        self.up = asyncio.Event()
        self.seen = 0
        self._folder = folder
        self._environment = {**os.environ, **environment}
        self._log = folder / "server.log"
        self._maker: asyncio.subprocess.Process | None = None
        self._server: int | None = None
        self._client = httpx.AsyncClient(timeout=PATIENCE)
        self._targets: list[tuple[int, asyncio.Event]] = []

    async def __aenter__(self) -> Self:
        self.ledger.touch()
        with self._log.open("ab") as log:
            self._maker = await asyncio.create_subprocess_exec(
                sys.executable,
                str(PROCESS),
                str(self._folder),
                str(self.ledger),
                env=self._environment,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
                start_new_session=True,
            )
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self._client.aclose()
        if self._maker is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._maker.pid, signal.SIGKILL)  # a server that never got ready goes with it
            await self._maker.wait()

    async def start(self) -> None:
        """Start the server and wait until it is ready."""
        words = await self._tell_maker("start")
        self._server, self.address = int(words[0]), words[1]
        self.up.set()

    async def end(self, how: signal.Signals = signal.SIGKILL) -> None:
        """Stop the server with a signal and wait until it has exited."""
        self.up.clear()
        server, self._server = self._server, None
        if server is not None:
            os.kill(server, how)
            await self._tell_maker("wait")

    async def _tell_maker(self, word: str) -> list[str]:
        assert self._maker is not None
        assert self._maker.stdin is not None
        assert self._maker.stdout is not None
        self._maker.stdin.write(f"{word}\n".encode())
        async with asyncio.timeout(PATIENCE):
            line = await self._maker.stdout.readline()
        assert line, f"no server:\n{self.read_log()}"
        return line.decode().split()

    def read_log(self) -> str:
        """Return the end of the server's error output."""
        return self._log.read_text()[-4000:]

    async def wait_for_events(self, count: int, limit: float) -> None:
        """Wait until the clients have seen this many more events, or some seconds have passed."""
        reached = asyncio.Event()
        self._targets.append((self.seen + count, reached))
        with suppress(TimeoutError):
            async with asyncio.timeout(limit):
                await reached.wait()

    async def request(self, method: str, path: str, **options: Any) -> httpx.Response:
        """Retry until a server answers, across restarts."""
        while True:
            await self._wait_until_up()
            try:
                return await self._client.request(method, self.address + path, **options)
            except httpx.TransportError:
                await asyncio.sleep(0.02)  # the connection may break before the killer is back

    async def stream(self, method: str, path: str, **options: Any) -> AsyncIterator[dict[str, Any]]:
        """Yield the events of a stream, until it ends or breaks; none if it is rejected."""
        await self._wait_until_up()
        try:
            async with self._client.stream(method, self.address + path, **options) as response:
                if response.status_code != 200:
                    return
                async for line in response.aiter_lines():
                    if line.startswith("data: ") and line != "data: [DONE]":
                        self._note_event()
                        yield json.loads(line[6:])
        except httpx.TransportError:
            await asyncio.sleep(0.02)

    async def _wait_until_up(self) -> None:
        async with asyncio.timeout(PATIENCE):
            await self.up.wait()

    def _note_event(self) -> None:
        self.seen += 1
        for target, reached in self._targets:
            if self.seen >= target:
                reached.set()
