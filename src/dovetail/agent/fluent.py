"""What an agent and a typed request have in common: a prompt to fill, and every view of the answer to it."""

import inspect
import threading
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Callable, Collection, Coroutine, Iterator, Mapping
from contextvars import copy_context
from types import MethodType
from typing import Any, Protocol, Self, TypeVar, Unpack

from dovetail.agent.pending import Claim, PendingRequests
from dovetail.concurrency import iterate_sync, run_sync
from dovetail.data.shapes import is_mapping
from dovetail.prompt.prompt import Prompt
from dovetail.response.answer import Answer, Demands, GeneratorType
from dovetail.response.response import Response
from dovetail.response.result import Result

SENDING = (
    *("start", "async_start", "get_response", "ask_for", "stream", "run", "async_run"),
    *("get_result", "get_data", "get_data_object", "get_text", "get_meta", "get_generator"),
    *("async_get_result", "async_get_data", "async_get_data_object", "async_get_text", "async_get_meta"),
    *("async_get_generator", "get_key_result", "async_get_key_result", "wait_keys", "async_wait_keys"),
    *("start_waiter", "async_start_waiter"),
)
"""The methods that send, also those of agent extensions."""


class _Sender(Protocol):
    """An object with methods that send: an agent, or a typed request."""

    @property
    def pending(self) -> PendingRequests: ...

    def claim_request(self) -> Claim | None: ...


class Sending:
    """A method that sends; put in the place of the plain function of a class."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.__doc__ = function.__doc__
        self._function = function
        self._runs_later = inspect.iscoroutinefunction(function)

    def __get__(self, sender: _Sender | None, kind: type | None = None) -> Any:
        if sender is None:
            return self._function
        return _Bound(MethodType(self._function, sender), sender, runs_later=self._runs_later)


class _Bound:
    """The method of one object, with the request that was being written when it was looked up.

    Called again, it sends what has been written in the meantime, and the same request again if nothing has:
    retries and schedules call it so.
    """

    def __init__(self, method: MethodType, sender: _Sender, *, runs_later: bool) -> None:
        self.__wrapped__ = method
        self._runs_later = runs_later
        self.__doc__ = method.__doc__
        self._pending = sender.pending
        self._claim = sender.claim_request()
        self._prompt: Prompt | None = None
        self._context = None if self._claim is None else copy_context()
        self._thread = threading.get_ident()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        claim = self._take_claim()
        if claim is None or self._context is None or threading.get_ident() == self._thread:
            return self._call(claim, *args, **kwargs)
        context = self._context.copy()  # the handlers and the session of its writer
        return context.run(self._call, claim, *args, **kwargs)

    def _call(self, claim: Claim | None, *args: Any, **kwargs: Any) -> Any:
        if claim is not None and self._runs_later:
            return self._send_later(claim, args, kwargs)
        try:
            with self._pending.carry(claim):
                outcome = self.__wrapped__(*args, **kwargs)
        finally:
            if claim is not None:
                claim.release()  # a call that is refused leaves its request to be corrected
        if inspect.iscoroutine(outcome):
            outcome.__qualname__ = self.__wrapped__.__qualname__  # for the warning if it is never awaited
        return outcome

    def _take_claim(self) -> Claim | None:
        claim, self._claim = self._claim, None
        if claim is not None:
            self._prompt = claim.request.prompt
        elif self._prompt is not None and self._pending.claim() is None:
            return self._pending.renew(self._prompt)
        return claim

    async def _send_later(self, claim: Claim, args: Any, kwargs: Any) -> Any:
        """Run a coroutine function of a subclass, which takes its request only when it runs."""
        with self._pending.carry(claim):
            return await self.__wrapped__(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        if name == "__wrapped__":
            raise AttributeError(name)
        return getattr(self.__wrapped__, name)

    def __repr__(self) -> str:
        return repr(self.__wrapped__)


def wrap_sending(kind: type) -> None:
    """Make the methods of a class that send carry their requests, those that it inherits included."""
    for name in SENDING:
        function = inspect.getattr_static(kind, name, None)
        if inspect.isfunction(function) and not getattr(function, "__isabstractmethod__", False):
            setattr(kind, name, Sending(function))


Mappings = Mapping[str, Any] | None

_NOTICES = {
    "role": "{system.role} says who you are: think and answer as that.",
    "rule": "{system.rule} holds rules that you must always follow.",
    "user_info": "{system.user_info} is what you know about the user: keep it in mind.",
}


class PromptShorthands(ABC):
    """Writes slots; with `always` into the agent's own prompt, else into the next request alone."""

    @abstractmethod
    def get_prompt(self, always: bool) -> Prompt:
        """The prompt to write into."""

    def set_agent_prompt(self, key: str, value: Any, mappings: Mappings = None) -> Self:
        """Set any slot for every request."""
        return self._write(key, value, mappings, always=True)

    def set_request_prompt(self, key: str, value: Any, mappings: Mappings = None) -> Self:
        """Set any slot for the next request."""
        return self._write(key, value, mappings, always=False)

    def input(self, prompt: Any, mappings: Mappings = None, *, always: bool = False) -> Self:
        """What the model should work on."""
        return self._write("input", prompt, mappings, always=always)

    def info(self, prompt: Any, mappings: Mappings = None, *, always: bool = False) -> Self:
        """What the model should know."""
        return self._write("info", prompt, mappings, always=always)

    def instruct(self, prompt: Any, mappings: Mappings = None, *, always: bool = False) -> Self:
        """What the model should do."""
        return self._write("instruct", prompt, mappings, always=always)

    def examples(self, prompt: Any, mappings: Mappings = None, *, always: bool = False) -> Self:
        """How good answers look."""
        return self._write("examples", prompt, mappings, always=always)

    def output(self, prompt: Any, mappings: Mappings = None, *, always: bool = False) -> Self:
        """What the answer should hold: fields as `{"name": (type, "description")}`."""
        return self._write("output", prompt, mappings, always=always)

    def attachment(self, prompt: Any, mappings: Mappings = None, *, always: bool = False) -> Self:
        """Images, files and other parts that go along."""
        return self._write("attachment", prompt, mappings, always=always)

    def options(self, options: Mapping[str, Any], *, always: bool = False) -> Self:
        """Options for the provider, such as `temperature`."""
        return self._write("options", options, None, always=always)

    def system(self, prompt: Any, mappings: Mappings = None, *, always: bool = False) -> Self:
        """Who the model is and what holds for the whole conversation; a role, rules and the like stay."""
        known = self.get_prompt(always).get("system")
        has_company = is_mapping(known) and "notice" in known and not is_mapping(prompt)
        return self._write("system.general" if has_company else "system", prompt, mappings, always=always)

    def role(self, prompt: Any, mappings: Mappings = None, *, always: bool = False) -> Self:
        """Who the model is, beside what else the system slot says."""
        return self._write_system("role", prompt, mappings, always=always)

    def rule(self, prompt: Any, mappings: Mappings = None, *, always: bool = False) -> Self:
        """Rules to follow, beside what else the system slot says."""
        return self._write_system("rule", prompt, mappings, always=always)

    def user_info(self, prompt: Any, mappings: Mappings = None, *, always: bool = False) -> Self:
        """What is known about the user, beside what else the system slot says."""
        return self._write_system("user_info", prompt, mappings, always=always)

    def _write(self, key: str, value: Any, mappings: Mappings, *, always: bool) -> Self:
        self.get_prompt(always).set(key, value, mappings)
        return self

    def _write_system(self, name: str, value: Any, mappings: Mappings, *, always: bool) -> Self:
        prompt = self.get_prompt(always)
        known = prompt.get("system")
        if not is_mapping(known):
            # A plain text has no room for a second thing.
            prompt.replace("system", {"general": known} if known else {})
        prompt.set(f"system.{name}", value, mappings)
        prompt.set("system.notice", [_NOTICES[name]])
        return self


T = TypeVar("T")
V = TypeVar("V")


class Asking(PromptShorthands, Answer[T]):
    """Fills a request and takes it at the call of the view that is asked for.

    Such a view is the only reader of its response, so leaving it early stops the request.
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Let the methods that send carry their request wherever they are called."""
        super().__init_subclass__(**kwargs)
        wrap_sending(cls)

    @property
    @abstractmethod
    def pending(self) -> PendingRequests:
        """The requests that are being written."""

    def claim_request(self) -> Claim | None:
        """A claim on the request that is being written here; None if nothing has been written."""
        return self.pending.claim()

    @abstractmethod
    def get_response(self, *, timeout: float | None = None) -> Response[T]:
        """The response to what was written; the next request begins empty."""

    def async_get_result(
        self, *, check: bool = False, **demands: Unpack[Demands]
    ) -> Coroutine[Any, Any, Result[T]]:
        """The whole answer; with `check` it must also make a valid object."""
        return self._later(lambda answer: answer.async_get_result(check=check, **demands))

    def stream(
        self, type: GeneratorType, specific: Collection[str] | str | None
    ) -> AsyncGenerator[Any, None]:
        """The answer while it arrives."""
        return self.get_response().stream_alone(type, specific)

    def _wait(self, view: Callable[[Answer[T]], Coroutine[Any, Any, V]]) -> V:
        return run_sync(read_alone(self.get_response(), view))

    def _later(self, view: Callable[[Answer[T]], Coroutine[Any, Any, V]]) -> Coroutine[Any, Any, V]:
        return open_later(self.get_response, view)

    def _iterate(self, type: GeneratorType, specific: Collection[str] | str | None) -> Iterator[Any]:
        return iterate_sync(self.stream(type, specific))


def open_later(
    open: Callable[[], Response[T]], view: Callable[[Answer[T]], Coroutine[Any, Any, V]]
) -> Coroutine[Any, Any, V]:
    """Open a response now and read it in the coroutine, which raises whatever goes wrong."""
    return begin_later(lambda: read_alone(open(), view))


def begin_later(begin: Callable[[], Coroutine[Any, Any, V]]) -> Coroutine[Any, Any, V]:
    """Take a request now; an error in that is raised where the coroutine is awaited."""
    try:
        return begin()
    except Exception as error:
        return _fail(error)


async def read_alone(response: Response[T], view: Callable[[Answer[T]], Coroutine[Any, Any, V]]) -> V:
    """Read a response that has no other reader: a cancel stops it."""
    try:
        return await view(response)
    except BaseException:
        response.cancel()
        raise


async def _fail(error: Exception) -> Any:
    raise error
