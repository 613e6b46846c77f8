"""The contract of a model API.

A requester turns one `ModelRequest` into deltas. A stream that succeeds ends with exactly one
`FinishDelta`; a stream that fails raises `ModelError`. Closing the iterator early stops the generation.

Some attributes are optional: `secrets`, texts to mask when messages are shown; `context_tokens`, the size of
the model's context, and `find_context_tokens()`, which may ask its server for it; `price`, what its tokens
cost; `options`, which are sent with every request; `answer_ways`, ways to answer without a tool, for models
that choose badly between a tool and none; `check_call`, which corrects or refuses a call that they planned;
`chooses_tools`, False for models that are too small for tools.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Protocol, runtime_checkable

from dovetail.events.call import ModelRequest
from dovetail.events.delta import Delta


@runtime_checkable
class Requester(Protocol):
    """A model behind one API.

    >>> class Echo:
    ...     model, follows_schema, calls_tools = "my:echo", False, False
    ...     async def stream(self, request):
    ...         yield TextDelta(request.messages[-1]["content"])
    ...         yield FinishDelta()
    ...     async def close(self): ...
    >>> isinstance(Echo(), Requester), Agent(model=Echo()).input("Hello.").start()
    (True, 'Hello.')
    """

    @property
    def model(self) -> str:
        """The model's name, `provider:name`."""
        ...

    @property
    def follows_schema(self) -> bool:
        """Whether the model can be made to follow `ModelRequest.schema`."""
        ...

    @property
    def calls_tools(self) -> bool:
        """Whether `ModelRequest.tools` leads to `ToolCallDelta`s."""
        ...

    def stream(self, request: ModelRequest) -> AsyncGenerator[Delta, None]:
        """Yield the answer's deltas as they arrive."""
        ...

    async def close(self) -> None:
        """Release connections, threads and memory."""
        ...


async def find_window(requester: Requester) -> int | None:
    """Return the size of the model's context in tokens; its server may be asked for it."""
    known: int | None = getattr(requester, "context_tokens", None)
    find: Callable[[], Awaitable[int | None]] | None = getattr(requester, "find_context_tokens", None)
    return known if known is not None or find is None else await find()
