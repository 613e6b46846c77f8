"""Run a command in a pseudo terminal, as a person at a terminal sees and uses it."""

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

import pyte

from patience import PATIENCE

_START = """
import os, runpy
os.close(os.open(os.ttyname(1), os.O_RDWR))  # from now on Ctrl-C in this terminal reaches this process
runpy.run_module("dovetail", run_name="__main__", alter_sys=True)
"""


class Terminal:
    """`dovetail` with arguments in a pseudo terminal, whose screen is kept as a person sees it."""

    def __init__(
        self,
        *arguments: str,
        folder: Path,
        environment: Mapping[str, str],
        size: tuple[int, int] = (100, 40),
        stdin: int | None = None,
    ) -> None:
        columns, rows = size
        self._keys, inner = pty.openpty()
        fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self._screen = pyte.HistoryScreen(columns, rows, history=5000, ratio=0.5)
        self._stream = pyte.ByteStream(self._screen)
        self.output = b""
        self.process = subprocess.Popen(
            [sys.executable, "-c", _START, *arguments],
            cwd=folder,
            env={
                **os.environ,
                "TERM": "xterm-256color",
                "DOVETAIL_DATA": str(folder / ".data"),
                **environment,
            },
            stdin=inner if stdin is None else stdin,
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
        os.close(self._keys)

    @property
    def screen(self) -> str:
        """What is on the screen now."""
        return "\n".join(line.rstrip() for line in self._screen.display).rstrip()

    @property
    def text(self) -> str:
        """Everything that can be scrolled back to, and the screen."""
        columns = range(self._screen.columns)
        above = ("".join(line[x].data for x in columns).rstrip() for line in self._screen.history.top)
        return "\n".join([*above, self.screen])

    def wait_until(self, is_there: Callable[[], bool]) -> str:
        """Read on until something is to be seen, and return the text."""
        while not is_there():
            if not self._read():
                raise AssertionError(f"It never came to be seen:\n{self.text}")
        return self.text

    def wait_for(self, text: str, count: int = 1) -> str:
        """Read on until a text is to be seen, so many times."""
        return self.wait_until(lambda: self.text.count(text) >= count)

    def wait_for_screen(self, text: str) -> str:
        """Read on until a text is on the screen; return the screen."""
        self.wait_until(lambda: text in self.screen)
        return self.screen

    def type(self, text: str) -> None:
        """Type some keys; `\\r` is Enter, `\\x03` Ctrl-C, `\\x04` Ctrl-D, `\\x1b` Escape."""
        os.write(self._keys, text.encode())

    def wait(self) -> int:
        """Wait for the end; return the exit code."""
        while self._read():
            pass
        return self.process.wait(PATIENCE)

    def _read(self) -> bool:
        if not select.select([self._keys], [], [], PATIENCE)[0]:
            raise AssertionError(f"Nothing happens any more:\n{self.text}")
        try:
            data = os.read(self._keys, 65536)
        except OSError:  # the command has ended
            return False
        self.output += data
        self._stream.feed(data)
        return bool(data)
