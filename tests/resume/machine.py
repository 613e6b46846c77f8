"""Processes of `dovetail` that a cell starts, stops, kills and replaces."""

import asyncio
import json
import os
import resource
import shutil
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from dovetail.ids import new_id
from patience import PATIENCE
from resume.proxy import Proxy

MAKER = Path(__file__).with_name("maker.py")
REPOSITORY = Path(__file__).resolve().parents[2]
NEWER_VERSION = "99.0.0"
PACKAGES = (
    "dovetail.cli.main",
    "dovetail.cli.commands.serve",
    "dovetail.cli.commands.store",
    "dovetail.requesters.http",
    "aiohttp",
    "alembic",
    "asyncpg",
    "httpx",
    "sqlalchemy.dialects.sqlite",
    "sqlalchemy.dialects.postgresql.asyncpg",
)


class Machine:
    """One process; `address` is that of its server, if it has one."""

    def __init__(self, words: list[str], output: Path) -> None:
        self.words = words
        self.address = ""
        self.process_id = 0
        self.text = ""
        self.way: Proxy | None = None  # to its database
        self.clock = Path()  # a file with the seconds that its clock is wrong
        self._output = output
        self._news = asyncio.Condition()
        self._ended = asyncio.Event()
        self._reading: asyncio.Task[None] | None = None

    @property
    def is_alive(self) -> bool:
        """Whether the process exists."""
        return not self._ended.is_set()

    async def wait_until_ready(self) -> None:
        """Wait for the line that says so; a server's has its address."""
        line = await self.wait_for_line(lambda line: " is at http://" in line or "orking on " in line)
        if "http://" in line:
            self.address = line.rsplit(maxsplit=1)[-1]

    async def wait_for_line(self, matches: Callable[[str], bool]) -> str:
        """Wait for a line of its output."""
        async with asyncio.timeout(PATIENCE), self._news:
            while not (found := [line for line in self.text.split("\n")[:-1] if matches(line)]):
                if not self.is_alive:
                    raise AssertionError(f"dovetail {' '.join(self.words)} ended:\n{self.text[-3000:]}")
                await self._news.wait()
        return found[0]

    async def end(self, how: signal.Signals = signal.SIGKILL) -> None:
        """Send a signal and wait until the process has ended."""
        self.send(how)
        async with asyncio.timeout(PATIENCE):
            await self._ended.wait()

    async def wait_until_ended(self) -> str:
        """Wait until the process has ended by itself; return its output."""
        async with asyncio.timeout(PATIENCE):
            await self._ended.wait()
            if self._reading is not None:
                await self._reading
        return self.text

    def send(self, how: signal.Signals) -> None:
        """Send a signal."""
        with suppress(ProcessLookupError):
            os.kill(self.process_id, how)

    def limit_files(self, size: int | None) -> None:
        """Let no file of the process grow beyond a size."""
        _, hard = resource.prlimit(self.process_id, resource.RLIMIT_FSIZE)
        resource.prlimit(self.process_id, resource.RLIMIT_FSIZE, (hard if size is None else size, hard))

    async def follow(self, order: Callable[[dict[str, Any]], Any], environment: dict[str, str]) -> None:
        """Start the process."""
        os.mkfifo(self._output)
        pipe = os.fdopen(os.open(self._output, os.O_RDONLY | os.O_NONBLOCK), "rb", buffering=0)
        keep_open = os.open(self._output, os.O_WRONLY)  # else the pipe ends before the process opens it
        stream = asyncio.StreamReader()
        loop = asyncio.get_running_loop()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(stream), pipe)
        given = {"words": self.words, "environment": environment, "output": str(self._output)}
        self.process_id = await order({**given, "folder": environment["PWD"]})
        watched = os.pidfd_open(self.process_id)
        loop.add_reader(watched, self._note_end, watched, keep_open)
        self._reading = asyncio.create_task(self._read(stream))

    def _note_end(self, watched: int, keep_open: int) -> None:
        asyncio.get_running_loop().remove_reader(watched)
        os.close(watched)
        os.close(keep_open)
        self._ended.set()

    async def _read(self, stream: asyncio.StreamReader) -> None:
        while line := await stream.readline():
            async with self._news:
                self.text += line.decode(errors="replace")
                self._news.notify_all()
        await self._ended.wait()
        async with self._news:
            self._news.notify_all()


@dataclass
class Maker:
    """A process that makes machines of one version of the source."""

    sources: Path = REPOSITORY / "src"
    packages: tuple[str, ...] = PACKAGES
    _process: asyncio.subprocess.Process | None = None
    _order: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def __aenter__(self) -> Self:
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            str(MAKER),
            ",".join(self.packages),
            env={**os.environ, "PYTHONPATH": str(self.sources)},
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()
            await self._process.wait()

    async def make(self, words: list[str], folder: Path, environment: dict[str, str]) -> Machine:
        """Start `dovetail` with these words in a folder."""
        machine = Machine(words, folder / f"{new_id('output')}.pipe")
        own = {name: value for name, value in os.environ.items() if not name.startswith("DOVETAIL_")}
        place = {"PWD": str(folder), "PYTHONPATH": str(self.sources)}
        await machine.follow(self._give, {**own, **environment, **place})
        return machine

    async def _give(self, order: dict[str, Any]) -> int:
        process = self._process
        assert process is not None
        assert process.stdin is not None
        assert process.stdout is not None
        async with self._order, asyncio.timeout(PATIENCE):
            process.stdin.write(json.dumps(order).encode() + b"\n")
            line = await process.stdout.readline()
        assert line, "the maker of processes has ended"
        return int(line)


def copy_newer(folder: Path) -> Path:
    """Copy the source with another version number; return the folder of its packages."""
    ignored = shutil.ignore_patterns("__pycache__")
    for name in ("src", "agents", "extensions"):
        shutil.copytree(REPOSITORY / name, folder / name, ignore=ignored)
    (folder / "src" / "dovetail" / "version.py").write_text(
        f'"""The version, in one place."""\n\n__version__ = "{NEWER_VERSION}"\n'
    )
    return folder / "src"
