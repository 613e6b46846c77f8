"""The progress bar of a download, for the terminal of a program or a command."""

import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import TextIO

from dovetail.requesters.local.download import PullProgress
from dovetail.requesters.local.weights import Weights, show_size

WIDTH = 30
"""Characters of the bar itself."""

_BACK = "\r\x1b[K"
"""Return to the beginning of the line and clear it."""


def announce(weights: Weights) -> str:
    """Return the line that says what is downloaded, and how to use another model."""
    return (
        f"Downloading {weights.model} ({show_size(weights.size)}), once. "
        "To use another model, set DOVETAIL_MODEL."
    )


def count_percent(done: int, total: int) -> int:
    """Return how much is there in whole percent."""
    return 100 * done // max(total, 1)


class ProgressBar:
    """A bar on the last line of a terminal; other text is written above it with `write`.

    It can be the stream of a log handler, so that log lines do not break it.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._line = ""
        self._began: tuple[float, int] | None = None

    def show(self, progress: PullProgress) -> None:
        """Draw how far the download is; its end removes the bar."""
        self._began = self._began or (time.monotonic(), progress.done)
        is_over = progress.state in ("ready", "failed")
        self._draw("" if is_over else self._describe(progress))

    def close(self) -> None:
        """Remove the bar."""
        self._draw("")

    def write(self, text: str) -> int:
        """Write whole lines above the bar."""
        with self.hidden():
            return self._stream.write(text)

    @contextmanager
    def hidden(self) -> Generator[None]:
        """Remove the bar while others write to the terminal."""
        self._put(_BACK if self._line else "")
        yield
        self._put(self._line)

    def flush(self) -> None:
        """Write what is left in the buffer."""
        self._stream.flush()

    def _draw(self, line: str) -> None:
        if line != self._line:
            self._line = line
            self._put(_BACK + line)

    def _put(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()

    def _describe(self, progress: PullProgress) -> str:
        percent = count_percent(progress.done, progress.total)
        filled = WIDTH * percent // 100
        bar = "█" * filled + "░" * (WIDTH - filled)
        state = "checking" if progress.state == "checking" else self._estimate(progress)
        sizes = f"{show_size(progress.done)} of {show_size(progress.total)}"
        return f"local:{progress.name} {bar} {percent} %  {sizes}  {state}".rstrip()

    def _estimate(self, progress: PullProgress) -> str:
        """Return the time that is left, once there is something to measure."""
        assert self._began is not None
        seconds, arrived = time.monotonic() - self._began[0], progress.done - self._began[1]
        if seconds < 1 or arrived <= 0:
            return ""
        left = int(seconds * (progress.total - progress.done) / arrived)
        return f"{left // 60}:{left % 60:02} left"
