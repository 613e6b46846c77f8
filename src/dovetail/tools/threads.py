"""Threads for sync tools, and for other work that the event loop of a server hands to a thread.

They are daemons and their number has no limit: a function that never returns blocks neither other calls nor
the end of the program. Idle threads are reused, and end after a while.
"""

import asyncio
import concurrent.futures
import contextlib
import contextvars
import dis
import queue
import signal
import threading
from collections import deque
from collections.abc import Callable, Coroutine, Generator
from contextlib import contextmanager
from contextvars import Context, ContextVar
from types import TracebackType
from typing import Any, NoReturn, TypeAlias

from dovetail.errors import ToolError

_is_contained: ContextVar[bool] = ContextVar("dovetail_is_contained", default=False)


@contextmanager
def contain_exits() -> Generator[None]:
    """Turn exits in this block, and in tasks that are started in it, into a `ToolError`."""
    _watch_tasks(asyncio.get_running_loop())
    token = _is_contained.set(True)
    try:
        yield
    except (SystemExit, KeyboardInterrupt) as error:
        _pass_on(error)
    finally:
        _is_contained.reset(token)


def explain_exit(error: BaseException) -> ToolError:
    """Explain an exit to the model."""
    if isinstance(error, SystemExit):
        return ToolError(f"the tool called sys.exit({error.code!r})")
    return ToolError(f"the tool raised {type(error).__name__}")


def _pass_on(error: SystemExit | KeyboardInterrupt) -> NoReturn:
    """Raise an exit as a failure; the user's Ctrl-C as it is."""
    if isinstance(error, KeyboardInterrupt) and _comes_by_signal(error):
        raise error
    raise explain_exit(error) from error


def _comes_by_signal(error: KeyboardInterrupt) -> bool:
    """Whether Ctrl-C raised it, and not the tool's own code.

    A handler in Python raises it in its own frame. The default handler raises it wherever the program is, at
    a line without a `raise`.
    """
    place = _find_innermost(error)
    if place is None or threading.current_thread() is not threading.main_thread():
        return False
    handler = signal.getsignal(signal.SIGINT)
    if handler is signal.default_int_handler:
        return dis.opname[place.tb_frame.f_code.co_code[place.tb_lasti]] != "RAISE_VARARGS"
    function: Any = getattr(handler, "func", handler)  # asyncio's own is a partial
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    return place.tb_frame.f_code is code


def _find_innermost(error: BaseException) -> TracebackType | None:
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    return place


def _watch_tasks(loop: asyncio.AbstractEventLoop) -> None:
    """Install our task factory, which calls the loop's former one."""
    factory = loop.get_task_factory()
    if not isinstance(factory, _TaskFactory):
        loop.set_task_factory(_TaskFactory(factory))


class _TaskFactory:
    """Make tasks as before; those started inside `contain_exits` cannot exit the program."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def __call__(
        self,
        loop: asyncio.AbstractEventLoop,
        coroutine: Any,
        context: Context | None = None,
        **options: Any,
    ) -> "asyncio.Future[Any]":
        contained = _is_contained.get() if context is None else context.get(_is_contained, False)
        if contained and not isinstance(coroutine, _Contained):
            coroutine = _Contained(coroutine)
        if context is not None:
            options["context"] = context
        if self._inner is None:
            return asyncio.Task(coroutine, loop=loop, **options)
        return self._inner(loop, coroutine, **options)


class _Contained(Coroutine[Any, Any, Any]):
    """A coroutine whose exits become failures; otherwise it behaves like the one it wraps."""

    def __init__(self, inner: Coroutine[Any, Any, Any]) -> None:
        self._inner = inner

    def send(self, value: Any) -> Any:
        try:
            return self._inner.send(value)
        except (SystemExit, KeyboardInterrupt) as error:
            _pass_on(error)

    def throw(self, *raised: Any) -> Any:
        try:
            return self._inner.throw(*raised)
        except (SystemExit, KeyboardInterrupt) as error:
            _pass_on(error)

    def close(self) -> None:
        self._inner.close()

    def __await__(self) -> Generator[Any, Any, Any]:
        return (yield from self._inner.__await__())

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)  # its name and frames, for people who look at tasks


_Settle: TypeAlias = Callable[[Any, BaseException | None], None]
_Job: TypeAlias = tuple[Callable[[], Any], _Settle]
_Jobs: TypeAlias = "queue.SimpleQueue[_Job]"

_IDLE_SECONDS = 30.0
_PATIENCE = 2.0

_idle: deque[_Jobs] = deque()


async def run_in_thread(function: Callable[[], Any]) -> Any:
    """Run a function in a thread of its own, with the caller's context; a cancel abandons it."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()
    context = contextvars.copy_context()

    def resolve(value: Any, error: BaseException | None) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: the caller has gone
            loop.call_soon_threadsafe(_resolve, future, value, error)

    _take_thread().put((lambda: context.run(function), resolve))
    return await future


class DaemonExecutor(concurrent.futures.ThreadPoolExecutor):
    """An event loop's default executor whose threads do not keep the program from ending.

    `asyncio.to_thread` and name lookups use it. At the end it waits for work in progress, but not for long.
    """

    def __init__(self) -> None:
        super().__init__()
        self._running: set[concurrent.futures.Future[Any]] = set()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """Start a call in a thread of its own."""
        future: concurrent.futures.Future[Any] = concurrent.futures.Future()
        future.set_running_or_notify_cancel()
        self._running.add(future)
        future.add_done_callback(self._running.discard)

        def resolve(value: Any, error: BaseException | None) -> None:
            if error is None:
                future.set_result(value)
            else:
                future.set_exception(error)

        _take_thread().put((lambda: fn(*args, **kwargs), resolve))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Wait a moment for work in progress to end."""
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
    function, resolve = job
    value, error = None, None
    try:
        value = function()
    except BaseException as raised:
        error = raised
    _idle.append(jobs)
    resolve(value, error)


def _resolve(future: "asyncio.Future[Any]", value: Any, error: BaseException | None) -> None:
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
