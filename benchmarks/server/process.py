"""Start servers as processes, measure them from outside, and stop them."""

import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_TICK = os.sysconf("SC_CLK_TCK")
_START_LIMIT = 90.0


@dataclass(frozen=True, slots=True)
class Server:
    """A server on one port: a process, with the workers that it has started.

    `takes_chats` is False for one that works on chats which others take.
    """

    process: subprocess.Popen[bytes]
    port: int
    takes_chats: bool = True

    @property
    def cpu_seconds(self) -> float:
        """CPU time of its processes so far, including all threads."""
        return sum(_read_cpu(process) for process in self._processes)

    @property
    def memory(self) -> int:
        """Bytes of memory in use now."""
        return sum(_read_memory(process, "VmRSS") for process in self._processes)

    @property
    def peak_memory(self) -> int:
        """Peak memory since `forget_peak`, in bytes."""
        return sum(_read_memory(process, "VmHWM") for process in self._processes)

    def forget_peak(self) -> None:
        """Measure the peak from now on."""
        for process in self._processes:
            (process / "clear_refs").write_text("5")

    @property
    def _processes(self) -> list[Path]:
        parent = Path(f"/proc/{self.process.pid}")
        children = (parent / "task" / parent.name / "children").read_text().split()
        return [parent, *(Path("/proc", child) for child in children)]


def _read_cpu(process: Path) -> float:
    fields = (process / "stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICK


def _read_memory(process: Path, name: str) -> int:
    lines = (process / "status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))


@contextmanager
def start_server(
    command: Sequence[str | Path], port: int, environment: Mapping[str, str], folder: Path
) -> Iterator[Server]:
    """Start a server and wait until it answers on its port; stop it at the end of the block."""
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(
            command, cwd=folder, env={**os.environ, **environment}, stdout=log, stderr=log
        )
        try:
            wait_for(process, port)
            yield Server(process, port)
        except BaseException:
            log.seek(0)
            sys.stderr.write(log.read().decode(errors="replace")[-3000:])
            raise
        finally:
            _end(process)


def _end(process: "subprocess.Popen[bytes]") -> None:
    process.terminate()
    try:
        process.wait(15)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(5)


def find_port() -> int:
    """Return a free port."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def wait_for(process: "subprocess.Popen[bytes]", port: int) -> None:
    """Wait until a process answers on its port."""
    deadline = time.monotonic() + _START_LIMIT
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise SystemExit(f"{process.args} exited with code {process.returncode}")
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.1)
    raise SystemExit(f"{process.args} does not answer on port {port}")
