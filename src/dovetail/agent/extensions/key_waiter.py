"""Wait for fields of a structured answer and act on each as soon as it is complete (rule A80).

A key is a dotted or slashed path; `[*]` stands for every item, so such a key may arrive many times.
"""

import asyncio
import inspect
import threading
from collections.abc import AsyncGenerator, Callable, Collection, Coroutine, Iterable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Self

from dovetail.agent.base import BaseAgent
from dovetail.agent.expectation import get_style, require_keys
from dovetail.agent.fluent import begin_later
from dovetail.agent.pending import ContextValue
from dovetail.concurrency import iterate_sync, run_sync
from dovetail.data.paths import dot_to_slash, slash_to_dot
from dovetail.data.shapes import is_list, is_mapping
from dovetail.data.text import shorten
from dovetail.errors import AnswerLengthError, KeyWaitError, ResponseError
from dovetail.prompt.slots import read_output
from dovetail.response.response import Response

KeyHandler = Callable[[Any], Any]
"""Called with the value of a complete key; may be a coroutine function."""

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

    async def resolve(self) -> None:
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
                run_sync(call.resolve())
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
                        tasks.append(asyncio.create_task(call.resolve()))
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
            except Exception as error:  # raised at the end, as in `resolve`
                call.error = error
            yield call


def _collect(calls: list[_Call]) -> Handled:
    errors = [call.error for call in calls if call.error is not None]
    if len(errors) == 1:
        raise errors[0]
    if errors:
        raise ExceptionGroup("Several key handlers failed.", errors)
    return [(call.key, call.value, call.result) for call in calls]


_REQUIRED = object()


class KeyWaiterExtension(BaseAgent):
    """An agent extension: `get_key_result`, `wait_keys`, and handlers with `when_key`.

    >>> agent = Agent().output({"wood": (str,), "why": (str,)})
    >>> agent.input("A wood for doors?").get_key_result("wood")
    'oak'
    """

    def set_up(self) -> None:
        """Start without handlers."""
        super().set_up()
        self._handlers: Handlers = []
        self._own_handlers: ContextValue[Handlers] = ContextValue()

    def async_get_key_result(
        self, key: str, *, must_in_prompt: bool = False, default: Any = _REQUIRED
    ) -> Coroutine[object, None, Any]:
        """Send the request and return the value of a key as soon as it is complete, without the rest.

        Raises:
            KeyWaitError: the request has no output, or the output does not have this key (`must_in_prompt`).
            ResponseError: the answer ended without the key, and without a `default`.

        >>> agent = Agent().input("A wood for doors?").output({"wood": (str,), "why": (str,)})
        >>> asyncio.run(agent.async_get_key_result("wood"))
        'oak'
        """

        def find() -> Coroutine[object, None, Any]:
            name = self._in_style(key)
            return _find_key(self._open_waiter([name], must_in_prompt), name, default)

        return begin_later(find)

    def get_key_result(self, key: str, *, must_in_prompt: bool = False, default: Any = _REQUIRED) -> Any:
        """Send the request and return the value of a key as soon as it is complete, without the rest.

        >>> agent = Agent().input("A wood for doors?").output({"wood": (str,), "why": (str,)})
        >>> agent.get_key_result("price", default="not known")
        'not known'
        """
        return run_sync(self.async_get_key_result(key, must_in_prompt=must_in_prompt, default=default))

    def async_wait_keys(
        self, keys: str | Sequence[str], *, must_in_prompt: bool = False
    ) -> AsyncGenerator[tuple[str, Any], None]:
        """Send the request and yield `(path, value)` for each key as soon as it is complete.

        >>> async def show(agent: Agent) -> None:
        ...     async for path, value in agent.async_wait_keys("wood"):
        ...         print(path, value)
        >>> asyncio.run(show(Agent().input("A wood for doors?").output({"wood": (str,)})))
        wood oak
        """
        names = [self._in_style(key) for key in ([keys] if isinstance(keys, str) else keys)]
        return _wait(self._open_waiter(names, must_in_prompt), set(names))

    def wait_keys(
        self, keys: str | Sequence[str], *, must_in_prompt: bool = False
    ) -> Iterator[tuple[str, Any]]:
        """Send the request and yield `(path, value)` for each key as soon as it is complete.

        >>> agent = Agent().input("Woods for doors?").output({"woods": [(str,)]})
        >>> list(agent.wait_keys("woods[*]"))
        [('woods[0]', 'oak'), ('woods[1]', 'teak')]
        """
        return iterate_sync(self.async_wait_keys(keys, must_in_prompt=must_in_prompt))

    def when_key(self, key: str, handler: KeyHandler) -> Self:
        """Call the handler with the key's value whenever `start_waiter` finds it complete.

        The handler stays with the agent. A handler that was added in a task or in a thread of its own applies
        to requests made there, and in tasks started from there, so that users of one agent stay separate.

        >>> agent = Agent().when_key("wood", str.upper)
        >>> agent.input("A wood for doors?").output({"wood": (str,)}).start_waiter()
        [('wood', 'oak', 'OAK')]
        """
        if not callable(handler):
            raise KeyWaitError(f"The handler of key {key!r} must be a function, got {handler!r}.")
        if _is_apart():
            self._own_handlers.set([*(self._own_handlers.get() or ()), (key, handler)])
        else:
            self._handlers.append((key, handler))
        return self

    def on_key(self, key: str, handler: KeyHandler) -> Self:
        """The same as `when_key`.

        >>> agent = Agent().on_key("wood", print).output({"wood": (str,)})
        >>> handled = agent.input("A wood for doors?").start_waiter()
        oak
        """
        return self.when_key(key, handler)

    def async_start_waiter(self, *, must_in_prompt: bool = False) -> Coroutine[object, None, Handled]:
        """Send the request, call the handlers and return `(key, value, result)` in the order of the calls.

        Coroutine functions run while the answer arrives. A handler that raises stops neither the others nor
        the answer; its error is raised at the end.

        >>> async def order(wood: str) -> str:
        ...     return f"{wood} is ordered"
        >>> agent = Agent().when_key("wood", order).output({"wood": (str,)})
        >>> asyncio.run(agent.input("A wood for doors?").async_start_waiter())
        [('wood', 'oak', 'oak is ordered')]
        """

        def begin() -> Coroutine[object, None, Handled]:
            handlers = self._find_handlers()
            return handle(self._open_waiter([key for key, _ in handlers], must_in_prompt), handlers)

        return begin_later(begin)

    def start_waiter(self, *, must_in_prompt: bool = False) -> Handled:
        """Send the request, call the handlers in this thread and return `(key, value, result)` of each.

        >>> agent = Agent().when_key("woods[*]", len).output({"woods": [(str,)]})
        >>> agent.input("Woods for doors?").start_waiter()
        [('woods[0]', 'oak', 3), ('woods[1]', 'teak', 4)]
        """
        handlers = self._find_handlers()
        response = self._open_waiter([key for key, _ in handlers], must_in_prompt)
        return handle_sync(response, handlers)

    def _find_handlers(self) -> Handlers:
        """Return the handlers for requests made here, with their keys in the style of the events."""
        handlers = [*self._handlers, *(self._own_handlers.get() or ())]
        if not handlers:
            raise KeyWaitError(
                "No key handlers are registered.",
                hint="Add one: agent.when_key('title', print). Handlers of other tasks do not apply here.",
            )
        return [(self._in_style(key), handler) for key, handler in handlers]

    def _open_waiter(self, keys: Iterable[str], must_in_prompt: bool) -> Response[Any]:
        """Return the response, after a check that its output can have keys."""
        prompt = self.request_prompt
        output, output_format = read_output(prompt.get("output"), prompt.get("output_format"))
        if not output or output_format != "json" or not (is_mapping(output) or is_list(output)):
            lack = f"its output is {shorten(output)}, as {output_format}" if output else "it has no output"
            raise KeyWaitError(
                f"The request has no keys to wait for ({', '.join(keys)}): {lack}.",
                hint="Describe the answer: agent.output({'title': (str, 'a few words')}).",
            )
        if must_in_prompt:
            require_keys(output, keys)
        return self.get_response()

    def _in_style(self, key: Any) -> str:
        if not isinstance(key, str):
            raise KeyWaitError(f"A key must be text such as 'title' or 'rows[*].id', got {shorten(key)}.")
        if get_style(self.settings) == "slash":
            return key if key.startswith("/") else dot_to_slash(key)
        return slash_to_dot(key) if key.startswith("/") else key


def _is_apart() -> bool:
    """Return whether this code runs in a task, or in a thread of its own."""
    try:
        return asyncio.current_task() is not None
    except RuntimeError:
        return threading.current_thread() is not threading.main_thread()


async def _wait(response: Response[Any], keys: Collection[str]) -> AsyncGenerator[tuple[str, Any], None]:
    async with aclosing(response.stream_alone("instant", None)) as events:
        async for event in events:
            if event.is_complete and (event.path in keys or event.wildcard_path in keys):
                yield event.path, event.value


async def _find_key(response: Response[Any], key: str, default: Any) -> Any:
    arrived: dict[str, None] = {}
    unreadable: Exception | None = None
    async with aclosing(response.stream_alone("instant", None)) as events:
        async for event in events:
            unreadable = event.error
            if event.is_complete:
                arrived[event.path] = None
                if key in (event.path, event.wildcard_path):
                    return event.value
    if default is _REQUIRED:
        if isinstance(unreadable, AnswerLengthError):
            raise unreadable
        raise ResponseError(
            f"Key {key!r} was missing from the answer; received: {', '.join(arrived) or 'nothing'}.",
            hint="Pass `default=` to get a value instead.",
        )
    return default
