"""The fluent interface of agents and typed requests: a prompt to fill, and every view of the answer.

`TypedRequest` is `agent.returns(Invoice)`: an answer that is an instance of a type, which pyright knows.
"""

from abc import abstractmethod
from collections.abc import AsyncGenerator, Callable, Collection, Coroutine, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, Self, TypeVar, Unpack, overload

from dovetail.agent.arguments import METHODS, list_names
from dovetail.agent.expectation import TypedOutput
from dovetail.agent.pending import Claim, PendingRequests, wrap_sending
from dovetail.agent.shorthands import Mappings, PromptShorthands
from dovetail.concurrency import iterate_sync, run_sync, warn_if_blocking
from dovetail.data.text import explain_attribute
from dovetail.errors import ConfigError
from dovetail.prompt.prompt import Prompt
from dovetail.response.answer import Answer, DataType, Demands, GeneratorType
from dovetail.response.response import Response
from dovetail.response.result import Result

if TYPE_CHECKING:
    from dovetail.agent.run import RunOptions, RunStream
    from dovetail.events.run_result import RunResult
    from dovetail.tools.tool import Tool

T = TypeVar("T")
V = TypeVar("V")


class Asking(PromptShorthands, Answer[T]):
    """Fill a request, and take it when a view of its answer is called.

    Such a view is the only reader of its response, so leaving it early stops the request.
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Make the methods that send carry their request to wherever they are called."""
        super().__init_subclass__(**kwargs)
        wrap_sending(cls)

    def __dir__(self) -> list[str]:
        return list_names(super().__dir__())

    if not TYPE_CHECKING:  # type checkers know which attributes exist

        def __getattr__(self, name: str) -> Any:
            """Name the method that does what one of another library would do."""
            kind = type(self).__name__
            raise AttributeError(explain_attribute(kind, name, METHODS), name=name, obj=self)

    @property
    @abstractmethod
    def pending(self) -> PendingRequests:
        """The requests that are being written."""

    def claim_request(self) -> Claim | None:
        """Return a claim on the request that is being written here; None if nothing has been written."""
        return self.pending.claim()

    @abstractmethod
    def get_response(self, *, timeout: float | None = None) -> Response[T]:
        """Return the response to the request; the next request begins empty."""

    def async_get_result(
        self, *, check: bool = False, **demands: Unpack[Demands]
    ) -> Coroutine[object, None, Result[T]]:
        """Return the whole answer; with `check` it must also be a valid object.

        >>> result = asyncio.run(Agent().input("A wood for doors?").async_get_result())
        >>> result.text, result.meta["finish_reason"]
        ('Oak.', 'stop')
        """
        return self._later(lambda answer: answer.async_get_result(check=check, **demands))

    def _stream(
        self, type: GeneratorType, specific: Collection[str] | str | None
    ) -> AsyncGenerator[Any, None]:
        return self.get_response().stream_alone(type, specific)

    def _wait(self, view: Callable[[Answer[T]], Coroutine[object, None, V]]) -> V:
        return run_sync(read_alone(self.get_response(), view))

    def _later(self, view: Callable[[Answer[T]], Coroutine[object, None, V]]) -> Coroutine[object, None, V]:
        return open_later(self.get_response, view)

    def _iterate(self, type: GeneratorType, specific: Collection[str] | str | None) -> Iterator[Any]:
        return iterate_sync(self._stream(type, specific))


class _Asker(Protocol):
    """The agent, as far as a typed request needs it."""

    @property
    def pending(self) -> PendingRequests: ...

    def get_prompt(self, always: bool) -> Prompt: ...

    def ask_for(self, typed: TypedOutput[V], *, timeout: float | None = None) -> Response[V]: ...


class _Runner(Protocol):
    """The agent, as far as a typed run needs it."""

    def async_run(
        self, task: Any = None, *, returns: Any = ..., **options: "Unpack[RunOptions]"
    ) -> "Coroutine[object, None, RunResult[Any]]": ...

    def run_stream(
        self, task: Any = None, *, returns: Any = ..., **options: "Unpack[RunOptions]"
    ) -> "RunStream[Any]": ...

    def as_tool(
        self, *, name: str | None = None, description: str | None = None, returns: Any = None
    ) -> "Tool": ...


class _Waiter(Protocol):
    """The agent, as far as it waits for the fields of an answer."""

    def async_get_key_result(self, key: str, **demands: Any) -> Coroutine[object, None, Any]: ...

    def async_wait_keys(
        self, keys: str | Sequence[str], *, must_in_prompt: bool = False
    ) -> AsyncGenerator[tuple[str, Any], None]: ...


class TypedRequest(Asking[T]):
    """The agent's next request, whose answer is a `T`; it can be filled further like the agent itself.

    It stands for the request that was being written when it was made, or first filled, until that is sent.
    """

    def __init__(self, agent: _Asker, kind: Any) -> None:
        self._agent = agent
        self._typed: TypedOutput[T] = TypedOutput(kind)
        self._claim = agent.pending.claim(alone=True)

    def __repr__(self) -> str:
        return f"TypedRequest({self._agent!r}, {self._typed.kind!r})"

    @property
    def pending(self) -> PendingRequests:
        """The requests of the agent that are being written."""
        return self._agent.pending

    def claim_request(self) -> Claim | None:
        """Return a claim on the request that this one stands for."""
        if self._claim is None or self._claim.request.is_taken:
            self._claim = self.pending.claim()
        return None if self._claim is None else Claim(self._claim.request)

    def get_response(self, *, timeout: float | None = None) -> Response[T]:
        """Return the response to the request, which is sent when the response is first read.

        >>> response = Agent().input("Woods for doors?").returns(list[str]).get_response()
        >>> response.get_data_object()
        ['oak', 'teak']
        """
        return self._agent.ask_for(self._typed, timeout=timeout)

    @overload
    def async_get_data(
        self, type: Literal["parsed"] = "parsed", **demands: Unpack[Demands]
    ) -> Coroutine[Any, Any, T]: ...
    @overload
    def async_get_data(self, type: DataType, **demands: Unpack[Demands]) -> Coroutine[Any, Any, Any]: ...
    def async_get_data(
        self, type: DataType = "parsed", **demands: Unpack[Demands]
    ) -> Coroutine[Any, Any, Any]:
        """Return the instance, as `async_start` does, or another view of the answer.

        >>> asyncio.run(Agent().input("Woods for doors?").returns(list[str]).async_get_data())
        ['oak', 'teak']
        """
        return (
            self.async_get_data_object(**demands)
            if type == "parsed"
            else super().async_get_data(type, **demands)
        )

    @overload
    def get_data(self, type: Literal["parsed"] = "parsed", **demands: Unpack[Demands]) -> T: ...
    @overload
    def get_data(self, type: DataType, **demands: Unpack[Demands]) -> Any: ...
    def get_data(self, type: DataType = "parsed", **demands: Unpack[Demands]) -> Any:
        """Return the instance, as `start` does, or another view of the answer.

        >>> Agent().input("Woods for doors?").returns(list[str]).get_data()
        ['oak', 'teak']
        """
        return self.get_data_object(**demands) if type == "parsed" else super().get_data(type, **demands)

    def async_start(
        self, *, timeout: float | None = None, **demands: Unpack[Demands]
    ) -> Coroutine[object, None, T]:
        """Send the request and return the instance; an invalid answer is requested again.

        >>> asyncio.run(Agent().input("Woods for doors?").returns(list[str]).async_start())
        ['oak', 'teak']
        """
        return open_later(
            lambda: self.get_response(timeout=timeout), lambda answer: answer.async_get_data_object(**demands)
        )

    def start(self, *, timeout: float | None = None, **demands: Unpack[Demands]) -> T:
        """Send the request and return the instance; an invalid answer is requested again.

        >>> Agent().input("Woods for doors?").returns(list[str]).start(timeout=60)
        ['oak', 'teak']
        """
        warn_if_blocking("start()", "await agent.input('…').returns(Model).async_start()")
        return run_sync(self.async_start(timeout=timeout, **demands))

    def async_get_key_result(self, key: str, **demands: Any) -> Coroutine[object, None, Any]:
        """Send the request and return the value of a field as soon as it is complete, without the rest.

        >>> request = Agent().input("Woods for doors?").returns(list[str])
        >>> asyncio.run(request.async_get_key_result("[0]"))
        'oak'
        """
        return begin_later(lambda: self._waiter.async_get_key_result(key, **demands))

    def get_key_result(self, key: str, **demands: Any) -> Any:
        """Send the request and return the value of a field as soon as it is complete, without the rest.

        The options are those of the agent's `get_key_result`.

        >>> Agent().input("Woods for doors?").returns(list[str]).get_key_result("[9]", default="none")
        'none'
        """
        return run_sync(self.async_get_key_result(key, **demands))

    def async_wait_keys(
        self, keys: str | Sequence[str], *, must_in_prompt: bool = False
    ) -> AsyncGenerator[tuple[str, Any], None]:
        """Send the request and yield `(path, value)` for each field as soon as it is complete.

        >>> async def show() -> None:
        ...     async for path, value in Agent().input("Woods?").returns(list[str]).async_wait_keys("[*]"):
        ...         print(path, value)
        >>> asyncio.run(show())
        [0] oak
        [1] teak
        """
        return self._waiter.async_wait_keys(keys, must_in_prompt=must_in_prompt)

    def wait_keys(
        self, keys: str | Sequence[str], *, must_in_prompt: bool = False
    ) -> Iterator[tuple[str, Any]]:
        """Send the request and yield `(path, value)` for each field as soon as it is complete.

        >>> list(Agent().input("Woods for doors?").returns(list[str]).wait_keys("[*]"))
        [('[0]', 'oak'), ('[1]', 'teak')]
        """
        return iterate_sync(self.async_wait_keys(keys, must_in_prompt=must_in_prompt))

    def async_run(
        self, task: Any = None, **options: "Unpack[RunOptions]"
    ) -> "Coroutine[object, None, RunResult[T]]":
        """Work on a task turn after turn, with all the agent's tools; the result's `data` is the instance.

        >>> result = asyncio.run(Agent().returns(dict[str, str]).async_run("A wood for doors?"))
        >>> result.data
        {'wood': 'oak'}
        """
        return self._runner.async_run(task, returns=self._typed, **options)

    def run(self, task: Any = None, **options: "Unpack[RunOptions]") -> "RunResult[T]":
        """Work on a task turn after turn, with all the agent's tools; the result's `data` is the instance.

        Raises:
            ResponseError: the run ended without an instance; the message says why.

        >>> Agent().returns(str).run("A wood for doors?", limits={"turns": 5}).data
        'Oak.'
        """
        warn_if_blocking("run()", "await agent.returns(Model).async_run('…')")
        return run_sync(self.async_run(task, **options))

    def run_stream(self, task: Any = None, **options: "Unpack[RunOptions]") -> "RunStream[T]":
        """Work on a task turn after turn, and yield what happens; afterwards the stream has the `result`.

        >>> stream = Agent().returns(str).run_stream("A wood for doors?")
        >>> [event.type for event in stream][-1], stream.result.data
        ('run-end', 'Oak.')
        """
        return self._runner.run_stream(task, returns=self._typed, **options)

    def as_tool(self, *, name: str | None = None, description: str | None = None) -> "Tool":
        """Return the agent as a tool with a typed result, as `Agent(tools=[agent.returns(Quote)])` does.

        Raises:
            ConfigError: the agent has no name, or something is set for its next request only.

        >>> carpenter = Agent("carpenter", system="You know woods.")
        >>> Agent(tools=[carpenter.returns(list[str])]).tools
        ToolSnapshot(['carpenter'], generation=...)
        """
        if self.claim_request() is not None:
            raise ConfigError(
                "A tool does not read what is set for the next request only.",
                hint="Set it with `always=True`, as in `agent.info(…, always=True).returns(Model)`.",
            )
        return self._runner.as_tool(name=name, description=description, returns=self._typed)

    @property
    def _runner(self) -> _Runner:
        agent: Any = self._agent  # a `BaseAgent` has no runs, and says so
        return agent

    @property
    def _waiter(self) -> _Waiter:
        """The agent, with the fields of the type in the request that is sent next."""
        self._agent.get_prompt(False).replace("output", self._typed.shown)
        agent: Any = self._agent  # a `BaseAgent` waits for no fields, and says so
        return agent

    def get_prompt(self, always: bool) -> Prompt:
        """Return the prompt to write into."""
        with self.pending.carry(self._claim):
            return self._agent.get_prompt(always)

    def _write(self, key: str, value: Any, mappings: Mappings, *, always: bool) -> Self:
        super()._write(key, value, mappings, always=always)
        self.claim_request()
        return self


def open_later(
    open: Callable[[], Response[T]], view: Callable[[Answer[T]], Coroutine[object, None, V]]
) -> Coroutine[object, None, V]:
    """Open a response now and read it in the coroutine, which raises all errors."""
    return begin_later(lambda: read_alone(open(), view))


def begin_later(begin: Callable[[], Coroutine[object, None, V]]) -> Coroutine[object, None, V]:
    """Take a request now; an error is raised where the coroutine is awaited."""
    try:
        return begin()
    except Exception as error:
        return _fail(error)


async def read_alone(response: Response[T], view: Callable[[Answer[T]], Coroutine[object, None, V]]) -> V:
    """Read a response that has no other reader; a cancel stops the request."""
    try:
        return await view(response)
    except BaseException:
        response.cancel()
        raise


async def _fail(error: Exception) -> Any:
    raise error
