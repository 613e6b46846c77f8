"""Keeps a tool that exits from ending the program it serves.

asyncio passes `SystemExit` and `KeyboardInterrupt` of any task on to the event loop, which then stops. Inside
of `contain_exits` they become a `ToolError` instead, in the tool itself and in every task it starts, however
deep. A Ctrl-C of the user still passes.
"""

import asyncio
import dis
import signal
import threading
from collections.abc import Coroutine, Generator
from contextlib import contextmanager
from contextvars import Context, ContextVar
from types import TracebackType
from typing import Any, NoReturn

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
    """An exit in words for the model."""
    if isinstance(error, SystemExit):
        return ToolError(f"the tool called sys.exit({error.code!r})")
    return ToolError(f"the tool raised {type(error).__name__}")


def _pass_on(error: SystemExit | KeyboardInterrupt) -> NoReturn:
    """Raise an exit as a failure; the user's own Ctrl-C as it is."""
    if isinstance(error, KeyboardInterrupt) and _comes_by_signal(error):
        raise error
    raise explain_exit(error) from error


def _comes_by_signal(error: KeyboardInterrupt) -> bool:
    """Whether Ctrl-C raised it, not the tool's own code.

    A handler in Python raises it in its own frame. The default handler raises it wherever the program is, and
    then no `raise` stands there.
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
    """Have the loop's tasks made by us; whatever made them before still does."""
    factory = loop.get_task_factory()
    if not isinstance(factory, _TaskFactory):
        loop.set_task_factory(_TaskFactory(factory))


class _TaskFactory:
    """Makes tasks as before; those that are started inside of `contain_exits` do not exit."""

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
    """A coroutine whose exits are failures; for the rest it is the one it holds."""

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
