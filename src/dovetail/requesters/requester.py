"""The contract of a model API.

A requester turns one `ModelRequest` into deltas. A stream that succeeds ends with exactly one
`FinishDelta`; a stream that fails raises `ModelError`. Closing the iterator early stops the generation.

Three attributes are looked at where a requester has them: `secrets`, texts that must not be shown with what
was asked; `context_tokens`, how much the model can read; `answer_ways`, ways to answer without a tool for
models that choose badly between a tool and none.
"""

from collections.abc import AsyncGenerator
from typing import Protocol, runtime_checkable

from dovetail.events.call import ModelRequest
from dovetail.events.delta import Delta


@runtime_checkable
class Requester(Protocol):
    """Sends requests to one model API."""

    @property
    def model(self) -> str:
        """The model's name, `provider:name`."""
        ...

    @property
    def follows_schema(self) -> bool:
        """Whether the model can be held to `ModelRequest.schema`."""
        ...

    @property
    def calls_tools(self) -> bool:
        """Whether `ModelRequest.tools` leads to `ToolCallDelta`s."""
        ...

    def stream(self, request: ModelRequest) -> AsyncGenerator[Delta, None]:
        """The answer's deltas, as they arrive."""
        ...

    async def close(self) -> None:
        """Give back connections, threads and memory."""
        ...
