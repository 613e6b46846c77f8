"""A requester that plays a script, for tests."""

import asyncio
from collections.abc import AsyncGenerator, Iterable

from dovetail.errors import ConfigError, ModelError
from dovetail.events.call import ModelRequest
from dovetail.events.delta import Delta, TextDelta
from dovetail.testing.replies import Break, Gate, Reply, Step
from dovetail.testing.script import Script, Scripted


class ScriptedRequester:
    """Play replies in order and record the requests; one request too many is a clear error.

    >>> model = ScriptedRequester(["Oak.", {"tool_calls": [{"name": "count", "arguments": {}}]}])
    >>> Agent(model=model).input("A wood?").start()
    'Oak.'
    >>> model.requests[0].messages
    [{'role': 'user', 'content': 'A wood?'}]
    """

    def __init__(
        self,
        replies: Iterable[Scripted],
        *,
        model: str = "scripted:model",
        follows_schema: bool = True,
        calls_tools: bool = True,
    ) -> None:
        self.script = Script(replies)
        self.requests: list[ModelRequest] = []
        self.model = model
        self.follows_schema = follows_schema
        self.calls_tools = calls_tools
        self.closed = False

    def __repr__(self) -> str:
        left = len(self.script.unused)
        return f"ScriptedRequester({self.model!r}, requests={len(self.requests)}, unused_replies={left})"

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Delta, None]:
        """Yield the deltas of the next reply."""
        self.requests.append(request)
        reply = self.script.take(request)
        async for delta in play_reply(reply, request_id=f"scripted-{len(self.requests)}"):
            yield delta

    async def close(self) -> None:
        """Record in `closed` that it was called."""
        self.closed = True


async def play_reply(reply: Reply, request_id: str) -> AsyncGenerator[Delta, None]:
    """Yield the deltas of a reply.

    Raises:
        ModelError: the reply is an error.
    """
    _raise_status(reply)
    for step in reply.plan():
        await asyncio.sleep(reply.delay)
        if (delta := await _perform(step)) is not None:
            yield delta
    yield reply.finish(request_id)


async def _perform(step: Step) -> Delta | None:
    if isinstance(step, str):
        return TextDelta(step)
    if isinstance(step, Gate):
        return await step.pass_through()
    if isinstance(step, Exception):
        raise step
    if isinstance(step, bytes | Break):
        raise ConfigError(f"The step {step!r} needs a connection; play it with a ScriptedServer.")
    return step


def _raise_status(reply: Reply) -> None:
    if reply.is_plain:
        text = reply.payload.decode("utf-8", "replace")
        raise ModelError(
            f"The script replied with status {reply.status}: {text}", provider="scripted", status=reply.status
        )
