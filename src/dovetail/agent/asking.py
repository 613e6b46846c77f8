"""What an agent and a typed request have in common: a prompt to fill, and every view of the answer to it."""

from abc import abstractmethod
from collections.abc import AsyncGenerator, Callable, Collection, Coroutine, Iterator
from typing import Any, TypeVar, Unpack

from dovetail.agent.pending import Claim, PendingRequests
from dovetail.agent.sending import wrap_sending
from dovetail.agent.shorthands import PromptShorthands
from dovetail.concurrency import iterate_sync, run_sync
from dovetail.response.answer import Answer, Demands, GeneratorType
from dovetail.response.response import Response
from dovetail.response.result import Result

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
