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
from dovetail.events.delta import FinishDelta, ReasoningDelta, TextDelta, ToolCallDelta, Usage

BreakKind: TypeAlias = Literal["reset", "close", "end"]


class Signal:
    """A flag that can be set from any thread and awaited on any event loop."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._event = threading.Event()
        self._waiting: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    def set(self) -> None:
        """Wake everybody who waits, now and later."""
        with self._lock:
            self._event.set()
            waiting, self._waiting = self._waiting, []
        for loop, event in waiting:
            if not loop.is_closed():
                loop.call_soon_threadsafe(event.set)

    def is_set(self) -> bool:
        """Whether it was set."""
        return self._event.is_set()

    def wait(self, timeout: float = 5.0) -> bool:
        """Wait in a thread; False when the time is over."""
        return self._event.wait(timeout)

    async def async_wait(self) -> None:
        """Wait on the running event loop; the caller sets the time limit."""
        event = asyncio.Event()
        with self._lock:
            if self._event.is_set():
                return
            self._waiting.append((asyncio.get_running_loop(), event))
        await event.wait()


class Gate:
    """A step of a reply: the reply says that it is here (`reached`) and goes on when it is `opened`."""

    def __init__(self, name: str = "") -> None:
        self.name = name
        self.reached = Signal()
        self.opened = Signal()

    def open(self) -> None:
        """Let the reply go on."""
        self.opened.set()

    async def pass_through(self) -> None:
        """Say that the reply got here, then wait until the gate is open."""
        self.reached.set()
        await self.opened.async_wait()

    def __repr__(self) -> str:
        return f"Gate({self.name!r})"


@dataclass(frozen=True, slots=True)
class Break:
    """A step, for servers only: the answer stops here, without its end.

    The connection is reset or closed in the middle, or (`end`) the response ends as if that were all.
    """

    how: BreakKind = "reset"

    def __post_init__(self) -> None:
        """Refuse another word: a script file may hold any."""
        if self.how not in get_args(BreakKind):
            raise ConfigError(
                explain_choices("break", self.how, get_args(BreakKind)),
                hint="An answer that stalls holds at a `Gate` (in a script file: {hold: name}).",
            )


Step: TypeAlias = str | bytes | TextDelta | ReasoningDelta | ToolCallDelta | Gate | Break | Exception
"""One thing that happens in a reply: text, a delta, raw bytes (servers only), a stop, an end, an error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One answer of a scripted model; `steps`, when given, stand for text, reasoning and tool calls.

    `cut` is the number of characters of each delta (0: one delta), `delay` the seconds before each.
    With `when`, the reply is only for requests whose last message holds that text; with `repeat`, it is
    never used up. A `status` other than 200 or a `body` makes it a plain HTTP answer.
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
        """The reply's steps, in order."""
        if self.steps:
            yield from self.steps
            return
        yield from (ReasoningDelta(piece) for piece in _cut(self.reasoning, self.cut))
        yield from (TextDelta(piece) for piece in _cut(self.text, self.cut))
        for index, call in enumerate(self.tool_calls):
            yield ToolCallDelta(index, call.call_id, call.name)
            arguments = call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments)
            yield from (ToolCallDelta(index, arguments=piece) for piece in _cut(arguments, self.cut))

    @property
    def is_plain(self) -> bool:
        """Whether this is an HTTP answer that no model spoke."""
        return self.status != 200 or self.body is not None

    @property
    def payload(self) -> bytes:
        """The bytes of a plain HTTP answer."""
        body = self.body or b""
        if isinstance(body, bytes):
            return body
        return body.encode() if isinstance(body, str) else json.dumps(body, ensure_ascii=False).encode()

    def finish(self, request_id: str | None = None) -> FinishDelta:
        """The delta that ends the reply."""
        calls = self.tool_calls or any(isinstance(step, ToolCallDelta) for step in self.steps)
        reason = self.finish_reason or ("tool-calls" if calls else "stop")
        return FinishDelta(reason, self.usage, self.model, request_id)


def _cut(text: str, size: int) -> Iterator[str]:
    step = size or len(text) or 1
    return (text[start : start + step] for start in range(0, len(text), step))
