"""When a loop is done: after which turns it ends, and how a model is asked for its last answer."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dovetail.events.cancel import CancelSignal
from dovetail.events.run_events import EndReason
from dovetail.tools.tool import CallOutcome

REPEATS = 5
"""How often in a row the very same calls may be made."""

NUDGE = "Your last answer was empty. Answer the request, or call a tool that brings you closer to the answer."
DEMANDS: dict[EndReason, str] = {
    "max-turns": "The limit of turns is reached.",
    "max-tokens": "The limit of tokens is reached.",
    "timeout": "The time is over.",
    "no-completion": "You stopped without handing in a result.",
}
"""What a model is told after an end at which it may still answer once."""


@dataclass(frozen=True, slots=True)
class Stop:
    """The loop ends, for a reason, perhaps with a result that was handed in."""

    reason: EndReason
    data: Any = None


class StopRules:
    """Decide turn after turn; `completion` names the tool that hands in the result, if one must.

    A loop that `insists` presses the model for a result: an empty answer is asked for once more, and the same
    calls again and again end it. Otherwise the first answer without calls is the end.
    """

    def __init__(self, completion: str | None, cancel: CancelSignal, *, insists: bool = True) -> None:
        self._completion = completion
        self._cancel = cancel
        self._insists = insists
        self._nudged = False
        self._last_calls: list[tuple[str, str]] = []
        self._repeats = 0

    def after_calls(self, outcomes: Sequence[CallOutcome]) -> Stop | None:
        """After a turn with calls; None when the loop goes on."""
        for outcome in outcomes:
            if outcome.call.name == self._completion and outcome.status == "ok":
                return Stop("goal", outcome.result.data)
        if self._cancel.mode is not None:
            return Stop("cancelled")
        calls = [(outcome.call.name, str(outcome.call.arguments)) for outcome in outcomes]
        self._repeats = self._repeats + 1 if calls == self._last_calls else 1
        self._last_calls = calls
        return Stop("no-completion") if self._insists and self._repeats >= REPEATS else None

    def after_text(self, text: str) -> Stop | None:
        """After a turn that only spoke; None for an empty answer, which is asked for once more.

        A whole answer is the goal also when somebody wished to stop after it.
        """
        if not self._insists or (text.strip() and self._completion is None):
            return Stop("goal")
        if self._cancel.mode is not None:
            return Stop("cancelled")
        if not text.strip() and not self._nudged:
            self._nudged = True
            return None
        return Stop("no-completion")


def demand_result(reason: EndReason, completion: str | None) -> str:
    """The words that make a model answer in its last turn."""
    how = f"Call `{completion}` now" if completion else "Answer now"
    return f"{DEMANDS[reason]} {how} with the best result you have; no other tool can be used."
