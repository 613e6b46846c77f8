"""Requests in progress, kept separate: one for each task, or for each thread without a task.

A request continues where it was started, and in the first task that its thread runs afterwards. A task or
thread that sends without having written anything sends the request of the place where it was started. A
claimed request belongs to the holder of the claim: the next write starts another one. A method that
sends (`Sending`) claims its request when it is looked up, so it can be handed to another thread or task.
"""

import asyncio
import inspect
import itertools
import threading
from collections.abc import Callable
from contextvars import ContextVar, copy_context
from dataclasses import dataclass, field
from types import MethodType
from typing import Any, Generic, Protocol, TypeAlias, TypeVar, cast
from weakref import ReferenceType, WeakKeyDictionary, ref

from dovetail.agent.arguments import explain_call
from dovetail.concurrency import is_interactive
from dovetail.prompt.prompt import Prompt

T = TypeVar("T")

_Values = WeakKeyDictionary["ContextValue[Any]", Any]
_values: ContextVar[_Values | None] = ContextVar("dovetail_agent_values", default=None)


class ContextValue(Generic[T]):
    """A value that is visible where it was set, and in tasks that are started from there afterwards.

    An interactive session has one user, and a task for each line or cell: there it is visible everywhere.
    """

    def __init__(self) -> None:
        self._latest: T | None = None

    def get(self) -> T | None:
        """Return the value that was set here, if any."""
        if is_interactive():
            return self._latest
        values = _values.get()
        return None if values is None else cast("T | None", values.get(self))

    def set(self, value: T) -> None:
        """Set the value here; other tasks and threads keep theirs."""
        if is_interactive():
            self._latest = value
            return
        values: _Values = WeakKeyDictionary(_values.get() or {})  # a copy: the old one may be another task's
        values[self] = value
        _values.set(values)


Owner: TypeAlias = "asyncio.Task[Any] | threading.Thread"

_serials = itertools.count(1)


@dataclass(slots=True, eq=False)
class PendingRequest:
    """A request that is being written."""

    prompt: Prompt
    serial: int = field(default_factory=_serials.__next__)
    owner: "ReferenceType[Owner] | None" = None
    claims: "list[ReferenceType[Claim]]" = field(default_factory=list["ReferenceType[Claim]"])
    is_taken: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether nothing has been written yet."""
        return not self.prompt.get(inherit=False)

    @property
    def is_claimed(self) -> bool:
        """Whether a claim on the request is held."""
        return any((claim := known()) is not None and claim.is_held for known in tuple(self.claims))


class Claim:
    """Reserve a request for the holder of the claim, in any thread or task, until `release`."""

    __slots__ = ("__weakref__", "is_held", "request")

    def __init__(self, request: PendingRequest) -> None:
        self.request = request
        self.is_held = True
        request.claims.append(ref(self, request.claims.remove))

    def release(self) -> None:
        """Return the request, if it was not sent, to where it was written."""
        self.is_held = False


@dataclass(frozen=True, slots=True)
class _Begun:
    """What a context knows: who started requests in it, up to which one; `before` is where it came from."""

    owner: "ReferenceType[Owner]"
    serial: int
    before: "_Begun | None"


_begun: ContextVar[_Begun | None] = ContextVar("dovetail_begun", default=None)
_carried: "ContextVar[tuple[PendingRequests, PendingRequest] | None]" = ContextVar(
    "dovetail_carried", default=None
)


class PendingRequests:
    """The unsent requests of one agent, each visible only where it is written."""

    def __init__(self, parent: Prompt) -> None:
        self._parent = parent
        self._requests: WeakKeyDictionary[Owner, PendingRequest] = WeakKeyDictionary()
        self._latest: PendingRequest | None = None
        self._lock = threading.RLock()

    def get(self) -> PendingRequest:
        """Return the request that is being written here, to write into it."""
        owner = _find_owner()
        with self._lock:
            carried = self._get_carried()
            if carried is not None:
                return carried
            request = self._find(owner, to_send=False)
            if request is None or request.is_claimed:
                request = PendingRequest(Prompt(parent=self._parent))
            self._give(request, owner)
            return request

    def take(self) -> PendingRequest:
        """Return the request that was written here; the next one begins empty."""
        with self._lock:
            request = self._get_carried() or self._find(_find_owner(), to_send=True)
            if request is None:
                request = PendingRequest(Prompt(parent=self._parent))
            request.is_taken = True
            self._withdraw(request)
            return request

    def claim(self, *, alone: bool = False) -> Claim | None:
        """Return a claim on the request that is being written here; None if nothing has been written.

        With `alone`, also None if there is a claim on it already.
        """
        with self._lock:
            request = self._get_carried() or self._find(_find_owner(), to_send=True)
            if request is None or request.is_empty or (alone and request.is_claimed):
                return None
            return Claim(request)

    def carry(self, claim: Claim | None) -> "Carrying":
        """Write into the claimed request or send it, wherever this is called."""
        return Carrying(None if claim is None else (self, claim.request))

    def apart(self) -> "Carrying":
        """Write and send a separate request, regardless of what is being written here."""
        return self.carry(self.renew(Prompt(parent=self._parent)))

    def renew(self, prompt: Prompt) -> Claim:
        """Return a claim on a new request with this prompt."""
        return Claim(PendingRequest(prompt))

    def _get_carried(self) -> PendingRequest | None:
        pending, request = _carried.get() or (None, None)
        return request if pending is self and request is not None and not request.is_taken else None

    def _find(self, owner: Owner, *, to_send: bool) -> PendingRequest | None:
        """Return the nearest request that this context knows of and that may be continued here."""
        here = threading.current_thread()
        is_session = is_interactive()
        begun = _begun.get()
        while begun is not None:
            who = begun.owner()
            request = None if who is None else self._requests.get(who)
            may_continue = to_send or is_session or who is owner or who is here
            if request is not None and may_continue and request.serial <= begun.serial:
                return request
            begun = begun.before
        # All contexts of the main thread belong to one program; other threads may serve many users.
        if here is threading.main_thread() and here in self._requests:
            return self._requests[here]
        return self._find_latest(here) if is_session else None

    def _find_latest(self, here: threading.Thread) -> PendingRequest | None:
        """Return the unsent request of an earlier line or cell; each may have its own context."""
        request = self._latest
        if request is None or request.is_taken or request.owner is None:
            return None
        who = request.owner()
        is_over = who is None or (isinstance(who, asyncio.Task) and who.done())
        return request if is_over or who is here else None

    def _give(self, request: PendingRequest, owner: Owner) -> None:
        if self._requests.get(owner) is request:
            return
        self._withdraw(request)
        request.owner = ref(owner)
        self._requests[owner] = request
        self._latest = request if is_interactive() else None
        _remember(request.owner, request.serial)

    def _withdraw(self, request: PendingRequest) -> None:
        who = None if request.owner is None else request.owner()
        if who is not None and self._requests.get(who) is request:
            del self._requests[who]


class Carrying:
    """A `with` block whose code, and what it starts, is about one request; None changes nothing."""

    __slots__ = ("_carried", "_token")

    def __init__(self, carried: "tuple[PendingRequests, PendingRequest] | None") -> None:
        self._carried = carried

    def __enter__(self) -> None:
        if self._carried is not None:
            self._token = _carried.set(self._carried)

    def __exit__(self, *error: object) -> None:
        if self._carried is not None:
            _carried.reset(self._token)


def _remember(owner: "ReferenceType[Owner]", serial: int) -> None:
    """Note in this context, and so in its later copies, that a request was started or taken over."""
    before = _begun.get()
    if before is not None and before.owner == owner:
        serial, before = max(serial, before.serial), before.before
    while before is not None and before.owner() is None:
        before = before.before
    _begun.set(_Begun(owner, serial, before))


def _find_owner() -> Owner:
    try:
        return asyncio.current_task() or threading.current_thread()
    except RuntimeError:
        return threading.current_thread()


SENDING = (
    *("start", "async_start", "get_response", "ask_for", "_stream", "run", "async_run", "run_stream"),
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
    """A method that sends; replaces the plain function of a class."""

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

    Called again, it sends the newer request, or the same request again if there is none: retries and
    schedules call it this way.
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
        except TypeError:
            if explained := explain_call(self.__wrapped__, args, kwargs):
                raise explained from None
            raise
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
