"""The one bridge between sync faces and the async inside; retries with delays.

Sync callers share one background event loop, so connections stay open between calls. Both functions work
from any thread, inside a running loop and in a notebook, and carry the caller's context variables along.
Code on the background loop itself may call them too, however deeply nested: while it blocks that loop, all
calls run on another one, which is kept for the next time. `Stopwatch` is the one pausable clock.
"""

import asyncio
import concurrent.futures
import contextvars
import logging
import queue
import sys
import threading
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Iterable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar

from dovetail.errors import ConfigError

logger = logging.getLogger(__name__)

T = TypeVar("T")

MANY = 500
"""Items whose processing takes longer than another thread needs to begin."""
_lock = threading.RLock()  # the garbage collector may end an iteration, and so release a loop, anywhere
_backgrounds: "list[_Background]" = []


@dataclass(slots=True, eq=False)
class _Background:
    loop: asyncio.AbstractEventLoop
    thread: threading.Thread
    waiting: int = 0
    """Unfinished calls that were made on the loop itself and may block it."""

    def release(self) -> None:
        """Count one of these calls as ended."""
        with _lock:
            self.waiting -= 1


def run_sync(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end and return its result; an interrupt of the caller cancels it."""
    future = _submit(coroutine)
    try:
        return future.result()
    except BaseException:
        future.cancel()
        raise


def iterate_sync(iterator: AsyncIterator[T]) -> Iterator[T]:
    """Iterate an async iterator from sync code; leaving the loop early closes it."""
    items: queue.SimpleQueue[tuple[T] | None] = queue.SimpleQueue()
    future = _submit(_pump(iterator, items))
    try:
        while (item := items.get()) is not None:
            yield item[0]
        future.result()
    finally:
        future.cancel()


async def _pump(iterator: AsyncIterator[T], items: "queue.SimpleQueue[tuple[T] | None]") -> None:
    try:
        async for item in iterator:
            items.put((item,))
    finally:
        items.put(None)
        close = getattr(iterator, "aclose", None)
        if close is not None:
            await close()


async def compute(work: Callable[[], T], size: int) -> T:
    """Return the result of work for the processor on `size` items; if they are many, a thread does it.

    Everything else on the event loop would wait for it otherwise.
    """
    return work() if size < MANY else await asyncio.to_thread(work)


class retrying:
    """Count attempts: the first at once, each further one after the next delay; end with the delays.

    async for attempt in retrying(backoff(0.1, 2.0)):
        try:
            return await connect()
        except OSError as error:
            logger.warning("Attempt %d failed: %s", attempt, error)
    """

    def __init__(self, delays: Iterable[float]) -> None:
        self._delays = iter(delays)
        self._attempt = 0

    def __aiter__(self) -> "retrying":
        return self

    async def __anext__(self) -> int:
        if self._attempt:
            delay = next(self._delays, None)
            if delay is None:
                raise StopAsyncIteration
            await asyncio.sleep(delay)
        self._attempt += 1
        return self._attempt


def backoff(first: float, longest: float) -> Iterator[float]:
    """Delays in seconds that double up to a limit and never end."""
    delay = first
    while True:
        yield delay
        delay = min(delay * 2, longest)


@asynccontextmanager
async def time_limit(seconds: float) -> AsyncGenerator[None]:
    """Raise `TimeoutError` after some seconds, as `asyncio.timeout` does.

    The loop keeps a cancelled timer until its time has come, but not what its context refers to.
    """
    async with asyncio.timeout(None) as limit:
        contextvars.Context().run(limit.reschedule, asyncio.get_running_loop().time() + seconds)
        yield


def find_running_loop() -> asyncio.AbstractEventLoop | None:
    """Return the event loop that runs in this thread, if any."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def is_interactive() -> bool:
    """Return whether a user enters the program line by line, in a terminal or a notebook."""
    return hasattr(sys, "ps1")


def warn_if_blocking(method: str, instead: str) -> None:
    """Log once that a sync call blocks the event loop of the program, and what to write instead.

    Where the program is entered line by line, as in notebooks, a loop runs for every line, and blocks nothing
    else. The background loop blocks only for sync code that has no other way.
    """
    if find_running_loop() is None or is_interactive():
        return
    here = threading.current_thread()
    if all(known.thread is not here for known in tuple(_backgrounds)):
        _warn_of_block(method, instead)


@lru_cache(maxsize=64)
def _warn_of_block(method: str, instead: str) -> None:
    logger.warning(
        "%s was called in a running event loop, which it blocks until the answer is complete. Write `%s`.",
        method,
        instead,
    )


def require_asyncio() -> asyncio.AbstractEventLoop:
    """Return the event loop that runs in this thread.

    Raises:
        ConfigError: none runs here, for example because the program runs on trio.
    """
    loop = find_running_loop()
    if loop is None:
        raise ConfigError(
            "No asyncio event loop is running: the methods that begin with `async_` need one.",
            hint="With trio, call the plain method in a thread: `trio.to_thread.run_sync(agent.start)`.",
        )
    return loop


def _submit(coroutine: Coroutine[Any, Any, T]) -> "concurrent.futures.Future[T]":
    with _lock:
        _backgrounds[:] = [known for known in _backgrounds if known.thread.is_alive()]  # a fork ends them
        here = threading.current_thread()
        caller = next((known for known in _backgrounds if known.thread is here), None)
        if caller is not None:
            caller.waiting += 1
        free = next((known for known in _backgrounds if not known.waiting), None) or _start_background()
    future = _schedule(coroutine, free.loop)
    if caller is not None:
        future.add_done_callback(lambda _: caller.release())
    return future


def _schedule(
    coroutine: Coroutine[Any, Any, T], loop: asyncio.AbstractEventLoop
) -> "concurrent.futures.Future[T]":
    future: concurrent.futures.Future[T] = concurrent.futures.Future()
    context = contextvars.copy_context()

    def start() -> None:
        task = loop.create_task(coroutine, context=context)
        task.add_done_callback(lambda done: _copy_outcome(done, future))
        future.add_done_callback(
            lambda done: loop.call_soon_threadsafe(task.cancel) if done.cancelled() else None
        )

    loop.call_soon_threadsafe(start)
    return future


def _copy_outcome(task: "asyncio.Task[T]", future: "concurrent.futures.Future[T]") -> None:
    if task.cancelled():
        future.cancel()
    if not future.set_running_or_notify_cancel():
        return
    error = task.exception()
    if error is not None:
        future.set_exception(error)
    else:
        future.set_result(task.result())


def _run_through_exits(loop: asyncio.AbstractEventLoop) -> None:
    """Run a loop until it is stopped.

    A task or callback that exits stops it, too: the caller of the task gets the exit, all others keep the
    loop.
    """
    while True:
        try:
            loop.run_forever()
        except (SystemExit, KeyboardInterrupt):  # not the user's: that one comes to the main thread
            logger.warning("Something in the background loop exited; the loop continues.", exc_info=True)
        else:
            return


def _start_background() -> _Background:
    loop = asyncio.new_event_loop()

    def run() -> None:
        asyncio.set_event_loop(loop)
        try:
            _run_through_exits(loop)
            loop.run_until_complete(loop.shutdown_asyncgens())  # closes what is open in this loop alone
        finally:
            loop.close()

    thread = threading.Thread(target=run, name="dovetail-loop", daemon=True)
    thread.start()
    background = _Background(loop, thread)
    _backgrounds.append(background)
    return background


class Stopwatch:
    """Count seconds, except while paused; pauses nest, so it runs again after as many `resume` calls."""

    __slots__ = ("_clock", "_paused_at", "_pauses", "_started")

    def __init__(self, clock: Callable[[], float] = time.monotonic, *, elapsed: float = 0.0) -> None:
        self._clock = clock
        self._started = clock() - elapsed
        self._pauses = 0
        self._paused_at = 0.0

    @property
    def is_paused(self) -> bool:
        """Whether a pause is in progress."""
        return self._pauses > 0

    def elapsed(self) -> float:
        """Return the seconds since the start, without the pauses."""
        return (self._paused_at if self._pauses else self._clock()) - self._started

    def pause(self) -> None:
        """Stand still until as many `resume` calls have come."""
        if self._pauses == 0:
            self._paused_at = self._clock()
        self._pauses += 1

    def resume(self) -> None:
        """Run again, unless another pause is in progress."""
        self._pauses -= 1
        if self._pauses == 0:
            self._started += self._clock() - self._paused_at
