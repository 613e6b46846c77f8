"""One reply of a scripted model, made of steps, and the gate at which a reply can be held."""

import asyncio
import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, get_args

from dovetail.data.text import explain_choices
from dovetail.errors import ConfigError
from dovetail.events.call import ToolCall
from dovetail.events.delta import (
    FinishDelta,
    ProgressDelta,
    ProviderPartDelta,
    ReasoningDelta,
    TextDelta,
    ToolCallDelta,
    Usage,
)

BreakKind: TypeAlias = Literal["reset", "close", "end"]


class Signal:
    """A flag that can be set from any thread and awaited on any event loop."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._event = threading.Event()
        self._waiting: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    def set(self) -> None:
        """Wake all waiters, now and later."""
        with self._lock:
            self._event.set()
            waiting, self._waiting = self._waiting, []
        for loop, event in waiting:
            if not loop.is_closed():
                loop.call_soon_threadsafe(event.set)

    def is_set(self) -> bool:
        """Return whether it is set."""
        return self._event.is_set()

    def wait(self, timeout: float = 5.0) -> bool:
        """Wait in a thread; return False on timeout."""
        return self._event.wait(timeout)

    async def async_wait(self) -> None:
        """Wait on the running event loop, without a time limit of its own."""
        event = asyncio.Event()
        with self._lock:
            if self._event.is_set():
                return
            self._waiting.append((asyncio.get_running_loop(), event))
        await event.wait()


class Gate:
    """A step of a reply: the reply sets `reached` and continues once the gate is `opened`.

    >>> gate = Gate()
    >>> response = Agent(model=ScriptedRequester([["One ", gate, "two"]])).input("Count.").get_response()
    >>> pieces = response.get_generator("delta")
    >>> next(pieces)
    'One '
    >>> gate.open()
    >>> next(pieces)
    'two'
    """

    def __init__(self, name: str = "") -> None:
        self.name = name
        self.reached = Signal()
        self.opened = Signal()

    def open(self) -> None:
        """Let the reply continue."""
        self.opened.set()

    async def pass_through(self) -> None:
        """Set `reached`, then wait until the gate is open."""
        self.reached.set()
        await self.opened.async_wait()

    def __repr__(self) -> str:
        return f"Gate({self.name!r})"


@dataclass(frozen=True, slots=True)
class Break:
    """A step, for servers only: the answer stops here, without its end.

    The connection is reset or closed, or (`end`) the response ends as if it were complete.

    >>> with ScriptedServer([["Half an ans", Break()]]) as server:
    ...     settings = {"model": {"base_url": server.url, "api_key": "none", "retries": {"attempts": 0}}}
    ...     Agent(model="openai:m", settings=settings).input("Hi.").start()
    Traceback (most recent call last):
    dovetail.errors.TransientModelError: ...
    """

    how: BreakKind = "reset"

    def __post_init__(self) -> None:
        """Reject unknown values: a script file may contain any."""
        if self.how not in get_args(BreakKind):
            raise ConfigError(
                explain_choices("break", self.how, get_args(BreakKind)),
                hint="To stall an answer, use a `Gate` (in a script file: {hold: name}).",
            )


Step: TypeAlias = (
    str
    | bytes
    | TextDelta
    | ReasoningDelta
    | ToolCallDelta
    | ProviderPartDelta
    | ProgressDelta
    | FinishDelta
    | Gate
    | Break
    | Exception
)
"""One step of a reply: text, a delta, raw bytes (servers only), a gate, a break, an error.

A `FinishDelta`, which must be the last one, replaces the end that a reply has otherwise.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One answer of a scripted model; `steps`, if any, replace text, reasoning and tool calls.

    `cut` is the number of characters of each delta (0: one delta), `delay` the seconds before each.
    With `when`, the reply is only for requests whose last message contains that text; with `repeat`, it is
    never used up. A `status` other than 200 or a `body` makes it a plain HTTP response.

    >>> reply = Reply(text="Oak.", cut=2, usage=Usage(input_tokens=3))
    >>> list(Agent(model=ScriptedRequester([reply])).input("A wood?").get_generator("delta"))
    ['Oa', 'k.']
    """

    text: str = ""
    reasoning: str = ""
    tool_calls: Sequence[ToolCall] = ()
    steps: Sequence[Step] = ()
    cut: int = 0
    delay: float = 0.0
    finish_reason: str = ""
    usage: Usage = field(default_factory=Usage)
    model: str = "scripted"
    when: str | None = None
    repeat: bool = False
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    body: bytes | str | Mapping[str, Any] | None = None

    def plan(self) -> Iterator[Step]:
        """Yield the reply's steps in order."""
        if self.steps:
            yield from (step for step in self.steps if not isinstance(step, FinishDelta))
            return
        yield from (ReasoningDelta(piece) for piece in _cut(self.reasoning, self.cut))
        yield from (TextDelta(piece) for piece in _cut(self.text, self.cut))
        for index, call in enumerate(self.tool_calls):
            yield ToolCallDelta(index, call.call_id, call.name)
            arguments = call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments)
            yield from (ToolCallDelta(index, arguments=piece) for piece in _cut(arguments, self.cut))

    @property
    def is_plain(self) -> bool:
        """Whether this is a plain HTTP response, not an answer of a model."""
        return self.status != 200 or self.body is not None

    @property
    def payload(self) -> bytes:
        """The body of a plain HTTP response."""
        body = self.body or b""
        if isinstance(body, bytes):
            return body
        return body.encode() if isinstance(body, str) else json.dumps(body, ensure_ascii=False).encode()

    def finish(self, request_id: str | None = None) -> FinishDelta:
        """Return the delta that ends the reply."""
        if self.steps and isinstance(last := self.steps[-1], FinishDelta):
            return last
        calls = self.tool_calls or any(isinstance(step, ToolCallDelta) for step in self.steps)
        reason = self.finish_reason or ("tool-calls" if calls else "stop")
        return FinishDelta(reason, self.usage, self.model, request_id)


def _cut(text: str, size: int) -> Iterator[str]:
    step = size or len(text) or 1
    return (text[start : start + step] for start in range(0, len(text), step))
