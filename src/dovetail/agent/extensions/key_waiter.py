"""Waits for fields of a structured answer and acts on each the moment it is complete (document 000, 2).

A key is a dotted or slashed path; `[*]` stands for every item, so such a key may arrive many times.
"""

import inspect
from collections.abc import AsyncGenerator, Callable, Collection, Coroutine, Iterable, Iterator, Sequence
from contextlib import aclosing
from typing import Any, Self

from dovetail.agent.base import BaseAgent
from dovetail.agent.expectation import get_style
from dovetail.agent.schema_paths import require_keys
from dovetail.concurrency import iterate_sync, run_sync
from dovetail.data.paths import dot_to_slash, slash_to_dot
from dovetail.errors import ConfigError, ResponseError
from dovetail.response.response import Response

KeyHandler = Callable[[Any], Any]
"""Gets the value of a key that is complete; may be a coroutine function."""

_REQUIRED = object()


class KeyWaiterExtension(BaseAgent):
    """An agent extension: `get_key_result`, `wait_keys`, and handlers with `when_key`."""

    def async_get_key_result(
        self, key: str, *, must_in_prompt: bool = False, default: Any = _REQUIRED
    ) -> Coroutine[Any, Any, Any]:
        """Send the request and give the value of a key as soon as it is complete, without the rest.

        Raises:
            ResponseError: the answer ended without the key, and there is no `default`.
        """
        return _find_key(self._open_waiter([key], must_in_prompt), self._in_style(key), default)

    def get_key_result(self, key: str, *, must_in_prompt: bool = False, default: Any = _REQUIRED) -> Any:
        """Send the request and give the value of a key as soon as it is complete, without the rest."""
        return run_sync(self.async_get_key_result(key, must_in_prompt=must_in_prompt, default=default))

    def async_wait_keys(
        self, keys: str | Sequence[str], *, must_in_prompt: bool = False
    ) -> AsyncGenerator[tuple[str, Any], None]:
        """Send the request and give `(path, value)` for each of the keys that is complete."""
        names = [keys] if isinstance(keys, str) else list(keys)
        return _wait(self._open_waiter(names, must_in_prompt), {self._in_style(name) for name in names})

    def wait_keys(
        self, keys: str | Sequence[str], *, must_in_prompt: bool = False
    ) -> Iterator[tuple[str, Any]]:
        """Send the request and give `(path, value)` for each of the keys that is complete."""
        return iterate_sync(self.async_wait_keys(keys, must_in_prompt=must_in_prompt))

    def when_key(self, key: str, handler: KeyHandler) -> Self:
        """Call the handler with the key's value when it is complete; start with `start_waiter`."""
        if not callable(handler):
            raise ConfigError(f"the handler of key {key!r} must be a function, got {handler!r}")
        self._pending.get().key_handlers.append((key, handler))
        return self

    def async_start_waiter(self, *, must_in_prompt: bool = False) -> Coroutine[Any, Any, list[Any]]:
        """Send the request and call the handlers; gives what they returned, in the order of the calls.

        A handler that raises stops neither the others nor the answer; its error is raised at the end.
        """
        handlers = self._pending.get().key_handlers
        if not handlers:
            raise ConfigError(
                "there is no handler to wait with", hint="Add one first: agent.when_key('title', print)."
            )
        by_key: dict[str, list[KeyHandler]] = {}
        for key, handler in handlers:
            by_key.setdefault(self._in_style(key), []).append(handler)
        return _handle(self._open_waiter([key for key, _ in handlers], must_in_prompt), by_key)

    def start_waiter(self, *, must_in_prompt: bool = False) -> list[Any]:
        """Send the request and call the handlers; gives what they returned, in the order of the calls."""
        return run_sync(self.async_start_waiter(must_in_prompt=must_in_prompt))

    def _open_waiter(self, keys: Iterable[str], must_in_prompt: bool) -> Response[Any]:
        """The response, once it is certain that keys can arrive in it."""
        output = self.request_prompt.get("output")
        if not output or output is str:
            raise ConfigError(
                f"there are no keys to wait for ({', '.join(keys)}): the request has no output",
                hint="Say what the answer holds: agent.output({'title': (str, 'a few words')}).",
            )
        if must_in_prompt:
            require_keys(output, keys)
        return self.get_response()

    def _in_style(self, key: str) -> str:
        if get_style(self.settings) == "slash":
            return key if key.startswith("/") else dot_to_slash(key)
        return slash_to_dot(key) if key.startswith("/") else key


async def _wait(response: Response[Any], keys: Collection[str]) -> AsyncGenerator[tuple[str, Any], None]:
    async with aclosing(response.stream_alone("instant", None)) as events:
        async for event in events:
            if event.is_complete and (event.path in keys or event.wildcard_path in keys):
                yield event.path, event.value


async def _find_key(response: Response[Any], key: str, default: Any) -> Any:
    arrived: dict[str, None] = {}
    async with aclosing(response.stream_alone("instant", None)) as events:
        async for event in events:
            if event.is_complete:
                arrived[event.path] = None
                if key in (event.path, event.wildcard_path):
                    return event.value
    if default is _REQUIRED:
        raise ResponseError(
            f"the key {key!r} did not arrive; what did: {', '.join(arrived) or 'nothing'}",
            hint="Pass `default=` to get a value instead.",
        )
    return default


async def _handle(response: Response[Any], handlers: dict[str, list[KeyHandler]]) -> list[Any]:
    results: list[Any] = []
    errors: list[Exception] = []
    async with aclosing(response.stream_alone("instant", None)) as events:
        async for event in events:
            if event.is_complete:
                await _call(_choose(handlers, event), event.value, results, errors)
    if len(errors) == 1:
        raise errors[0]
    if errors:
        raise ExceptionGroup("several key handlers failed", errors)
    return results


def _choose(handlers: dict[str, list[KeyHandler]], event: Any) -> list[KeyHandler]:
    found = handlers.get(event.path, [])
    wildcard = event.wildcard_path
    return found if wildcard == event.path else [*found, *handlers.get(wildcard, [])]


async def _call(handlers: list[KeyHandler], value: Any, results: list[Any], errors: list[Exception]) -> None:
    for handler in handlers:
        try:
            result = handler(value)
            results.append(await result if inspect.isawaitable(result) else result)
        except Exception as error:  # told at the end: the answer goes on, and so do the other handlers
            errors.append(error)
