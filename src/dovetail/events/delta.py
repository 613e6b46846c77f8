"""What a model's answer is made of while it arrives; made once per token, so plain and small."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from dovetail.data.shapes import is_dict
from dovetail.data.text import brief_repr


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one or more requests; `cost` is in the price table's currency, if prices are known.

    Input includes what the provider read from its cache (`cached_tokens`) and what it stored there
    (`cache_write_tokens`); output includes the reasoning.

    >>> Usage(input_tokens=10, cost=0.5) + Usage(input_tokens=5, output_tokens=2)
    Usage(input_tokens=15, output_tokens=2, cost=0.5)
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    reasoning_tokens: int = 0
    cost: float | None = None
    cache_write_tokens: int = 0

    __repr__ = brief_repr

    def __add__(self, other: "Usage") -> "Usage":
        known = [cost for cost in (self.cost, other.cost) if cost is not None]
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cached_tokens + other.cached_tokens,
            self.reasoning_tokens + other.reasoning_tokens,
            sum(known) if known else None,
            self.cache_write_tokens + other.cache_write_tokens,
        )

    @classmethod
    def read(cls, value: Any) -> "Usage":
        """Return the usage that was stored as JSON data; zero if nothing was stored."""
        return cls(**value) if is_dict(value) else cls()


@dataclass(frozen=True, slots=True)
class RequestTiming:
    """How long a request to a model took, in seconds.

    `first_token` is the time until its answer began; `waited` is what it waited for other requests and
    between attempts. `retries` are the failed attempts, each by its HTTP status or the name of its error.

    >>> RequestTiming(seconds=2.5, first_token=1.2, waited=0.5, retries=("503",)).retries
    ('503',)
    """

    seconds: float
    first_token: float | None = None
    waited: float = 0.0
    retries: tuple[str, ...] = ()

    __repr__ = brief_repr

    @classmethod
    def read(cls, value: Any) -> "RequestTiming | None":
        """Return the timing that was stored as JSON data, if any."""
        if not is_dict(value):
            return None
        fields: dict[str, Any] = {**value, "retries": tuple(value["retries"])}
        return cls(**fields)


@dataclass(frozen=True, slots=True)
class TextDelta:
    """More of the answer's text.

    >>> deltas = Agent().input("A wood for doors?").get_generator("original")
    >>> [delta.text for delta in deltas if isinstance(delta, TextDelta)]
    ['Oak.']
    """

    text: str


THINK_TAGS = {"<think>": "</think>", "<thinking>": "</thinking>"}
"""The tags that models write around their reasoning: each opening one with the one that closes it."""


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """More of what the model thinks before it answers.

    >>> deltas = Agent().input("A wood for doors?").get_generator("original")
    >>> [delta.text for delta in deltas if isinstance(delta, ReasoningDelta)]
    ['Doors are heavy.']
    """

    text: str


@dataclass(frozen=True, slots=True)
class ToolCallDelta:
    """More of a function call; the first piece of an index carries `call_id` and `name`.

    >>> first = ToolCallDelta(0, "call_1", "count", '{"item": ')
    >>> first.arguments + ToolCallDelta(0, arguments='"saw"}').arguments
    '{"item": "saw"}'
    """

    index: int
    call_id: str | None = None
    name: str | None = None
    arguments: str = ""


@dataclass(frozen=True, slots=True)
class ProviderPartDelta:
    """A part of the answer that only its provider can read, and that goes back to it unchanged.

    Examples are signed or encrypted reasoning and the results of a provider's own tools. `source` is the API
    that made it; it stands where it came, between the text and the calls.

    >>> ProviderPartDelta("anthropic", {"type": "redacted_thinking", "data": "…"}).source
    'anthropic'
    """

    source: str
    data: Mapping[str, Any]

    __repr__ = brief_repr


ProgressPhase: TypeAlias = Literal["download", "read"]
"""What a model is busy with before its first token: its weights arrive, or it reads the request."""


@dataclass(frozen=True, slots=True)
class ProgressDelta:
    """How far a model is before its first token: bytes of its download, or tokens of the request read.

    A requester may yield any number of them. They are a sign of life and no part of the answer: a model that
    has sent nothing else has not begun to answer.

    >>> arrival = ProgressDelta("download", done=520_000_000, total=1_000_000_000)
    >>> f"{arrival.done / arrival.total:.0%}"
    '52%'
    """

    phase: ProgressPhase
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class FinishDelta:
    """The answer's end; always the last delta of a stream that did not fail.

    `reason` is one of stop, length, content-filter, repetition, tool-calls, other; `model` is the name in the
    provider's answer, `payload` the provider's last payload, as it came. `requested` is the `provider:name`
    that answered, where several were asked. `notice` says why we ended the answer, if the model did not.

    >>> [*_, last] = Agent().input("A wood for doors?").get_generator("original")
    >>> isinstance(last, FinishDelta), last.reason
    (True, 'stop')
    """

    reason: str = "stop"
    usage: Usage = field(default_factory=Usage)
    model: str = ""
    request_id: str | None = None
    payload: Mapping[str, Any] | None = None
    requested: str = ""
    notice: str = ""

    __repr__ = brief_repr


Delta: TypeAlias = (
    TextDelta | ReasoningDelta | ToolCallDelta | ProviderPartDelta | ProgressDelta | FinishDelta
)
