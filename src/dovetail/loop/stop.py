"""When a loop is done: after which turns it ends, and how a model is asked for its last answer."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dovetail.data.text import to_text
from dovetail.events.call import ChatMessage, ToolCall
from dovetail.events.cancel import CancelSignal
from dovetail.events.run_events import EndReason
from dovetail.loop.conversation import list_past_calls
from dovetail.tools.tool import CallOutcome

REPEATS = 5
"""Times in a row that the same calls may be made."""

NUDGE = "Your last answer was empty. Answer the request, or call a tool that brings you closer to the answer."
DEMANDS: dict[EndReason, str] = {
    "max-turns": "Turn limit reached.",
    "max-tokens": "Token limit reached.",
    "max-cost": "Cost limit reached.",
    "max-calls": "Request limit reached.",
    "timeout": "Time limit reached.",
    "no-completion": "You stopped without handing in a result.",
}
"""What the model reads after a limit, before its last chance to answer."""


@dataclass(frozen=True, slots=True)
class Stop:
    """The end of a loop: the reason, and the result that was handed in, if any."""

    reason: EndReason
    data: Any = None


class StopRules:
    """Decide turn after turn; `completion` names the tool that hands in the result, if one must.

    A loop that `insists` presses the model for a result: an empty answer is asked for once more, and the same
    calls in a row end it. Otherwise the first answer without calls is the end. Calls in `messages`, from
    before an interruption, count, too. After a message to the run they are counted from the start.
    """

    def __init__(
        self,
        completion: str | None,
        cancel: CancelSignal,
        *,
        insists: bool = True,
        messages: Sequence[ChatMessage] = (),
    ) -> None:
        self._completion = completion
        self._cancel = cancel
        self._insists = insists
        self._nudged = False
        self._last_calls: list[tuple[str, str]] = []
        self._repeats = 0
        for calls in list_past_calls(messages):
            self._count(calls)

    def after_calls(self, outcomes: Sequence[CallOutcome]) -> Stop | None:
        """Decide after a turn with calls; None if the loop continues."""
        for outcome in outcomes:
            if outcome.call.name == self._completion and outcome.status == "ok":
                return Stop("goal", outcome.result.data)
        if self._cancel.mode is not None:
            return Stop("cancelled")
        self._count([outcome.call for outcome in outcomes])
        return Stop("no-completion") if self._insists and self._repeats >= REPEATS else None

    def start_over(self) -> None:
        """Forget the calls so far: a message has reached the run, and may ask for the same again."""
        self._last_calls, self._repeats = [], 0

    def _count(self, calls: Sequence[ToolCall]) -> None:
        known = [(call.name, to_text(call.shown_arguments)) for call in calls]
        self._repeats = self._repeats + 1 if known == self._last_calls else 1
        self._last_calls = known

    def after_text(self, text: str, finish_reason: str) -> Stop | None:
        """Decide after a turn without calls; None for an empty answer, which is asked for once more.

        A whole answer is the goal even if the user asked to stop after it. A refused one is not asked for
        again.
        """
        is_answer = bool(text.strip()) or finish_reason == "content-filter"
        if not self._insists or (is_answer and self._completion is None):
            return Stop("goal")
        if self._cancel.mode is not None:
            return Stop("cancelled")
        if not text.strip() and not self._nudged:
            self._nudged = True
            return None
        return Stop("no-completion")


def demand_result(reason: EndReason, completion: str | None) -> str:
    """Return the message that makes a model answer in its last turn."""
    how = f"Call `{completion}` now" if completion else "Answer now"
    return f"{DEMANDS[reason]} {how} with the best result you have; no other tool can be used."
