"""The points where agent extensions join in a request.

`request_prefixes` run with the prompt and the settings before the request is sent. `broadcast_prefixes` and
`broadcast_suffixes` run with the result's data and the settings, before the first and after the last delta,
and may give `(event, data)` pairs to the readers. `finally` runs with the result and the settings at the end.
A handler is a function, a coroutine function, a generator or an async generator.
"""

import inspect
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Iterable
from typing import Any, Literal, TypeAlias, TypeGuard, get_args

from dovetail.errors import ConfigError

HandlerName: TypeAlias = Literal["request_prefixes", "broadcast_prefixes", "broadcast_suffixes", "finally"]
Handler: TypeAlias = Callable[[Any, Any], Any]


class ExtensionHandlers:
    """The handlers of one agent, by name, in the order they were added."""

    def __init__(self) -> None:
        self._handlers: dict[str, list[Handler]] = {name: [] for name in get_args(HandlerName)}

    def append(self, name: HandlerName, handler: Handler) -> None:
        """Add a handler behind those that are there."""
        self._get(name).append(handler)

    def remove(self, name: HandlerName, handler: Handler) -> None:
        """Take a handler out again; one that is not there is no error."""
        if handler in self._get(name):
            self._get(name).remove(handler)

    def get(self, name: HandlerName) -> tuple[Handler, ...]:
        """The handlers of that name."""
        return tuple(self._get(name))

    def _get(self, name: str) -> list[Handler]:
        if name not in self._handlers:
            raise ConfigError(f"no extension handler {name!r}; there are: {', '.join(self._handlers)}")
        return self._handlers[name]


async def run_handlers(handlers: Iterable[Handler], first: Any, second: Any) -> AsyncGenerator[Any, None]:
    """Run handlers one after the other; what they give or return and is not None."""
    for handler in handlers:
        outcome = handler(first, second)
        if inspect.isawaitable(outcome):
            outcome = await outcome
        if _is_async_items(outcome):
            async for item in outcome:
                yield item
        elif inspect.isgenerator(outcome):
            for item in outcome:
                yield item
        elif outcome is not None:
            yield outcome


def _is_async_items(outcome: object) -> TypeGuard[AsyncIterable[Any]]:
    return inspect.isasyncgen(outcome)
