"""`RunResult`: how a run ended, for loops, agents and stored runs alike."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic

from dovetail.data.text import brief_repr, explain_attribute
from dovetail.errors import DovetailError
from dovetail.events.call import ChatMessage
from dovetail.events.delta import Usage
from dovetail.events.run_events import EndReason
from dovetail.lazy import lazy

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    T = TypeVar("T", default=Any)
else:
    from typing import TypeVar

    T = TypeVar("T")

_view = lazy("dovetail.data.rich_view")
_NO_DATA: Any = None

_MEANT = {
    **dict.fromkeys(("answer", "content", "response"), "result.text"),
    **dict.fromkeys(
        ("final_output", "output", "parsed"),
        "result.text` or, after `run(…, returns=Model)`, `result.data",
    ),
    **dict.fromkeys(("all_messages", "history", "new_messages", "to_input_list"), "result.messages"),
    "cost": "result.usage.cost",
    "stop_reason": "result.finish_reason",
}
"""The names of other libraries, and how to write the same thing here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult(Generic[T]):
    """How a run ended and what it returned.

    `text` is the answer, `data` the result in the form that was asked for, if one was: with `returns` an
    instance of that type. `messages` are the `history` that the run was given, then the user's message and
    all that follows, each call with its result; `run(…, history=result.messages)` continues from them.
    `finish_reason` is why the model ended its last answer: `stop`, `length` if it was cut off,
    `content-filter` if it was refused, `repetition` if it repeated itself and was stopped, `tool-calls` or
    `other`. `usage` counts children too, `duration` is in seconds. `limit` names the limit that was reached
    if a grace turn saved the answer; `notice` says in words which limit was reached, whether or not it did,
    or why `data` cannot be read from the answer. `error` is the report of a failure as clients and stored
    runs know it; `exception` is known only in the process in which it happened.

    >>> Agent().run("A wood for doors?")
    RunResult(text='Oak.', turns=1, finish_reason='stop')
    """

    reason: EndReason = "goal"
    text: str = ""
    data: T = _NO_DATA
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

    if not TYPE_CHECKING:  # type checkers know which attributes exist

        def __getattr__(self, name: str) -> Any:
            """Name the attribute that has what another library has under this name."""
            raise AttributeError(explain_attribute("RunResult", name, _MEANT), name=name, obj=self)

    def __dir__(self) -> list[str]:
        """Leave out the names that sub-agents have for `text` and `reason`."""
        return [name for name in object.__dir__(self) if name not in ("result", "terminate_reason")]

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
