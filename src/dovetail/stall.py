"""Stalls of the event loop: code that holds it, so that nothing else of the process moves, gets a name.

A thread asks the loop for a sign of life now and then. Without an answer it logs what holds the loop, at
once and once per stall: the labelled code that runs (a tool's call, also in tasks and callbacks that it
started), and the line that it is at. When the loop lives again, listeners and the label learn how long it
took.
"""

import asyncio
import logging
import sys
import sysconfig
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any, Self

logger = logging.getLogger(__name__)

REMEDY = (
    " Everything else waits for it: write it as `def` instead of `async def`, so that it gets a thread, or "
    "await the slow call in `asyncio.to_thread(…)`."
)
_LIBRARIES = tuple({sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")})
_RUN_CALLBACK = asyncio.Handle._run.__code__  # pyright: ignore[reportPrivateUsage] - also each step of a task
_IDLE = ("/asyncio/", "/selectors.py", "/uvicorn/")
"""Files whose code runs while nothing holds the loop; a process that was suspended is found there."""


@dataclass(frozen=True, slots=True)
class Stall:
    """Something held the loop for this long: the tool, if it was the call of one, and the line it was at."""

    seconds: float
    tool: str = ""
    where: str = ""


@dataclass(frozen=True, slots=True)
class _Label:
    """The tool that some code belongs to, and who learns that it has held the loop."""

    tool: str
    on_stall: Callable[[Stall], None]


_key: ContextVar[object | None] = ContextVar("dovetail_stall_label", default=None)
_labels: dict[object, _Label] = {}
"""By a key: contexts live on in timers and tasks, and a label keeps a whole conversation in memory."""


@contextmanager
def labelled(tool: str, on_stall: Callable[[Stall], None]) -> Generator[None]:
    """Let this block be recognized as the call of a tool; `on_stall` is called on the loop, after a stall."""
    key = object()
    _labels[key] = _Label(tool, on_stall)
    token = _key.set(key)
    try:
        yield
    finally:
        _key.reset(token)
        del _labels[key]


@dataclass(frozen=True, slots=True)
class _Holder:
    """What holds the loop."""

    label: _Label | None
    where: str


class StallWatch:
    """Watches the loop that enters it; `on_stall` is called on it after each stall of `seconds` or more."""

    def __init__(self, seconds: float, on_stall: Callable[[Stall], None] = lambda stall: None) -> None:
        self.on_stall = on_stall
        self._seconds = seconds
        self._asked = 0.0
        self._holder: _Holder | None = None
        self._lock = threading.Lock()
        self._lives = threading.Event()
        self._left = threading.Event()
        self._thread: threading.Thread | None = None

    async def __aenter__(self) -> Self:
        self._loop = asyncio.get_running_loop()
        self._owner = threading.get_ident()
        if self._seconds > 0:
            self._thread = threading.Thread(target=self._watch, name="dovetail-stall", daemon=True)
            self._thread.start()
        return self

    async def __aexit__(self, *error: object) -> None:
        self._left.set()
        self._lives.set()
        if self._thread is not None:
            self._thread.join()

    def _watch(self) -> None:
        while not self._left.wait(self._seconds):
            self._lives.clear()
            self._asked = time.monotonic()
            try:
                self._loop.call_soon_threadsafe(self._answer)
            except RuntimeError:  # the loop is closed
                return
            if not self._lives.wait(self._seconds):
                self._report(self._find_holder())
                self._lives.wait()

    def _report(self, holder: _Holder | None) -> None:
        """Log what holds the loop, unless it lives again."""
        with self._lock:
            if holder is None or self._lives.is_set():
                return
            self._holder = holder
        what, remedy = ("Code", "") if holder.label is None else (f"Tool {holder.label.tool!r}", REMEDY)
        shown = (what, self._seconds, holder.where, remedy)
        logger.warning("%s blocks the event loop for more than %g s at %s.%s", *shown)

    def _answer(self) -> None:
        """Show on the loop that it lives; report what has held it until now."""
        seconds = time.monotonic() - self._asked
        with self._lock:
            holder, self._holder = self._holder, None
            self._lives.set()
        if holder is None or self._left.is_set():
            return
        stall = Stall(seconds, holder.label.tool if holder.label else "", holder.where)
        logger.info("the event loop continues after %.1f s", seconds)
        self.on_stall(stall)
        if holder.label is not None:
            holder.label.on_stall(stall)

    def _find_holder(self) -> _Holder | None:
        """Return what holds the loop; None if nothing does."""
        frame = sys._current_frames().get(self._owner)  # pyright: ignore[reportPrivateUsage] - the only way
        if frame is None or self._left.is_set():
            return None
        is_idle = frame.f_code is not _RUN_CALLBACK and any(
            name in frame.f_code.co_filename for name in _IDLE
        )
        if is_idle and asyncio.current_task(self._loop) is None:
            return None
        handle = _find_handle(frame)
        key = handle._context.get(_key) if handle is not None else None  # pyright: ignore - as for the frame
        return _Holder(_labels.get(key), _describe(frame))


def _find_handle(frame: FrameType) -> Any:
    """Return the callback of the loop that a frame belongs to; its context is a copy of who started it."""
    at: FrameType | None = frame
    while at is not None and at.f_code is not _RUN_CALLBACK:
        at = at.f_back
    return at and at.f_locals.get("self")


def _describe(frame: FrameType) -> str:
    """Return the innermost line outside of libraries, otherwise the innermost one, or the loop's callback."""
    if frame.f_code is _RUN_CALLBACK:
        callback: Any = frame.f_locals["self"]._callback
        return f"{getattr(callback, '__qualname__', type(callback).__name__)}, a callback of the event loop"
    own: FrameType | None = frame
    while own is not None and own.f_code.co_filename.startswith((*_LIBRARIES, "<frozen")):
        own = own.f_back if own.f_code is not _RUN_CALLBACK else None  # not what started the loop
    chosen = own or frame
    place = "/".join(Path(chosen.f_code.co_filename).parts[-3:])
    return f"{place}:{chosen.f_lineno} in {chosen.f_code.co_name}"
