"""Runs one program without a shell and leaves nothing of it behind.

The program gets a session of its own. Its processes end with it: at its end, at the time limit and when the
call is cancelled, whatever signals they ignore and even if they moved to another session.
"""

import asyncio
import codecs
import os
import re
import signal
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

MARK = "DOVETAIL_SHELL_CALL"
GRACE_SECONDS = 1.0
DRAIN_SECONDS = 0.5
SWEEPS = 5
SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL|DATABASE_URL", re.IGNORECASE)


class Output:
    """One output stream: its beginning, up to a limit, and its length."""

    def __init__(self, limit: int) -> None:
        self.text = ""
        self.length = 0
        self._limit = limit
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")

    async def read(self, stream: asyncio.StreamReader) -> None:
        """Read to the end; what is above the limit is counted and dropped."""
        while chunk := await stream.read(65536):
            text = self._decoder.decode(chunk)
            self.length += len(text)
            self.text += text[: self._limit - len(self.text)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a program ended; `exit_code` is None when the time limit ended it."""

    exit_code: int | None
    stdout: Output
    stderr: Output


async def run_program(
    arguments: Sequence[str], folder: Path, time_limit: float, output_limit: int
) -> Outcome:
    """Run a program to its end or its time limit; what it printed so far is returned in both cases."""
    mark = uuid.uuid4().hex
    process = await asyncio.create_subprocess_exec(
        *arguments,
        cwd=folder,
        env={**_open_environment(), MARK: mark},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    stdout, stderr = Output(output_limit), Output(output_limit)
    readers = [
        asyncio.ensure_future(output.read(stream))
        for output, stream in ((stdout, process.stdout), (stderr, process.stderr))
        if stream is not None
    ]
    exit_code: int | None = None
    try:
        async with asyncio.timeout(time_limit):
            exit_code = await process.wait()
    except TimeoutError:
        await _ask_to_end(process)
    finally:
        await asyncio.shield(_end_all(process, mark))
        await asyncio.wait(readers, timeout=DRAIN_SECONDS)
        for reader in readers:
            reader.cancel()
    return Outcome(exit_code=exit_code, stdout=stdout, stderr=stderr)


def _open_environment() -> dict[str, str]:
    """The environment without what looks like a secret: a program's output goes to a model."""
    return {name: value for name, value in os.environ.items() if not SECRET.search(name)}


async def _ask_to_end(process: asyncio.subprocess.Process) -> None:
    """Ask the group to end and give it a moment to do so."""
    _signal_group(process.pid, signal.SIGTERM)
    try:
        async with asyncio.timeout(GRACE_SECONDS):
            await process.wait()
    except TimeoutError:
        return


async def _end_all(process: asyncio.subprocess.Process, mark: str) -> None:
    """End the whole group, then every process that carries the call's mark and left the group."""
    _signal_group(process.pid, signal.SIGKILL)
    for _ in range(SWEEPS):
        if not (marked := await asyncio.to_thread(_find_marked, mark)):
            break
        for pid in marked:
            _signal(pid, signal.SIGKILL)
    await process.wait()


def _signal_group(pid: int, number: signal.Signals) -> None:
    try:
        os.killpg(pid, number)
    except (ProcessLookupError, PermissionError):
        return


def _signal(pid: int, number: signal.Signals) -> None:
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        return


def _find_marked(mark: str) -> list[int]:
    """Processes whose environment holds the mark; empty where the system has no /proc."""
    needle = f"{MARK}={mark}".encode()
    found: list[int] = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if needle in (folder / "environ").read_bytes():
                found.append(int(folder.name))
        except OSError:  # ended meanwhile, or another user's
            continue
    return found
