"""Calls the handlers of keys while an answer arrives."""

import asyncio
import inspect
from collections.abc import Callable, Iterator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from dovetail.concurrency import iterate_sync, run_sync
from dovetail.response.response import Response

KeyHandler = Callable[[Any], Any]
"""Gets the value of a key that is complete; may be a coroutine function."""

Handlers = list[tuple[str, KeyHandler]]
Handled = list[tuple[str, Any, Any]]
"""What handlers returned, as `(key, value, result)`, in the order of the calls."""


@dataclass(slots=True)
class _Call:
    """A call of a handler; its result may still be awaited."""

    key: str
    value: Any
    result: Any = None
    error: Exception | None = None

    async def settle(self) -> None:
        """Await the result."""
        try:
            self.result = await self.result
        except Exception as error:  # raised at the end: neither the answer nor other handlers stop for it
            self.error = error


def handle_sync(response: Response[Any], handlers: Handlers) -> Handled:
    """Read the answer and call the handlers in this thread."""
    calls: list[_Call] = []
    for event in iterate_sync(response.stream_alone("instant", None)):
        for call in _start_calls(handlers, event):
            calls.append(call)
            if inspect.isawaitable(call.result):
                run_sync(call.settle())
    return _collect(calls)


async def handle(response: Response[Any], handlers: Handlers) -> Handled:
    """Read the answer and call the handlers; coroutines run while more of it arrives."""
    calls: list[_Call] = []
    tasks: list[asyncio.Task[None]] = []
    try:
        async with aclosing(response.stream_alone("instant", None)) as events:
            async for event in events:
                for call in _start_calls(handlers, event):
                    calls.append(call)
                    if inspect.isawaitable(call.result):
                        tasks.append(asyncio.create_task(call.settle()))
                        await asyncio.sleep(0)  # lets it begin before what comes later in the answer
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
    return _collect(calls)


def _start_calls(handlers: Handlers, event: Any) -> Iterator[_Call]:
    """Call the handlers of an event's key, one after the other."""
    if not event.is_complete:
        return
    for key, handler in handlers:
        if key in (event.path, event.wildcard_path):
            call = _Call(event.path, event.value)
            try:
                call.result = handler(event.value)
            except Exception as error:  # raised at the end, as in `settle`
                call.error = error
            yield call


def _collect(calls: list[_Call]) -> Handled:
    errors = [call.error for call in calls if call.error is not None]
    if len(errors) == 1:
        raise errors[0]
    if errors:
        raise ExceptionGroup("several key handlers failed", errors)
    return [(call.key, call.value, call.result) for call in calls]
