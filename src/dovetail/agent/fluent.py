"""The fluent interface of agents and typed requests: a prompt to fill, and every view of the answer.

`TypedRequest` is `agent.returns(Invoice)`: an answer that is an instance of a type, which pyright knows.
"""

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Callable, Collection, Coroutine, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar, Unpack

from dovetail.agent.arguments import explain_method
from dovetail.agent.expectation import TypedOutput
from dovetail.agent.pending import Claim, PendingRequests, wrap_sending
from dovetail.concurrency import iterate_sync, run_sync
from dovetail.data.shapes import is_mapping
from dovetail.prompt.prompt import Prompt
from dovetail.response.answer import Answer, Demands, GeneratorType
from dovetail.response.response import Response
from dovetail.response.result import Result

T = TypeVar("T")
V = TypeVar("V")
Mappings = Mapping[str, Any] | None

_NOTICES = {
    "role": "{system.role} says who you are: think and answer as that.",
    "rule": "{system.rule} holds rules that you must always follow.",
    "user_info": "{system.user_info} is what you know about the user: keep it in mind.",
}


class PromptShorthands(ABC):
    """Write slots; with `always` into the agent's own prompt, otherwise into the next request only."""

    @abstractmethod
    def get_prompt(self, always: bool) -> Prompt:
        """Return the prompt to write into."""

    def set_agent_prompt(self, key: str, value: Any, mappings: Mappings = None) -> Self:
        """Set any slot for every request.

        >>> agent = Agent().set_agent_prompt("house style", "Use metric units.")
        >>> agent.input("How thick is a door?").request_prompt
        Prompt({'house style': 'Use metric units.', 'input': 'How thick is a door?'})
        """
        return self._write(key, value, mappings, always=True)

    def set_request_prompt(self, key: str, value: Any, mappings: Mappings = None) -> Self:
        """Set any slot for the next request.

        >>> Agent().set_request_prompt("input.place", "outdoors").request_prompt
        Prompt({'input': {'place': 'outdoors'}})
        """
        return self._write(key, value, mappings, always=False)

    def input(self, prompt: Any, mappings: Mappings = None, *, always: bool = False) -> Self:
        """Set what the model should work on.

        >>> agent = Agent().input({"item": "door", "place": "${place}"}, {"place": "outdoors"})
        >>> agent.request_prompt["input"]
        {'item': 'door', 'place': 'outdoors'}
        """
        return self._write("input", prompt, mappings, always=always)

    def info(self, prompt: Any, mappings: Mappings = None, *, always: bool = False) -> Self:
        """Set what the model should know.

        >>> agent = Agent().info({"in stock": ["oak", "teak"]}, always=True)
        >>> agent.input("A wood for doors?").start()
        'Oak.'
        >>> agent.input("And for boats?").request_prompt["info"]
        {'in stock': ['oak', 'teak']}
        """
        return self._write("info", prompt, mappings, always=always)

    def instruct(self, prompt: Any, mappings: Mappings = None, *, always: bool = False) -> Self:
        """Set what the model should do.

        >>> agent = Agent().instruct(["Name one wood for the {input}.", "Use one word."], always=True)
        >>> agent.input("door").start()
        'Oak.'
        """
        return self._write("instruct", prompt, mappings, always=always)

    def examples(self, prompt: Any, mappings: Mappings = None, *, always: bool = False) -> Self:
        """Set examples of good answers.

        >>> agent = Agent().examples({"input": "A wood for boats?", "output": "Teak."}, always=True)
        >>> agent.input("A wood for doors?").start()
        'Oak.'
        """
        return self._write("examples", prompt, mappings, always=always)

    def output(self, prompt: Any, mappings: Mappings = None, *, always: bool = False) -> Self:
        """Set what the answer should contain: fields as `{"name": (type, "description")}`.

        The types describe the answer and are not enforced; `returns(Model)` validates and asks again.

        >>> agent = Agent().input("A wood for doors?")
        >>> agent.output({"wood": (str, "in English"), "uses": [(str, "an item")]}).start()
        {'wood': 'oak', 'uses': ['doors', 'barrels']}
        """
        return self._write("output", prompt, mappings, always=always)

    def attachment(self, prompt: Any, mappings: Mappings = None, *, always: bool = False) -> Self:
        """Attach images, files and other parts.

        >>> picture = {"type": "image_url", "image_url": {"url": "https://example.com/door.png"}}
        >>> Agent().input("Which wood is this?").attachment([picture]).start()
        'Oak.'
        """
        return self._write("attachment", prompt, mappings, always=always)

    def options(self, options: Mapping[str, Any], *, always: bool = False) -> Self:
        """Set options for the provider, such as `temperature`.

        >>> agent = Agent().options({"temperature": 0, "max_tokens": 5})
        >>> agent.input("A wood for doors?").start()
        'Oak.'
        """
        return self._write("options", options, None, always=always)

    def system(self, prompt: Any, mappings: Mappings = None, *, always: bool = False) -> Self:
        """Set what applies to the whole conversation; a role, rules and user information stay.

        >>> agent = Agent().role("You are a carpenter.").system("Be brief.")
        >>> list(agent.request_prompt["system"])
        ['role', 'notice', 'general']
        """
        known = self.get_prompt(always).get("system")
        has_company = is_mapping(known) and "notice" in known and not is_mapping(prompt)
        return self._write("system.general" if has_company else "system", prompt, mappings, always=always)

    def role(self, prompt: Any, mappings: Mappings = None, *, always: bool = False) -> Self:
        """Set who the model is, in addition to the rest of the system slot.

        >>> agent = Agent().role("You are a ${who}.", {"who": "carpenter"}, always=True)
        >>> agent.input("A wood for doors?").start()
        'Oak.'
        """
        return self._write_system("role", prompt, mappings, always=always)

    def rule(self, prompt: Any, mappings: Mappings = None, *, always: bool = False) -> Self:
        """Set rules to follow, in addition to the rest of the system slot.

        >>> agent = Agent().rule(["Name one wood."], always=True).rule(["Use one word."])
        >>> agent.request_prompt["system.rule"]  # lists add up
        ['Use one word.', 'Name one wood.']
        """
        return self._write_system("rule", prompt, mappings, always=always)

    def user_info(self, prompt: Any, mappings: Mappings = None, *, always: bool = False) -> Self:
        """Set what is known about the user, in addition to the rest of the system slot.

        >>> agent = Agent().user_info({"name": "Ann"}, always=True).user_info({"lives": "by the sea"})
        >>> agent.request_prompt["system.user_info"]
        {'name': 'Ann', 'lives': 'by the sea'}
        """
        return self._write_system("user_info", prompt, mappings, always=always)

    def _write(self, key: str, value: Any, mappings: Mappings, *, always: bool) -> Self:
        self.get_prompt(always).set(key, value, mappings)
        return self

    def _write_system(self, name: str, value: Any, mappings: Mappings, *, always: bool) -> Self:
        prompt = self.get_prompt(always)
        known = prompt.get("system")
        if not is_mapping(known):
            # A plain text cannot hold a second entry.
            prompt.replace("system", {"general": known} if known else {})
        prompt.set(f"system.{name}", value, mappings)
        prompt.set("system.notice", [_NOTICES[name]])
        return self


class Asking(PromptShorthands, Answer[T]):
    """Fill a request, and take it when a view of its answer is called.

    Such a view is the only reader of its response, so leaving it early stops the request.
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Make the methods that send carry their request to wherever they are called."""
        super().__init_subclass__(**kwargs)
        wrap_sending(cls)

    if not TYPE_CHECKING:  # type checkers know which attributes exist

        def __getattr__(self, name: str) -> Any:
            """Name the method that does what one of another library would do."""
            raise AttributeError(explain_method(type(self).__name__, name), name=name, obj=self)

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
    ) -> Coroutine[Any, Any, Result[T]]:
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

    def _wait(self, view: Callable[[Answer[T]], Coroutine[Any, Any, V]]) -> V:
        return run_sync(read_alone(self.get_response(), view))

    def _later(self, view: Callable[[Answer[T]], Coroutine[Any, Any, V]]) -> Coroutine[Any, Any, V]:
        return open_later(self.get_response, view)

    def _iterate(self, type: GeneratorType, specific: Collection[str] | str | None) -> Iterator[Any]:
        return iterate_sync(self._stream(type, specific))


class _Asker(Protocol):
    """The agent, as far as a typed request needs it."""

    @property
    def pending(self) -> PendingRequests: ...

    def get_prompt(self, always: bool) -> Prompt: ...

    def ask_for(self, typed: TypedOutput[V], *, timeout: float | None = None) -> Response[V]: ...


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

    def async_start(
        self, *, timeout: float | None = None, **demands: Unpack[Demands]
    ) -> Coroutine[Any, Any, T]:
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
        return run_sync(self.async_start(timeout=timeout, **demands))

    def get_prompt(self, always: bool) -> Prompt:
        """Return the prompt to write into."""
        with self.pending.carry(self._claim):
            return self._agent.get_prompt(always)

    def _write(self, key: str, value: Any, mappings: Mappings, *, always: bool) -> Self:
        super()._write(key, value, mappings, always=always)
        self.claim_request()
        return self


def open_later(
    open: Callable[[], Response[T]], view: Callable[[Answer[T]], Coroutine[Any, Any, V]]
) -> Coroutine[Any, Any, V]:
    """Open a response now and read it in the coroutine, which raises all errors."""
    return begin_later(lambda: read_alone(open(), view))


def begin_later(begin: Callable[[], Coroutine[Any, Any, V]]) -> Coroutine[Any, Any, V]:
    """Take a request now; an error is raised where the coroutine is awaited."""
    try:
        return begin()
    except Exception as error:
        return _fail(error)


async def read_alone(response: Response[T], view: Callable[[Answer[T]], Coroutine[Any, Any, V]]) -> V:
    """Read a response that has no other reader; a cancel stops the request."""
    try:
        return await view(response)
    except BaseException:
        response.cancel()
        raise


async def _fail(error: Exception) -> Any:
    raise error
