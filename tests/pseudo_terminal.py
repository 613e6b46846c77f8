"""Run a command in a pseudo terminal, as a person at a terminal sees and uses it."""

import os
import pty
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

SECONDS = 30

_START = """
import os, runpy
os.close(os.open(os.ttyname(0), os.O_RDWR))  # from now on Ctrl-C in this terminal reaches this process
runpy.run_module("dovetail", run_name="__main__", alter_sys=True)
"""


class Terminal:
    """`dovetail` with arguments in a pseudo terminal; its output is read until a text appears."""

    def __init__(self, *arguments: str, folder: Path, environment: Mapping[str, str]) -> None:
        self._unread = ""
        self._screen, inner = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-c", _START, *arguments],
            cwd=folder,
            env={**os.environ, "TERM": "dumb", "NO_COLOR": "1", **environment},
            stdin=inner,
            stdout=inner,
            stderr=inner,
            start_new_session=True,
        )
        os.close(inner)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._screen)

    def read_until(self, text: str) -> str:
        """Read on up to this text and return the output; the test's time limit ends the wait."""
        while text not in self._unread:
            try:
                self._unread += os.read(self._screen, 65536).decode(errors="replace")
            except OSError as error:  # the command has ended
                raise AssertionError(f"{text!r} never came: {self._unread}") from error
        before, _, self._unread = self._unread.partition(text)
        return before + text

    def type(self, text: str) -> None:
        """Type some keys; `\\x03` is Ctrl-C, `\\x04` Ctrl-D."""
        os.write(self._screen, text.encode())

    def wait(self) -> int:
        """Wait for the end; return the exit code."""
        return self.process.wait(SECONDS)
