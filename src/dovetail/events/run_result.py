"""`RunResult`: how a run ended, for loops, agents and stored runs alike."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dovetail.data.text import brief_repr
from dovetail.errors import DovetailError
from dovetail.events.call import ChatMessage
from dovetail.events.delta import Usage
from dovetail.events.run_events import EndReason
from dovetail.lazy import lazy

_view = lazy("dovetail.data.rich_view")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """How a run ended and what it returned.

    `text` is the answer, `data` the result in the form that was asked for, if one was. `messages` are the new
    ones, each call in them with its result. `finish_reason` is why the model ended its last answer: `stop`,
    `length` if it was cut off, `content-filter` if it was refused, `repetition` if it repeated itself and was
    stopped, `tool-calls` or `other`. `usage` counts children too, `duration` is in seconds. `limit` names the
    limit that was reached if a grace turn saved the answer; `notice` says in words which limit was reached,
    whether or not it did. `error` is the report of a failure as clients and stored runs know it; `exception`
    is known only in the process in which it happened.

    >>> Agent().run("A wood for doors?")
    RunResult(text='Oak.', turns=1, finish_reason='stop')
    """

    reason: EndReason = "goal"
    text: str = ""
    data: Any = None
    messages: Sequence[ChatMessage] = field(default=(), repr=False)
    usage: Usage = field(default_factory=Usage)
    turns: int = 0
    finish_reason: str = ""
    duration: float = 0.0
    limit: EndReason | None = None
    notice: str | None = None
    error: Mapping[str, Any] | None = None
    exception: DovetailError | None = None

    __repr__ = brief_repr

    def _repr_html_(self) -> str:
        """Show the answer in a notebook, and how the run ended."""
        answer = _view.show_markdown(self.text) if self.data is None else _view.show_data(self.data)
        tokens = self.usage.input_tokens + self.usage.output_tokens
        ended = {"ended by": self.reason, "turns": self.turns, "tokens": tokens, "cost": self.usage.cost}
        return answer + _view.show_note({**ended, "": self.notice})

    @property
    def value(self) -> Any:
        """The data, otherwise the text; None if the run ended before it could answer."""
        return self.text if self.data is None and (self.text or self.turns) else self.data

    @property
    def result(self) -> str:
        """The answer, under the name that sub-agents have for it."""
        return self.text

    @property
    def terminate_reason(self) -> EndReason:
        """The reason of the end, under the name that sub-agents have for it."""
        return self.reason
