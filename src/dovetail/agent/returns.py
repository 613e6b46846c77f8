"""`agent.returns(Invoice)`: an answer that is an instance of a type, which pyright knows."""

from collections.abc import AsyncGenerator, Collection
from typing import Any, Protocol, TypeVar, Unpack

from dovetail.agent.expectation import TypedOutput
from dovetail.agent.shorthands import PromptShorthands
from dovetail.prompt.prompt import Prompt
from dovetail.response.answer import Answer, Demands, GeneratorType
from dovetail.response.response import Response
from dovetail.response.result import Result

T = TypeVar("T")
V = TypeVar("V")


class _Asker(Protocol):
    """The agent, as far as a typed request needs it."""

    def get_prompt(self, always: bool) -> Prompt: ...

    def ask_for(self, typed: TypedOutput[V], *, timeout: float | None = None) -> Response[V]: ...


class TypedRequest(PromptShorthands, Answer[T]):
    """The agent's next request, whose answer is a `T`; it can be filled further like the agent itself."""

    def __init__(self, agent: _Asker, kind: Any) -> None:
        self._agent = agent
        self._typed: TypedOutput[T] = TypedOutput(kind)

    def get_response(self, *, timeout: float | None = None) -> Response[T]:
        """The response to what was written; it is sent when it is first read."""
        return self._agent.ask_for(self._typed, timeout=timeout)

    async def async_get_result(self, *, check: bool = False, **demands: Unpack[Demands]) -> Result[T]:
        """The whole answer; with `check` it must also make a valid object."""
        return await self.get_response().async_get_result(check=check, **demands)

    async def async_start(
        self,
        *,
        timeout: float | None = None,  # noqa: ASYNC109 (the request's own limit, as in `get_response`)
        **demands: Unpack[Demands],
    ) -> T:
        """Send the request and give the instance; an answer that does not fit is asked for again."""
        return await self.get_response(timeout=timeout).async_get_data_object(**demands)

    def start(self, *, timeout: float | None = None, **demands: Unpack[Demands]) -> T:
        """Send the request and give the instance; an answer that does not fit is asked for again."""
        return self.get_response(timeout=timeout).get_data_object(**demands)

    def get_prompt(self, always: bool) -> Prompt:
        """The prompt to write into."""
        return self._agent.get_prompt(always)

    def stream(
        self, type: GeneratorType, specific: Collection[str] | str | None
    ) -> AsyncGenerator[Any, None]:
        """The answer while it arrives."""
        return self.get_response().stream_alone(type, specific)

    def _open(self) -> Response[T]:
        return self.get_response()
