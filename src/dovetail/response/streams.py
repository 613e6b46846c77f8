"""The views of an answer while it arrives: text, deltas, events, fields."""

from collections.abc import AsyncGenerator, Collection, Iterator
from typing import Any, TypeAlias

from dovetail.errors import ConfigError
from dovetail.messages.delta import Delta, FinishDelta, ReasoningDelta, TextDelta
from dovetail.response.attempt import Attempt
from dovetail.response.instant import Instant
from dovetail.response.log import Entry

EventPair: TypeAlias = tuple[str, Any]


async def read_text(attempt: Attempt[Any]) -> AsyncGenerator[str, None]:
    """The pieces of the answer's text."""
    async for entry in attempt.read():
        if isinstance(entry, TextDelta):
            yield entry.text
    attempt.raise_error()


async def read_original(attempt: Attempt[Any]) -> AsyncGenerator[Delta, None]:
    """The model's deltas, as they came."""
    async for entry in attempt.read():
        if not isinstance(entry, tuple):
            yield entry
    attempt.raise_error()


async def read_events(
    attempt: Attempt[Any], wanted: Collection[str] | None = None
) -> AsyncGenerator[EventPair, None]:
    """Events with their data, as pairs: all of them, or those that are wanted."""
    async for entry in attempt.read():
        for pair in _describe(entry, attempt):
            if wanted is None or pair[0] in wanted:
                yield pair
    last = ("error", attempt.error) if attempt.error else ("meta", attempt.make_result().meta)
    if wanted is None or last[0] in wanted:
        yield last
    attempt.raise_error()


async def read_instants(attempt: Attempt[Any]) -> AsyncGenerator[Instant, None]:
    """The events of the answer's fields."""
    if attempt.shape.is_text:
        raise ConfigError(
            "there are no fields to stream, the answer is plain text",
            hint="Say what the answer looks like with `.output({...})`.",
        )
    attempt.start()
    log, fields = attempt.log, attempt.fields
    events = fields.events
    position = 0
    while True:
        ended = log.ended
        read = fields.catch_up()
        if ended and attempt.error is None:
            fields.finish()
        while position < len(events):
            yield events[position]
            position += 1
        if ended:
            break
        await log.wait(read)
    attempt.raise_error()


def _describe(entry: Entry, attempt: Attempt[Any]) -> Iterator[EventPair]:
    """The events that an entry of the log stands for."""
    if isinstance(entry, tuple):
        yield entry
        return
    yield "original_delta", entry
    if isinstance(entry, TextDelta):
        yield "delta", entry.text
    elif isinstance(entry, ReasoningDelta):
        yield "reasoning_delta", entry.text
    elif isinstance(entry, FinishDelta):
        yield from _describe_end(attempt)


def _describe_end(attempt: Attempt[Any]) -> Iterator[EventPair]:
    result = attempt.make_result()
    if result.tool_calls:
        yield "tool_calls", result.tool_calls
    yield "original_done", result.original_done
    if result.reasoning:
        yield "reasoning_done", result.reasoning
    yield "done", result.text
