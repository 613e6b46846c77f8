"""What happens in a run, as numbered journal entries.

Events are made where things happen (the loop, the tool runner, the run itself) and handed to an `Emit`; the
run's journal numbers them. Text and tool-input deltas are made once per token, so events are plain.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol, TypeAlias

from dovetail.data.text import brief_repr
from dovetail.events.call import CallStatus
from dovetail.events.delta import RequestTiming, Usage
from dovetail.events.model_events import (
    ModelProgress,
    ModelRequestEvent,
    ModelResponseEvent,
    ProviderPartEvent,
    ReasoningDeltaEvent,
    ReasoningEnd,
    ReasoningStart,
    TextDeltaEvent,
    TextEnd,
    TextStart,
    ToolInputDeltaEvent,
    ToolInputEnd,
    ToolInputStart,
)

AskKind: TypeAlias = Literal["approval", "browser", "question"]
EndReason: TypeAlias = Literal[
    "goal",
    "max-turns",
    "max-tokens",
    "max-cost",
    "max-calls",
    "timeout",
    "no-completion",
    "cancelled",
    "error",
    "interrupted",
]


@dataclass(frozen=True, slots=True)
class RunStart:
    """The run begins; `setup` is what a run below another one keeps if it resumes after a restart.

    >>> [start, *_] = Agent("clerk").run_stream("A wood for doors?")
    >>> start
    RunStart(agent='clerk', model='openai:scripted')
    """

    type: ClassVar[Literal["run-start"]] = "run-start"
    agent: str
    model: str
    generation: int = 0
    session_id: str | None = None
    parent_call_id: str | None = None
    setup: Mapping[str, Any] | None = None

    __repr__ = brief_repr


@dataclass(frozen=True, slots=True)
class ToolHold:
    """The calls of a turn are held until questions about these are answered; all are asked at once.

    >>> held, asked = ToolHold(("call_1", "call_2")), AskRequest("ask_1", "approval", "call_1", {})
    >>> asked.call_id in held.call_ids
    True
    """

    type: ClassVar[Literal["tool-hold"]] = "tool-hold"
    call_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ToolStart:
    """A call begins to execute; one that `may_repeat` is made again after a crash.

    >>> def count(item: str) -> int:
    ...     '''Count the pieces of an item.'''
    ...     return 3
    >>> events = Agent(tools=[count]).run_stream("How many saws?")
    >>> [(event.kind, event.title) for event in events if isinstance(event, ToolStart)]
    [('other', 'count')]
    """

    type: ClassVar[Literal["tool-start"]] = "tool-start"
    call_id: str
    kind: str
    title: str
    may_repeat: bool = False

    __repr__ = brief_repr


@dataclass(frozen=True, slots=True)
class ToolProgress:
    """A running call shows its output so far.

    >>> def count(item: str, context: ToolContext) -> int:
    ...     '''Count the pieces of an item.'''
    ...     context.update("Counting …")
    ...     return 3
    >>> events = Agent(tools=[count]).run_stream("How many saws?")
    >>> [event.output for event in events if isinstance(event, ToolProgress)]
    ['Counting …']
    """

    type: ClassVar[Literal["tool-progress"]] = "tool-progress"
    call_id: str
    output: Any

    __repr__ = brief_repr


@dataclass(frozen=True, slots=True)
class ToolStall:
    """A running call has held the event loop for these seconds, so that nothing else in its process moved.

    `where` is the line that it was at. A tool that computes or waits without `await` is written as `def`.

    >>> stall = ToolStall("call_1", 4.9, "extensions/slow/extension.py:7 in slow")
    >>> stall.seconds
    4.9
    """

    type: ClassVar[Literal["tool-stall"]] = "tool-stall"
    call_id: str
    seconds: float
    where: str = ""


@dataclass(frozen=True, slots=True)
class ToolEnd:
    """A call has its one result.

    >>> def count(item: str) -> int:
    ...     '''Count the pieces of an item.'''
    ...     return 3
    >>> events = Agent(tools=[count]).run_stream("How many saws?")
    >>> [(event.status, event.result) for event in events if isinstance(event, ToolEnd)]
    [('ok', {'llm_content': '3', 'data': 3})]
    """

    type: ClassVar[Literal["tool-end"]] = "tool-end"
    call_id: str
    status: CallStatus
    result: Any
    error: Mapping[str, Any] | None = None
    duration: float = 0.0

    __repr__ = brief_repr


@dataclass(frozen=True, slots=True)
class AskRequest:
    """An answer from outside is needed: a person approves, a browser acts.

    >>> ask = AskRequest("ask_1", "approval", "call_1", {"tool": "order", "title": "Order a saw"}, timeout=60)
    >>> f"{ask.payload['title']}? Answer within {ask.timeout} seconds."
    'Order a saw? Answer within 60 seconds.'
    """

    type: ClassVar[Literal["ask-request"]] = "ask-request"
    ask_id: str
    kind: AskKind
    call_id: str
    payload: Mapping[str, Any]
    timeout: float | None = None

    __repr__ = brief_repr


@dataclass(frozen=True, slots=True)
class AskAnswer:
    """The answer to an ask; an ask has at most one.

    >>> AskAnswer("ask_1", {"approved": True, "remember": "run"}).value["approved"]
    True
    """

    type: ClassVar[Literal["ask-answer"]] = "ask-answer"
    ask_id: str
    value: Any

    __repr__ = brief_repr


@dataclass(frozen=True, slots=True)
class UserMessage:
    """A message that reached the run while it was in progress: people see `parts`, the model `content`.

    A `notice` does not come from a person: something that the run started has ended.

    >>> parts = ({"type": "text", "text": "Only oak, please."},)
    >>> UserMessage("msg_1", "steer", parts, parts).kind
    'steer'
    """

    type: ClassVar[Literal["user-message"]] = "user-message"
    message_id: str
    kind: Literal["steer", "notice"]
    parts: tuple[Mapping[str, Any], ...]
    content: tuple[Mapping[str, Any], ...]

    __repr__ = brief_repr


@dataclass(frozen=True, slots=True)
class TurnEnd:
    """One turn is over: a model answer and the results of its calls.

    `model` is the one that answered, if the run asks several; `timing` is how long the request took.

    >>> for event in Agent().run_stream("A wood for doors?"):
    ...     if isinstance(event, TurnEnd):
    ...         print(event.turn, event.finish_reason)
    1 stop
    """

    type: ClassVar[Literal["turn-end"]] = "turn-end"
    turn: int
    usage: Usage
    finish_reason: str
    model: str = ""
    timing: RequestTiming | None = dataclasses.field(default=None, compare=False)

    __repr__ = brief_repr


@dataclass(frozen=True, slots=True)
class TurnReset:
    """The answer of this turn so far is void: the run was resumed after a crash and asks again.

    >>> text = ""
    >>> for event in [TextDeltaEvent("text_1", "Oa"), TurnReset(), TextDeltaEvent("text_2", "Oak.")]:
    ...     text = "" if isinstance(event, TurnReset) else text + event.delta
    >>> text
    'Oak.'
    """

    type: ClassVar[Literal["turn-reset"]] = "turn-reset"


@dataclass(frozen=True, slots=True)
class RunResume:
    """The run resumes after a crash; events after number `after` were not stored and are void.

    >>> events = ["run-start", "text-start", "text-delta"]  # the last one was not stored
    >>> events[: RunResume(after=2).after]
    ['run-start', 'text-start']
    """

    type: ClassVar[Literal["run-resume"]] = "run-resume"
    after: int


@dataclass(frozen=True, slots=True)
class RunEnd:
    """The run is over; the last event of every run.

    `limit` names the limit after which a last turn saved the answer; `notice` says in words which limit was
    reached, whether or not it did.

    >>> [*_, end] = Agent().run_stream("A wood for doors?")
    >>> end.reason, end.result
    ('goal', 'Oak.')
    """

    type: ClassVar[Literal["run-end"]] = "run-end"
    reason: EndReason
    result: Any = None
    usage: Usage = dataclasses.field(default_factory=Usage)
    error: Mapping[str, Any] | None = None
    limit: EndReason | None = None
    notice: str | None = None

    __repr__ = brief_repr


@dataclass(frozen=True, slots=True)
class ChildEvent:
    """An event of a child run on its way up; the journal stores the inner event under the child's path.

    >>> carpenter = Agent("carpenter", system="You know woods.")
    >>> for event in Agent(tools=[carpenter]).run_stream("A wood for doors?"):
    ...     match event:
    ...         case ChildEvent(event=TextDeltaEvent(delta=text)):
    ...             print(text)
    Oak.
    """

    type: ClassVar[Literal["subagent-event"]] = "subagent-event"
    run_id: str
    event: "Event"


Event: TypeAlias = (
    RunStart
    | ModelRequestEvent
    | ModelProgress
    | ModelResponseEvent
    | TextStart
    | TextDeltaEvent
    | TextEnd
    | ReasoningStart
    | ReasoningDeltaEvent
    | ReasoningEnd
    | ProviderPartEvent
    | ToolInputStart
    | ToolInputDeltaEvent
    | ToolInputEnd
    | ToolHold
    | ToolStart
    | ToolProgress
    | ToolStall
    | ToolEnd
    | AskRequest
    | AskAnswer
    | UserMessage
    | TurnEnd
    | TurnReset
    | RunResume
    | RunEnd
    | ChildEvent
)


class Emit(Protocol):
    """Where events go; must not block."""

    def __call__(self, event: Event, /) -> None: ...


@dataclass(frozen=True, slots=True)
class Entry:
    """One journal entry: an event with its number, its run's path from the root, and its time.

    >>> list(Entry(3, "run_1", ("run_1",), 0.5, TextDeltaEvent("text_1", "Oak.")).to_dict())
    ['number', 'run_id', 'path', 'time', 'type', 'id', 'delta']
    """

    number: int
    run_id: str
    path: tuple[str, ...]
    time: float
    event: Event

    def to_dict(self) -> dict[str, Any]:
        """Return the entry as JSON data: the fields of the envelope and of the event side by side."""
        return {
            "number": self.number,
            "run_id": self.run_id,
            "path": list(self.path),
            "time": self.time,
            "type": self.event.type,
            **dataclasses.asdict(self.event),
        }
