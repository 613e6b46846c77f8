"""The views of an answer, sync and async, that agents and responses share."""

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Callable, Collection, Coroutine, Iterator, Sequence
from typing import Any, Generic, Literal, TypeAlias, TypedDict, TypeVar, Unpack, overload

from dovetail.data.text import did_you_mean, explain_choices, shorten
from dovetail.errors import ConfigError, SignatureError
from dovetail.events.delta import Delta, FinishDelta, ReasoningDelta, TextDelta
from dovetail.response.attempt import Attempt
from dovetail.response.field_event import ErrorEvent, FieldEvent
from dovetail.response.log import LogEntry
from dovetail.response.result import Result

EventPair: TypeAlias = tuple[str, Any]


async def read_text(attempt: Attempt[Any]) -> AsyncGenerator[str, None]:
    """Yield the pieces of the answer's text."""
    async for entry in attempt.read():
        if isinstance(entry, TextDelta):
            yield entry.text
    attempt.raise_error()


async def read_original(attempt: Attempt[Any]) -> AsyncGenerator[Delta, None]:
    """Yield the model's deltas, unchanged."""
    async for entry in attempt.read():
        if not isinstance(entry, tuple):
            yield entry
    attempt.raise_error()


async def read_events(
    attempt: Attempt[Any], wanted: Collection[str] | None = None
) -> AsyncGenerator[EventPair, None]:
    """Yield events with their data, as pairs: all of them, or the wanted ones."""
    async for entry in attempt.read():
        for pair in _describe(entry, attempt):
            if wanted is None or pair[0] in wanted:
                yield pair
    for pair in _describe_last(attempt, await attempt.make_result().read_ahead()):
        if wanted is None or pair[0] in wanted:
            yield pair
    attempt.raise_error()


async def read_instants(attempt: Attempt[Any]) -> AsyncGenerator[FieldEvent, None]:
    """Yield the events of the answer's fields; the last one is an error if they cannot all be read."""
    if attempt.format.is_text:
        raise ConfigError(
            "Cannot stream fields: the answer is plain text.",
            hint="Describe the answer with `.returns(Model)`, or with `.output({…})`.",
        )
    attempt.start()
    log, fields = attempt.log, attempt.fields
    events = fields.events
    position = 0
    result: Result[Any] | None = None
    while True:
        ended = log.ended
        read = fields.catch_up()
        if ended and attempt.error is None:
            result = await attempt.make_result().read_ahead()
            if not result.is_cut_off:
                fields.finish()
        while position < len(events):
            yield events[position]
            position += 1
        if ended:
            break
        await log.wait(read)
    attempt.raise_error()
    if result is not None and (unreadable := result.find_unreadable()):
        yield ErrorEvent(unreadable, result.parsed)


def _describe(entry: LogEntry, attempt: Attempt[Any]) -> Iterator[EventPair]:
    """Return the events of an entry of the log."""
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


def _describe_last(attempt: Attempt[Any], result: Result[Any]) -> Iterator[EventPair]:
    if attempt.error is not None:
        yield "error", attempt.error
        return
    if unreadable := result.find_unreadable():
        yield "error", unreadable
    yield "meta", result.meta


def _describe_end(attempt: Attempt[Any]) -> Iterator[EventPair]:
    result = attempt.make_result()
    if result.tool_calls:
        yield "tool_calls", result.tool_calls
    yield "original_done", result.original_done
    if result.reasoning:
        yield "reasoning_done", result.reasoning
    yield "done", result.text


T = TypeVar("T")
V = TypeVar("V")
DataType: TypeAlias = Literal["parsed", "original", "text", "all"]
GeneratorType: TypeAlias = Literal["all", "delta", "specific", "instant", "streaming_parse", "original"]
_FieldType: TypeAlias = Literal["instant", "streaming_parse"]
_EventType: TypeAlias = Literal["all", "specific"]
_Names: TypeAlias = Collection[str] | str | None
_VIEWS = {"parsed": "data", "original": "original_done", "text": "text"}
_DATA_TYPES = (*_VIEWS, "all")

_OPTIONS = (
    "Options of the model belong to the request: `agent.options({'temperature': 0}).input('…').start()`."
)
_MEANT = {
    **dict.fromkeys(
        ("max_tokens", "options", "reasoning_effort", "seed", "stop", "temperature", "thinking", "top_p"),
        _OPTIONS,
    ),
    **dict.fromkeys(
        ("seconds", "time_limit", "timeout"),
        "Pass a time limit where the request is made: `start(timeout=…)` or `get_response(timeout=…)`.",
    ),
    **dict.fromkeys(("limits", "max_turns", "on_event"), "Limits and events are for `agent.run('…')`."),
    "model": "Choose a model where the agent is made: `Agent(model='provider:name')`.",
    "tools": "Pass tools where the agent is made: `Agent(tools=[…])`.",
}
"""Arguments that an answer does not take, and where they belong."""


class Demands(TypedDict, total=False):
    """Requirements of an answer; one that does not meet them is requested again.

    `ensure_keys` are dotted or slashed paths, `[*]` stands for every item; `max_retries` defaults to the
    setting `response.max_retries`. If the last answer fails too, `ResponseError` is raised, unless
    `raise_ensure_failure` is false.
    """

    ensure_keys: Sequence[str]
    max_retries: int
    raise_ensure_failure: bool


def refuse_unknown(demands: Demands) -> None:
    """Reject unknown names, which would otherwise be ignored."""
    known = Demands.__annotations__
    if unknown := [name for name in demands if name not in known]:
        raise SignatureError(explain_choices("argument", unknown[0], known), hint=_MEANT.get(unknown[0]))


class Answer(ABC, Generic[T]):
    """The views of an answer; `T` is the type of the object it makes.

    The source of a view is fixed when the view is called, not when its coroutine first runs or its iterator
    is first read.
    """

    @abstractmethod
    def async_get_result(
        self, *, check: bool = False, **demands: Unpack[Demands]
    ) -> Coroutine[object, None, Result[T]]:
        """Return the whole answer; with `check` it must also build a valid object."""

    @abstractmethod
    def _stream(self, type: GeneratorType, specific: _Names) -> AsyncGenerator[Any, None]:
        """Yield the answer while it arrives."""

    @abstractmethod
    def _wait(self, view: "Callable[[Answer[T]], Coroutine[object, None, V]]") -> V:
        """Return the result of a view, for sync callers."""

    @abstractmethod
    def _later(self, view: "Callable[[Answer[T]], Coroutine[object, None, V]]") -> Coroutine[object, None, V]:
        """Return the result of a view, for async callers."""

    @abstractmethod
    def _iterate(self, type: GeneratorType, specific: _Names) -> Iterator[Any]:
        """Yield the answer while it arrives, for sync callers."""

    def async_get_data(
        self, type: DataType = "parsed", **demands: Unpack[Demands]
    ) -> Coroutine[object, None, Any]:
        """Return the parsed data (the text if no structure was requested), or another view of the answer.

        >>> agent = Agent().input("A wood for doors?").output({"wood": (str,)})
        >>> asyncio.run(agent.async_get_data(ensure_keys=["wood"]))
        {'wood': 'oak'}
        """
        return self._later(lambda answer: _get_data(answer, type, demands))

    def async_get_data_object(self, **demands: Unpack[Demands]) -> Coroutine[object, None, T]:
        """Return the validated object; an invalid answer is requested again, with the reason.

        >>> agent = Agent().input("A wood for doors?").output({"wood": (str,)})
        >>> asyncio.run(agent.async_get_data_object()).wood
        'oak'
        """
        return self._later(lambda answer: _get_data_object(answer, demands))

    def async_get_text(self) -> Coroutine[object, None, str]:
        """Return all text of the answer.

        >>> asyncio.run(Agent().input("A wood for doors?").async_get_text())
        'Oak.'
        """
        return self._later(_get_text)

    def async_get_meta(self) -> Coroutine[object, None, dict[str, Any]]:
        """Return model, usage, finish reason and timings.

        >>> asyncio.run(Agent().input("A wood for doors?").async_get_meta())["finish_reason"]
        'stop'
        """
        return self._later(_get_meta)

    def get_result(self, *, check: bool = False, **demands: Unpack[Demands]) -> Result[T]:
        """Return the whole answer.

        >>> result = Agent().input("A wood for doors?").output({"wood": (str,)}).get_result()
        >>> result.data, result.text
        ({'wood': 'oak'}, '{"wood": "oak"}')
        """
        return self._wait(lambda answer: answer.async_get_result(check=check, **demands))

    def get_data(self, type: DataType = "parsed", **demands: Unpack[Demands]) -> Any:
        """Return the parsed data (the text if no structure was requested), or another view of the answer.

        >>> response = Agent().input("A wood for doors?").output({"wood": (str,)}).get_response()
        >>> response.get_data(), response.get_data("text")
        ({'wood': 'oak'}, '{"wood": "oak"}')
        """
        return self._wait(lambda answer: _get_data(answer, type, demands))

    def get_data_object(self, **demands: Unpack[Demands]) -> T:
        """Return the validated object; an invalid answer is requested again, with the reason.

        >>> agent = Agent().input("A wood for doors?").output({"wood": (str,)})
        >>> agent.get_data_object().wood
        'oak'
        """
        return self._wait(lambda answer: _get_data_object(answer, demands))

    def get_text(self) -> str:
        """Return all text of the answer.

        >>> Agent().input("A wood for doors?").output({"wood": (str,)}).get_text()
        '{"wood": "oak"}'
        """
        return self._wait(_get_text)

    def get_meta(self) -> dict[str, Any]:
        """Return model, usage, finish reason and timings.

        >>> meta = Agent().input("A wood for doors?").get_meta()
        >>> list(meta)
        ['model', 'requested_model', 'finish_reason', 'usage', 'request_id', 'timings']
        """
        return self._wait(_get_meta)

    @overload
    def async_get_generator(self, type: Literal["delta"] = "delta") -> AsyncGenerator[str, None]: ...
    @overload
    def async_get_generator(self, type: _FieldType) -> AsyncGenerator[FieldEvent, None]: ...
    @overload
    def async_get_generator(self, type: Literal["original"]) -> AsyncGenerator[Delta, None]: ...
    @overload
    def async_get_generator(
        self, type: _EventType, *, specific: _Names = None
    ) -> AsyncGenerator[EventPair, None]: ...
    def async_get_generator(
        self, type: GeneratorType = "delta", *, specific: _Names = None
    ) -> AsyncGenerator[Any, None]:
        """Yield the answer while it arrives, from its start: text, fields, deltas, or events with data.

        >>> async def show() -> None:
        ...     async for text in Agent().input("A wood for doors?").async_get_generator():
        ...         print(text)
        >>> asyncio.run(show())
        Oak.
        """
        return self._stream(type, specific)

    @overload
    def get_generator(self, type: Literal["delta"] = "delta") -> Iterator[str]: ...
    @overload
    def get_generator(self, type: _FieldType) -> Iterator[FieldEvent]: ...
    @overload
    def get_generator(self, type: Literal["original"]) -> Iterator[Delta]: ...
    @overload
    def get_generator(self, type: _EventType, *, specific: _Names = None) -> Iterator[EventPair]: ...
    def get_generator(self, type: GeneratorType = "delta", *, specific: _Names = None) -> Iterator[Any]:
        """Yield the answer while it arrives, from its start: text, fields, deltas, or events with data.

        >>> response = Agent().input("A wood for doors?").get_response()
        >>> "".join(response.get_generator())
        'Oak.'
        >>> list(response.get_generator("specific", specific=["done"]))
        [('done', 'Oak.')]
        """
        return self._iterate(type, specific)


async def _get_data(answer: Answer[Any], type: DataType, demands: Demands) -> Any:
    if type not in _DATA_TYPES:
        hint = did_you_mean(type, _DATA_TYPES) or f"To ask, write `agent.input({shorten(type)}).start()`."
        raise SignatureError(explain_choices("data type", type, _DATA_TYPES), hint=hint)
    result = await answer.async_get_result(**demands)
    if type == "parsed":
        if demands.get("raise_ensure_failure", True):
            result.require_whole()
        result.warn_if_unusable()
    return result.to_dict() if type == "all" else getattr(result, _VIEWS[type])


async def _get_data_object(answer: Answer[T], demands: Demands) -> T:
    built: Any = (await answer.async_get_result(check=True, **demands)).object
    return built  # None only if the caller wants no error for an answer that is not valid


async def _get_text(answer: Answer[Any]) -> str:
    return (await answer.async_get_result()).text


async def _get_meta(answer: Answer[Any]) -> dict[str, Any]:
    return (await answer.async_get_result()).meta
