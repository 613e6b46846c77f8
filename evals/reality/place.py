"""A folder and an environment as a newcomer has them, and the calls that were made in it."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from evals.reality.outcome import Call, Outcome
from evals.reality.pages import ROOT

MODEL = "local:good"


class Place:
    """An empty folder, and processes whose calls are recorded and whose model samples by the seed."""

    def __init__(self, root: Path, seed: int | None = None) -> None:
        self.folder = root / "workspace"
        self.folder.mkdir()
        self._calls = root / "calls.jsonl"
        self._calls.touch()
        self._read = 0
        kept = {
            key: value for key, value in os.environ.items() if not key.startswith(("DOVETAIL_", "OPENAI_"))
        }
        cache = {key: value for key, value in os.environ.items() if key == "DOVETAIL_CACHE"}
        self.environment = {
            **kept,
            **cache,
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "PYTHONPATH": f"{Path(__file__).parent / 'recorder'}:{ROOT}",
            "DOVETAIL_MODEL": MODEL,
            "DOVETAIL_DATA": str(root / "data"),
            "REALITY_CALLS": str(self._calls),
            "COLUMNS": "100",
        }
        if seed is not None:
            self.environment["DOVETAIL_MODEL_OPTIONS"] = json.dumps({"seed": seed})

    def take_calls(self) -> list[Call]:
        """Return the calls since the last time."""
        lines = self._calls.read_text(encoding="utf-8").splitlines()
        new, self._read = lines[self._read :], len(lines)
        return [
            Call(tool=each["tool"], arguments=each["args"], status=each["status"], time=each["time"])
            for each in map(json.loads, new)
        ]

    def run(self, command: Sequence[str], seconds: float, typed: str = "") -> Outcome:
        """Run a program to its end; what it prints is the text."""
        with subprocess.Popen(
            command,
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        ) as process:
            try:
                printed, errors = process.communicate(typed, timeout=seconds)
                problem = describe_exit(process.returncode, errors)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                printed, errors = process.communicate()
                problem = f"no answer after {seconds:.0f} s"
        return Outcome(text=printed, calls=self.take_calls(), folder=self.folder, problem=problem)

    @contextmanager
    def leave_running(self, command: Sequence[str]) -> Iterator[None]:
        """Start a program that serves, wait for its first line, and stop it at the end."""
        with (self.folder.parent / "serving.log").open("w") as errors:
            process = subprocess.Popen(
                command,
                cwd=self.folder,
                env=self.environment,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                start_new_session=True,
            )
        try:
            if process.stdout is None or not process.stdout.readline():
                raise RuntimeError((self.folder.parent / "serving.log").read_text()[-500:])
            yield
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            try:
                process.communicate(timeout=30)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()


@contextmanager
def open_place(seed: int | None = None) -> Iterator[Place]:
    """Yield a fresh place, which is deleted afterwards; without a seed each process draws one."""
    with TemporaryDirectory(prefix="reality-", ignore_cleanup_errors=True) as root:
        yield Place(Path(root), seed)


def find_port() -> int:
    """Return a port that is free now."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def describe_exit(code: int, errors: str) -> str:
    """Return why a program did not end well; nothing if it did."""
    last = next((line for line in reversed(errors.strip().splitlines()) if line.strip()), "")
    if code == 3:
        return f"asks for something that no user is there to answer (exit code 3): {last}"
    return f"exit code {code}: {last}" if code else ""
