"""`agent.returns(Invoice)`: an answer that is an instance of a type, which pyright knows."""

from collections.abc import Coroutine
from typing import Any, Protocol, Self, TypeVar, Unpack

from dovetail.agent.expectation import TypedOutput
from dovetail.agent.fluent import Asking, Mappings, open_later
from dovetail.agent.pending import Claim, PendingRequests
from dovetail.concurrency import run_sync
from dovetail.prompt.prompt import Prompt
from dovetail.response.answer import Demands
from dovetail.response.response import Response

T = TypeVar("T")
V = TypeVar("V")


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

    @property
    def pending(self) -> PendingRequests:
        """The requests of the agent that are being written."""
        return self._agent.pending

    def claim_request(self) -> Claim | None:
        """A claim on the request that this one stands for."""
        if self._claim is None or self._claim.request.is_taken:
            self._claim = self.pending.claim()
        return None if self._claim is None else Claim(self._claim.request)

    def get_response(self, *, timeout: float | None = None) -> Response[T]:
        """The response to what was written; it is sent when it is first read."""
        return self._agent.ask_for(self._typed, timeout=timeout)

    def async_start(
        self, *, timeout: float | None = None, **demands: Unpack[Demands]
    ) -> Coroutine[Any, Any, T]:
        """Send the request and give the instance; an answer that does not fit is asked for again."""
        return open_later(
            lambda: self.get_response(timeout=timeout), lambda answer: answer.async_get_data_object(**demands)
        )

    def start(self, *, timeout: float | None = None, **demands: Unpack[Demands]) -> T:
        """Send the request and give the instance; an answer that does not fit is asked for again."""
        return run_sync(self.async_start(timeout=timeout, **demands))

    def get_prompt(self, always: bool) -> Prompt:
        """The prompt to write into."""
        with self.pending.carry(self._claim):
            return self._agent.get_prompt(always)

    def _write(self, key: str, value: Any, mappings: Mappings, *, always: bool) -> Self:
        super()._write(key, value, mappings, always=always)
        self.claim_request()
        return self
