"""Threads for sync tools, and for whatever else the event loop of a server hands to a thread.

They are daemons and their number has no limit: a function that never returns holds up neither other calls nor
the end of the program. Idle threads are used again, and end after a while.
"""

import asyncio
import concurrent.futures
import contextlib
import contextvars
import queue
import threading
from collections import deque
from collections.abc import Callable
from typing import Any, TypeAlias

from dovetail.tools.exits import explain_exit

_Settle: TypeAlias = Callable[[Any, BaseException | None], None]
_Job: TypeAlias = tuple[Callable[[], Any], _Settle]
_Jobs: TypeAlias = "queue.SimpleQueue[_Job]"

_IDLE_SECONDS = 30.0
_PATIENCE = 2.0

_idle: deque[_Jobs] = deque()


async def run_in_thread(function: Callable[[], Any]) -> Any:
    """Run a function in a thread of its own, with the caller's context; a cancel leaves it behind."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()
    context = contextvars.copy_context()

    def settle(value: Any, error: BaseException | None) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: the caller has gone
            loop.call_soon_threadsafe(_settle, future, value, error)

    _take_thread().put((lambda: context.run(function), settle))
    return await future


class DaemonExecutor(concurrent.futures.ThreadPoolExecutor):
    """An event loop's default executor whose threads do not keep the program from ending.

    `asyncio.to_thread` and name lookups use it. At the end it waits for work in progress, but not for long.
    """

    def __init__(self) -> None:
        super().__init__()
        self._running: set[concurrent.futures.Future[Any]] = set()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """Begin a call in a thread of its own."""
        future: concurrent.futures.Future[Any] = concurrent.futures.Future()
        future.set_running_or_notify_cancel()
        self._running.add(future)
        future.add_done_callback(self._running.discard)

        def settle(value: Any, error: BaseException | None) -> None:
            if error is None:
                future.set_result(value)
            else:
                future.set_exception(error)

        _take_thread().put((lambda: fn(*args, **kwargs), settle))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Give what is in progress a moment to end."""
        if wait:
            concurrent.futures.wait([*self._running], _PATIENCE)


def _take_thread() -> _Jobs:
    try:
        return _idle.pop()
    except IndexError:
        jobs: _Jobs = queue.SimpleQueue()
        threading.Thread(target=_work, args=(jobs,), name="dovetail-tool", daemon=True).start()
        return jobs


def _work(jobs: _Jobs) -> None:
    while True:
        try:
            job = jobs.get(timeout=_IDLE_SECONDS)
        except queue.Empty:
            with contextlib.suppress(ValueError):  # somebody took this thread just now: its job is coming
                _idle.remove(jobs)
                return
            continue
        _do(job, jobs)
        del job


def _do(job: _Job, jobs: _Jobs) -> None:
    function, settle = job
    value, error = None, None
    try:
        value = function()
    except BaseException as raised:
        error = raised
    _idle.append(jobs)
    settle(value, error)


def _settle(future: "asyncio.Future[Any]", value: Any, error: BaseException | None) -> None:
    if future.done():
        return
    if error is None:
        future.set_result(value)
    elif isinstance(error, Exception) and not isinstance(error, StopIteration):
        future.set_exception(error)
    else:
        failure = explain_exit(error)
        failure.__cause__ = error
        future.set_exception(failure)
