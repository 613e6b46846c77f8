"""Events of a model's part in a run: its requests, and its text and calls, piece by piece."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from dovetail.data.text import brief_repr
from dovetail.events.delta import ProgressPhase, Usage


@dataclass(frozen=True, slots=True)
class ModelRequestEvent:
    """A request goes to a model: the first `kept` messages of this run's last request, and then these.

    In a chat's journal `{"stored": id}` stands for its messages up to the one with this id.
    A `summary` is requested to shorten old messages; no later request builds on it.

    >>> for event in Agent().run_stream("A wood for doors?"):
    ...     if isinstance(event, ModelRequestEvent):
    ...         print(event.turn, event.model, event.messages[-1]["content"])
    1 openai:scripted A wood for doors?
    """

    type: ClassVar[Literal["model-request"]] = "model-request"
    turn: int
    model: str
    messages: tuple[Mapping[str, Any], ...]
    kept: int = 0
    tools: tuple[str, ...] = ()
    tool_choice: str = "auto"
    purpose: Literal["answer", "summary"] = "answer"

    __repr__ = brief_repr


@dataclass(frozen=True, slots=True)
class ModelProgress:
    """How far the model is before its first token: bytes of its `download`, or tokens that it has `read`.

    It is never stored, and comes at most a few times per second.

    >>> model = ScriptedRequester([[ProgressDelta("read", 40, 100), "Oak."]])
    >>> for event in Agent(model=model).run_stream("A wood for doors?"):
    ...     if isinstance(event, ModelProgress):
    ...         print(f"Reading the question: {event.done / event.total:.0%}")
    Reading the question: 40%
    """

    type: ClassVar[Literal["model-progress"]] = "model-progress"
    phase: ProgressPhase
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class ModelResponseEvent:
    """A model's answer is complete, and its turn is not over yet: the calls in it come next.

    Its usage is counted at the end of the turn; it is here as well because a crash may come between.

    >>> def count(item: str) -> int:
    ...     '''Count the pieces of an item.'''
    ...     return 3
    >>> events = Agent(tools=[count]).run_stream("How many saws?")
    >>> [event.turn for event in events if isinstance(event, ModelResponseEvent)]
    [1]
    """

    type: ClassVar[Literal["model-answer"]] = "model-answer"
    turn: int
    usage: Usage
    purpose: Literal["answer", "summary"] = "answer"

    __repr__ = brief_repr


@dataclass(frozen=True, slots=True)
class TextStart:
    """A piece of answer text begins.

    >>> events = Agent().run_stream("A wood for doors?")
    >>> [event.type for event in events if isinstance(event, TextStart | TextDeltaEvent | TextEnd)]
    ['text-start', 'text-delta', 'text-end']
    """

    type: ClassVar[Literal["text-start"]] = "text-start"
    id: str


@dataclass(frozen=True, slots=True)
class TextDeltaEvent:
    """More of a piece of answer text (`text-delta`).

    >>> for event in Agent().run_stream("A wood for doors?"):
    ...     if isinstance(event, TextDeltaEvent):
    ...         print(event.delta)
    Oak.
    """

    type: ClassVar[Literal["text-delta"]] = "text-delta"
    id: str
    delta: str


@dataclass(frozen=True, slots=True)
class TextEnd:
    """A piece of answer text is complete.

    >>> events = Agent().run_stream("A wood for doors?")
    >>> [start, *_, end] = (event.id for event in events if isinstance(event, TextStart | TextEnd))
    >>> start == end
    True
    """

    type: ClassVar[Literal["text-end"]] = "text-end"
    id: str


@dataclass(frozen=True, slots=True)
class ReasoningStart:
    """A piece of reasoning begins.

    >>> for event in Agent().run_stream("A wood for doors?"):
    ...     if isinstance(event, ReasoningStart):
    ...         print("The model is thinking.")
    The model is thinking.
    """

    type: ClassVar[Literal["reasoning-start"]] = "reasoning-start"
    id: str


@dataclass(frozen=True, slots=True)
class ReasoningDeltaEvent:
    """More of a piece of reasoning (`reasoning-delta`).

    >>> events = Agent().run_stream("A wood for doors?")
    >>> "".join(event.delta for event in events if isinstance(event, ReasoningDeltaEvent))
    'Doors are heavy.'
    """

    type: ClassVar[Literal["reasoning-delta"]] = "reasoning-delta"
    id: str
    delta: str


@dataclass(frozen=True, slots=True)
class ReasoningEnd:
    """A piece of reasoning is complete.

    >>> events = Agent().run_stream("A wood for doors?")
    >>> [event.type for event in events if isinstance(event, ReasoningEnd | TextStart)]
    ['reasoning-end', 'text-start']
    """

    type: ClassVar[Literal["reasoning-end"]] = "reasoning-end"
    id: str


@dataclass(frozen=True, slots=True)
class ProviderPartEvent:
    """A part of the answer for its provider only, after `text` characters of the turn and `calls` calls.

    >>> part = ProviderPartEvent("anthropic", {"type": "redacted_thinking", "data": "…"}, text=4)
    >>> part.source, part.text, part.calls
    ('anthropic', 4, 0)
    """

    type: ClassVar[Literal["provider-part"]] = "provider-part"
    source: str
    data: Mapping[str, Any]
    text: int = 0
    calls: int = 0

    __repr__ = brief_repr


@dataclass(frozen=True, slots=True)
class ToolInputStart:
    """The model begins to write a call's arguments.

    >>> def count(item: str) -> int:
    ...     '''Count the pieces of an item.'''
    ...     return 3
    >>> events = Agent(tools=[count]).run_stream("How many saws?")
    >>> [event.name for event in events if isinstance(event, ToolInputStart)]
    ['count']
    """

    type: ClassVar[Literal["tool-input-start"]] = "tool-input-start"
    call_id: str
    name: str


@dataclass(frozen=True, slots=True)
class ToolInputDeltaEvent:
    """More of a call's arguments as text (`tool-input-delta`).

    >>> def count(item: str) -> int:
    ...     '''Count the pieces of an item.'''
    ...     return 3
    >>> events = Agent(tools=[count]).run_stream("How many saws?")
    >>> "".join(event.delta for event in events if isinstance(event, ToolInputDeltaEvent))
    '{"item": "saw"}'
    """

    type: ClassVar[Literal["tool-input-delta"]] = "tool-input-delta"
    call_id: str
    delta: str


@dataclass(frozen=True, slots=True)
class ToolInputEnd:
    """A call's arguments are complete.

    >>> def count(item: str) -> int:
    ...     '''Count the pieces of an item.'''
    ...     return 3
    >>> events = Agent(tools=[count]).run_stream("How many saws?")
    >>> [event.args for event in events if isinstance(event, ToolInputEnd)]
    [{'item': 'saw'}]
    """

    type: ClassVar[Literal["tool-input-end"]] = "tool-input-end"
    call_id: str
    name: str
    args: Any

    __repr__ = brief_repr
