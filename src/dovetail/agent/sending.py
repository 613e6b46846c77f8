"""Methods that send a request: what they send is settled when they are called, or taken without a call.

`pool.submit(agent.input(q).start)` takes the method in one thread and calls it in another. So such a method,
looked up on its object, carries along the request that is being written there.
"""

import inspect
import threading
from collections.abc import Callable
from contextvars import copy_context
from types import MethodType
from typing import Any, Protocol

from dovetail.agent.pending import Claim, PendingRequests
from dovetail.prompt.prompt import Prompt

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
