"""The last lines that an MCP server's program wrote to its error stream, with secrets masked."""

import contextlib
import os
import sys
import threading
import time
from collections import deque
from collections.abc import Generator
from typing import IO

from dovetail.data.secrets import SHORTEST, SecretMask, find_secrets
from dovetail.data.text import cut
from dovetail.tools.mcp.server import McpServer

MOST_LINES = 200
_LONGEST_LINE = 1000


class ServerLog:
    """A short log of one server: lines with the time at which they came, the oldest first."""

    def __init__(self, server: McpServer) -> None:
        self._lines: deque[tuple[float, str]] = deque(maxlen=MOST_LINES)
        self._mask = mask_for(server)

    @property
    def lines(self) -> list[tuple[float, str]]:
        """The lines that are kept."""
        return list(self._lines)

    def write(self, line: str) -> None:
        """Keep a line."""
        self._lines.append((time.time(), cut(self._mask.apply(line), _LONGEST_LINE)))

    @contextlib.contextmanager
    def piped(self) -> Generator[IO[str]]:
        """Yield a file for a program's error stream; its lines are kept, and shown as before."""
        reading, writing = os.pipe()
        reader = threading.Thread(target=self._read, args=(reading,), name="mcp log", daemon=True)
        reader.start()
        with os.fdopen(writing, "w", encoding="utf-8") as file:
            yield file

    def _read(self, descriptor: int) -> None:
        """Read until all programs that hold the other end have ended."""
        with os.fdopen(descriptor, encoding="utf-8", errors="replace") as file:
            while line := file.readline(_LONGEST_LINE * 10):
                text = line.rstrip()
                self.write(text)
                with contextlib.suppress(OSError, ValueError):  # our own error stream may be closed
                    sys.stderr.write(f"{self._mask.apply(text)}\n")


def mask_for(server: McpServer) -> SecretMask:
    """Return a mask for everything in a server's entry that may be a secret: all variables, all headers."""
    given = [value for value in (*server.env.values(), *server.headers.values()) if len(value) >= SHORTEST]
    return SecretMask.for_values([*given, *find_secrets(None, server.headers, [server.url])])
