"""Threads for sync tools.

They are daemons and their number has no limit: a function that never returns holds up neither other calls nor
the end of the program. Idle threads are used again, and end after a while.
"""

import asyncio
import contextlib
import contextvars
import queue
import threading
from collections import deque
from collections.abc import Callable
from typing import Any, TypeAlias

_Job: TypeAlias = tuple[Callable[[], Any], "asyncio.Future[Any]"]
_Jobs: TypeAlias = "queue.SimpleQueue[_Job]"

_IDLE_SECONDS = 30.0

_idle: deque[_Jobs] = deque()


async def run_in_thread(function: Callable[[], Any]) -> Any:
    """Run a function in a thread of its own, with the caller's context; a cancel leaves it behind."""
    future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
    context = contextvars.copy_context()
    _take_thread().put((lambda: context.run(function), future))
    return await future


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
    function, future = job
    value, error = None, None
    try:
        value = function()
    except BaseException as raised:
        error = raised
    _idle.append(jobs)
    with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
        future.get_loop().call_soon_threadsafe(_settle, future, value, error)


def _settle(future: "asyncio.Future[Any]", value: Any, error: BaseException | None) -> None:
    if future.done():
        return
    if error is None:
        future.set_result(value)
    elif isinstance(error, Exception) and not isinstance(error, StopIteration):
        future.set_exception(error)
    else:
        failure = RuntimeError(f"the function ended with {type(error).__name__}: {error}")
        failure.__cause__ = error
        future.set_exception(failure)
