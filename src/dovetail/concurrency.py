"""The one bridge between sync faces and the async inside.

Sync callers share one background event loop, so connections stay open between calls. Both functions work
from any thread, inside a running loop and in a notebook, and carry the caller's context variables along.
"""

import asyncio
import concurrent.futures
import contextvars
import logging
import queue
import threading
from collections.abc import AsyncIterator, Coroutine, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

logger = logging.getLogger(__name__)

T = TypeVar("T")

_lock = threading.Lock()
_background: "_Background | None" = None


@dataclass(frozen=True, slots=True)
class _Background:
    loop: asyncio.AbstractEventLoop
    thread: threading.Thread


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


def find_running_loop() -> asyncio.AbstractEventLoop | None:
    """The event loop that runs in this thread, if one does."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def _submit(coroutine: Coroutine[Any, Any, T]) -> "concurrent.futures.Future[T]":
    background = _get_background()
    if threading.current_thread() is background.thread:
        # A sync handler on the background loop itself calls a sync face: waiting there would never end.
        background = _start_background(name="dovetail-nested")
        future = _schedule(coroutine, background.loop)
        future.add_done_callback(lambda _: background.loop.call_soon_threadsafe(background.loop.stop))
        return future
    return _schedule(coroutine, background.loop)


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


def _get_background() -> _Background:
    global _background
    with _lock:
        if _background is None or not _background.thread.is_alive():
            _background = _start_background(name="dovetail-loop")
        return _background


def _run_through_exits(loop: asyncio.AbstractEventLoop) -> None:
    """Run a loop until it is stopped.

    A task or callback that exits stops it, too: whoever waits for the task gets the exit, and everybody else
    the loop back.
    """
    while True:
        try:
            loop.run_forever()
        except (SystemExit, KeyboardInterrupt):  # not the user's: that one comes to the main thread
            logger.warning("something in the background loop exited; the loop continues", exc_info=True)
        else:
            return


def _start_background(name: str) -> _Background:
    loop = asyncio.new_event_loop()

    def run() -> None:
        asyncio.set_event_loop(loop)
        try:
            _run_through_exits(loop)
            loop.run_until_complete(loop.shutdown_asyncgens())  # closes what is open in this loop alone
        finally:
            loop.close()

    thread = threading.Thread(target=run, name=name, daemon=True)
    thread.start()
    return _Background(loop, thread)
