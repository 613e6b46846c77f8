"""Events of a model's part in a run: its requests, and its text and calls, piece by piece."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from dovetail.data.text import brief_repr
from dovetail.events.delta import Usage


@dataclass(frozen=True, slots=True)
class ModelRequestEvent:
    """A request goes to a model: the first `kept` messages of this run's last request, and then these.

    In a chat's journal `{"stored": id}` stands for its messages up to the one with this id.
    A `summary` is requested to shorten old messages; no later request builds on it.
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
class ModelResponseEvent:
    """A model's answer is complete, and its turn is not over yet: the calls in it come next.

    Its usage is counted at the end of the turn; it is here as well because a crash may come between.
    """

    type: ClassVar[Literal["model-answer"]] = "model-answer"
    turn: int
    usage: Usage
    purpose: Literal["answer", "summary"] = "answer"

    __repr__ = brief_repr


@dataclass(frozen=True, slots=True)
class TextStart:
    """A piece of answer text begins."""

    type: ClassVar[Literal["text-start"]] = "text-start"
    id: str


@dataclass(frozen=True, slots=True)
class TextDeltaEvent:
    """More of a piece of answer text (`text-delta`)."""

    type: ClassVar[Literal["text-delta"]] = "text-delta"
    id: str
    delta: str


@dataclass(frozen=True, slots=True)
class TextEnd:
    """A piece of answer text is complete."""

    type: ClassVar[Literal["text-end"]] = "text-end"
    id: str


@dataclass(frozen=True, slots=True)
class ReasoningStart:
    """A piece of reasoning begins."""

    type: ClassVar[Literal["reasoning-start"]] = "reasoning-start"
    id: str


@dataclass(frozen=True, slots=True)
class ReasoningDeltaEvent:
    """More of a piece of reasoning (`reasoning-delta`)."""

    type: ClassVar[Literal["reasoning-delta"]] = "reasoning-delta"
    id: str
    delta: str


@dataclass(frozen=True, slots=True)
class ReasoningEnd:
    """A piece of reasoning is complete."""

    type: ClassVar[Literal["reasoning-end"]] = "reasoning-end"
    id: str


@dataclass(frozen=True, slots=True)
class ProviderPartEvent:
    """A part of the answer for its provider only, after `text` characters of the turn and `calls` calls."""

    type: ClassVar[Literal["provider-part"]] = "provider-part"
    source: str
    data: Mapping[str, Any]
    text: int = 0
    calls: int = 0

    __repr__ = brief_repr


@dataclass(frozen=True, slots=True)
class ToolInputStart:
    """The model begins to write a call's arguments."""

    type: ClassVar[Literal["tool-input-start"]] = "tool-input-start"
    call_id: str
    name: str


@dataclass(frozen=True, slots=True)
class ToolInputDeltaEvent:
    """More of a call's arguments as text (`tool-input-delta`)."""

    type: ClassVar[Literal["tool-input-delta"]] = "tool-input-delta"
    call_id: str
    delta: str


@dataclass(frozen=True, slots=True)
class ToolInputEnd:
    """A call's arguments are complete."""

    type: ClassVar[Literal["tool-input-end"]] = "tool-input-end"
    call_id: str
    name: str
    args: Any

    __repr__ = brief_repr
