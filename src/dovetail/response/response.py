"""A model's answer: streamed to any number of readers, and whole.

The request is sent when the first reader starts. Every reader reads from the start, in any thread or event
loop. An answer that lacks required keys is requested again; from then on all views refer to the newer answer.
"""

import threading
from collections.abc import AsyncGenerator, Callable, Collection, Coroutine, Iterator
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, Unpack

from dovetail.concurrency import find_running_loop, iterate_sync, run_sync
from dovetail.data.shapes import is_number
from dovetail.data.text import explain_attribute, explain_choices, shorten
from dovetail.errors import ConfigError
from dovetail.events.delta import Usage
from dovetail.response.answer import (
    Answer,
    Demands,
    GeneratorType,
    read_events,
    read_instants,
    read_original,
    read_text,
    refuse_unknown,
)
from dovetail.response.attempt import AtEnd, Attempt
from dovetail.response.field_event import ErrorEvent
from dovetail.response.log import LogEntry
from dovetail.response.parser import AnswerFormat
from dovetail.response.result import Result

T = TypeVar("T")
V = TypeVar("V")

USUAL_EVENTS = frozenset(
    {"reasoning_delta", "delta", "reasoning_done", "done", "tool_calls", "tool", "error"}
)
"""The events of `specific` if none are named."""


@dataclass(frozen=True, slots=True)
class Correction:
    """Why an answer was rejected: its text, and the problem in words for the model; and what it cost."""

    reply: str
    problem: str
    spent: Usage = field(default_factory=Usage)
    """The usage of the rejected answers, all of them."""


Send: TypeAlias = Callable[[Correction | None], AsyncGenerator[LogEntry, None]]
"""Sends the request; a correction requests a better answer than the last one."""


_MEANT = {
    **dict.fromkeys(("result", "meta"), "response.get_result()"),
    **dict.fromkeys(("content", "text"), "response.get_text()"),
    **dict.fromkeys(("data", "output", "value"), "response.get_data()"),
}
"""The names of other libraries, and how to write the same thing here."""


class Response(Answer[T]):
    """One answer of a model."""

    def __init__(
        self,
        send: Send,
        format: AnswerFormat[T] | None = None,
        *,
        timeout: float | None = None,
        max_retries: int = 3,
        at_end: AtEnd | None = None,
    ) -> None:
        self.extra: dict[str, Any] = {}
        """Data that other parts add to the result, such as `tool_logs`."""
        self._send = send
        self._format: AnswerFormat[T] = format or AnswerFormat()
        if timeout is not None and not is_number(timeout):
            raise ConfigError(f"The timeout must be a finite number of seconds or None, got {timeout!r}.")
        self._timeout = timeout
        self._max_retries = max_retries
        self._at_end = at_end
        self._lock = threading.Lock()
        self._attempt = self._make_attempt(1, None)

    def __repr__(self) -> str:
        text = self.received.text
        return f"<Response, {self._attempt.state}{f': {shorten(text)}' if text else ''}>"

    def _repr_html_(self) -> str | None:
        """Show a complete answer in a notebook."""
        if self._attempt.state != "complete":
            return None
        return self.received._repr_html_()  # pyright: ignore[reportPrivateUsage] - notebooks choose the name

    if not TYPE_CHECKING:  # type checkers know which attributes exist

        def __getattr__(self, name: str) -> Any:
            """Name the method that returns what another library has under this name."""
            raise AttributeError(explain_attribute("Response", name, _MEANT), name=name, obj=self)

    @property
    def received(self) -> Result[T]:
        """Return the result so far, without waiting."""
        return self._attempt.make_result()

    def cancel(self) -> None:
        """Stop the request; entries received so far are kept, then readers get a `CancelledRunError`.

        >>> response = Agent().input("A wood for doors?").get_response()
        >>> response.cancel()
        >>> response.get_text()
        Traceback (most recent call last):
        CancelledRunError: ...
        """
        self._attempt.cancel()

    async def async_get_result(self, *, check: bool = False, **demands: Unpack[Demands]) -> Result[T]:
        """Return the whole answer; with `check` it must also build a valid object.

        >>> response = Agent().input("A wood for doors?").output({"wood": (str,)}).get_response()
        >>> asyncio.run(response.async_get_result(ensure_keys=["wood"])).data
        {'wood': 'oak'}
        """
        refuse_unknown(demands)
        ensure_keys = demands.get("ensure_keys", ())
        max_retries = demands.get("max_retries", self._max_retries)
        attempt = self._attempt
        result = await attempt.wait()
        if not check and not ensure_keys:
            return result
        while problem := result.find_problem(ensure_keys, check=check):
            if result.is_too_long or attempt.number > max_retries:
                break
            spent = result.finish.usage if result.finish else Usage()
            attempt = self._try_again(attempt, Correction(result.text, problem, spent))
            result = await attempt.wait()
        if problem and demands.get("raise_ensure_failure", True):
            raise result.reject(problem)
        return result

    def _stream(
        self, type: GeneratorType, specific: Collection[str] | str | None
    ) -> AsyncGenerator[Any, None]:
        attempt = self._attempt
        if type == "delta":
            return read_text(attempt)
        if type == "instant" or type == "streaming_parse":
            return read_instants(attempt)
        if type == "original":
            return read_original(attempt)
        if type == "all":
            return read_events(attempt)
        if type == "specific":
            return read_events(attempt, {specific} if isinstance(specific, str) else specific or USUAL_EVENTS)
        known = ("all", "delta", "specific", "instant", "original")
        raise ConfigError(explain_choices("generator type", type, known))

    def stream_alone(
        self, type: GeneratorType, specific: Collection[str] | str | None
    ) -> AsyncGenerator[Any, None]:
        """Yield the answer while it arrives, for its only reader: leaving early stops the request."""
        return self._read_alone(self._stream(type, specific))

    async def _read_alone(self, stream: AsyncGenerator[Any, None]) -> AsyncGenerator[Any, None]:
        try:
            async with aclosing(stream) as items:
                async for item in items:
                    if isinstance(item, ErrorEvent):  # readers of complete fields would not see it
                        self.received.warn_if_unusable()
                    yield item
        finally:
            self.cancel()

    def _wait(self, view: Callable[[Answer[T]], Coroutine[object, None, V]]) -> V:
        self._refuse_wait()
        return run_sync(view(self))

    def _later(self, view: Callable[[Answer[T]], Coroutine[object, None, V]]) -> Coroutine[object, None, V]:
        return view(self)

    def _iterate(self, type: GeneratorType, specific: Collection[str] | str | None) -> Iterator[Any]:
        self._refuse_wait()
        return iterate_sync(self._stream(type, specific))

    def _refuse_wait(self) -> None:
        if self._attempt.runs_in(find_running_loop()):
            raise ConfigError(
                "Cannot read this response with a sync call: its own event loop is running here.",
                hint="Use the method whose name begins with `async_`.",
            )

    def _try_again(self, attempt: Attempt[T], correction: Correction) -> Attempt[T]:
        """Return the next attempt; one that another reader has already requested is shared."""
        with self._lock:
            if self._attempt is attempt:
                self._attempt = self._make_attempt(attempt.number + 1, correction)
            return self._attempt

    def _make_attempt(self, number: int, correction: Correction | None) -> Attempt[T]:
        return Attempt(
            self._send(correction),
            self._format,
            number=number,
            timeout=self._timeout,
            extra=self.extra,
            at_end=self._at_end,
        )
