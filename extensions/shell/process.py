"""Run one program without a shell and leave none of its processes behind.

A supervisor starts the program in a session of its own. All its processes end when the program ends, when
the time limit is reached and when the call is cancelled, whatever signals they ignore, even if they moved to
another session and cleared their environment.
"""

import asyncio
import codecs
import os
import re
import signal
import sys
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

MARK = "DOVETAIL_SHELL_CALL"
SUPERVISOR = str(Path(__file__).with_name("supervisor.py"))
GRACE_SECONDS = 1.0
PATIENCE_SECONDS = 2.0
DRAIN_SECONDS = 0.5
FIRST_PAUSE, LONGEST_PAUSE = 0.2, 2.0
TAIL_CHARACTERS = 2000
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
    """One output stream of a program: its beginning, up to a limit, its end so far, and its length.

    The pipe is ours and not the process's, so that the end of the process is noticed at once, even if a child
    that it left behind still holds the other end.
    """

    def __init__(self, limit: int) -> None:
        self.text = ""
        self.tail = ""
        self.length = 0
        self._limit = limit
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._stream = asyncio.StreamReader()
        self._transport: asyncio.BaseTransport | None = None

    async def open(self) -> int:
        """Start to read; return the file descriptor that the program writes to."""
        source, target = os.pipe()
        self._transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(self._stream), os.fdopen(source, "rb", buffering=0)
        )
        return target

    async def read(self) -> None:
        """Read to the end; count and drop characters above the limit."""
        while chunk := await self._stream.read(65536):
            self._add(self._decoder.decode(chunk))

    def _add(self, text: str) -> None:
        self.length += len(text)
        self.text += text[: self._limit - len(self.text)]
        self.tail = (self.tail + text)[-TAIL_CHARACTERS:]

    def close(self) -> None:
        """Stop reading; an incomplete character at the end becomes a replacement character."""
        self._add(self._decoder.decode(b"", final=True))
        if self._transport is not None:
            self._transport.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a program ended; `exit_code` is None if the time limit was reached."""

    exit_code: int | None
    stdout: Output
    stderr: Output


async def run_program(
    arguments: Sequence[str],
    folder: Path,
    time_limit: float,
    output_limit: int,
    show: Callable[[str], None],
) -> Outcome:
    """Run a program to its end or its time limit; return its output so far in both cases.

    `show` is called with the newest output while the program runs.
    """
    stdout, stderr, report = Output(output_limit), Output(output_limit), Output(output_limit)
    tasks: list[asyncio.Task[None]] = []
    try:
        mark = uuid.uuid4().hex
        process = await _start(arguments, folder, mark, (stdout, stderr, report))
        readers = [asyncio.create_task(output.read()) for output in (stdout, stderr, report)]
        tasks = [*readers, asyncio.create_task(_follow((stdout, stderr), show))]
        is_late = await _wait(process, mark, time_limit)
        await asyncio.wait(readers, timeout=DRAIN_SECONDS)
    finally:
        for task in tasks:
            task.cancel()
        for output in (stdout, stderr, report):
            output.close()
    return Outcome(exit_code=None if is_late else _read_report(report.text), stdout=stdout, stderr=stderr)


async def _follow(outputs: Sequence[Output], show: Callable[[str], None]) -> None:
    """Show the newest output again and again, less often the longer the program runs."""
    pause, shown = FIRST_PAUSE, 0
    while True:
        await asyncio.sleep(pause)
        pause = min(LONGEST_PAUSE, pause * 1.2)
        if (length := sum(output.length for output in outputs)) > shown:
            shown = length
            show("\n".join(output.tail.rstrip("\n") for output in outputs if output.tail.strip()))


async def _start(
    arguments: Sequence[str], folder: Path, mark: str, outputs: tuple[Output, Output, Output]
) -> asyncio.subprocess.Process:
    targets: list[int] = []
    try:
        for output in outputs:
            targets.append(await output.open())
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-S", SUPERVISOR, str(targets[2]), str(GRACE_SECONDS)),
            *arguments,
            cwd=folder,
            env={**_open_environment(), MARK: mark},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=targets[0],
            stderr=targets[1],
            pass_fds=(targets[2],),
            start_new_session=True,
        )
    finally:
        for target in targets:
            os.close(target)


def _read_report(text: str) -> int | None:
    """Return the exit code that the supervisor reported; raise `OSError` if the program did not start."""
    word, _, value = text.partition(" ")
    if word == "error":
        raise OSError(int(value), os.strerror(int(value)))
    return int(value) if word == "exit" and value != "None" else None


async def _wait(process: asyncio.subprocess.Process, mark: str, time_limit: float) -> bool:
    """Return whether the time limit was reached; all processes of the program have ended in any case."""
    try:
        async with asyncio.timeout(time_limit):
            await process.wait()
            return False
    except TimeoutError:
        await _end(process, signal.SIGTERM, GRACE_SECONDS + PATIENCE_SECONDS)
        return True
    finally:
        await asyncio.shield(_end_all(process, mark))


async def _end(process: asyncio.subprocess.Process, number: signal.Signals, patience: float) -> bool:
    """Signal the supervisor to end the program; return whether it did."""
    if process.returncode is None:
        _signal(process.pid, number)
    try:
        async with asyncio.timeout(patience):
            await process.wait()
    except TimeoutError:
        return False
    return True


def _open_environment() -> dict[str, str]:
    """Return the environment without variables that look like secrets: a model reads the program's output."""
    return {
        name: value
        for name, value in os.environ.items()
        if name in NOT_SECRET or not (SECRET_NAME.search(name) or SECRET_VALUE.search(value))
    }


async def _end_all(process: asyncio.subprocess.Process, mark: str) -> None:
    """Let the supervisor end everything; if it fails, kill every process that carries the call's mark."""
    if await _end(process, signal.SIGUSR1, PATIENCE_SECONDS) and process.returncode == 0:
        return
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
    """Return the processes whose environment has the mark; empty if the system has no /proc."""
    needle = f"{MARK}={mark}".encode()
    found: list[int] = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if needle in (folder / "environ").read_bytes():
                found.append(int(folder.name))
        except OSError:  # it has ended, or belongs to another user
            continue
    return found
