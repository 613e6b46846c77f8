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
SECRET_NAME = re.compile(
    r"KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|DATABASE_URL|PRIVATE|COOKIE|WEBHOOK"
    r"|PASS(_|$)|PGPASS|AUTH(_|$)|(^|_)(PAT|SK|PWD|DSN|JWT|CREDS?|BEARER|SIGNATURE|SALT)(_|$)",
    re.IGNORECASE,
)
NOT_SECRET = frozenset({"PWD", "OLDPWD", "SSH_AUTH_SOCK"})
SECRET_VALUE = re.compile(
    r"://[^/\s:@]*:[^/\s@]+@"  # an address with a password
    r"|-----BEGIN |\b(sk-|gh[a-z]_|github_pat_|glpat-|xox[a-z]-|AKIA|eyJ[\w-]{8,}\.)[\w-]{8}"
)


class Output:
    """One output stream of a program: its beginning, up to a limit, and its length.

    The pipe is ours and not the process's: then the end of the process is seen at once, even if a child that
    it left behind still holds the other end.
    """

    def __init__(self, limit: int) -> None:
        self.text = ""
        self.length = 0
        self._limit = limit
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._stream = asyncio.StreamReader()
        self._transport: asyncio.BaseTransport | None = None

    async def open(self) -> int:
        """Start to listen; gives the file descriptor that the program writes to."""
        source, target = os.pipe()
        self._transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(self._stream), os.fdopen(source, "rb", buffering=0)
        )
        return target

    async def read(self) -> None:
        """Read to the end; what is above the limit is counted and dropped."""
        while chunk := await self._stream.read(65536):
            self._add(self._decoder.decode(chunk))

    def _add(self, text: str) -> None:
        self.length += len(text)
        self.text += text[: self._limit - len(self.text)]

    def close(self) -> None:
        """Stop listening; a character of which only the beginning has come is shown as one that is broken."""
        self._add(self._decoder.decode(b"", final=True))
        if self._transport is not None:
            self._transport.close()


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
    stdout, stderr = Output(output_limit), Output(output_limit)
    readers: list[asyncio.Task[None]] = []
    try:
        mark = uuid.uuid4().hex
        process = await _start(arguments, folder, mark, (stdout, stderr))
        readers = [asyncio.create_task(output.read()) for output in (stdout, stderr)]
        exit_code = await _wait(process, mark, time_limit)
        await asyncio.wait(readers, timeout=DRAIN_SECONDS)
    finally:
        for reader in readers:
            reader.cancel()
        stdout.close()
        stderr.close()
    return Outcome(exit_code=exit_code, stdout=stdout, stderr=stderr)


async def _start(
    arguments: Sequence[str], folder: Path, mark: str, outputs: tuple[Output, Output]
) -> asyncio.subprocess.Process:
    targets: list[int] = []
    try:
        for output in outputs:
            targets.append(await output.open())
        return await asyncio.create_subprocess_exec(
            *arguments,
            cwd=folder,
            env={**_open_environment(), MARK: mark},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=targets[0],
            stderr=targets[1],
            start_new_session=True,
        )
    finally:
        for target in targets:
            os.close(target)


async def _wait(process: asyncio.subprocess.Process, mark: str, time_limit: float) -> int | None:
    """The exit code, or None after the time limit; in any case nothing of the program is left."""
    try:
        async with asyncio.timeout(time_limit):
            return await process.wait()
    except TimeoutError:
        await _ask_to_end(process)
        return None
    finally:
        await asyncio.shield(_end_all(process, mark))


def _open_environment() -> dict[str, str]:
    """The environment without what looks like a secret: a program's output goes to a model."""
    return {
        name: value
        for name, value in os.environ.items()
        if name in NOT_SECRET or not (SECRET_NAME.search(name) or SECRET_VALUE.search(value))
    }


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
