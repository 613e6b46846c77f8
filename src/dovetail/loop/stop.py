"""When a loop is done: after which turns it ends, and how a model is asked for its last answer."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dovetail.events.call import ChatMessage
from dovetail.events.cancel import CancelSignal
from dovetail.events.run_events import EndReason
from dovetail.loop.completion import AnswerRule, Rejection
from dovetail.loop.conversation import list_past_calls
from dovetail.loop.repetition import REPEATS, WARNED_AFTER, CallHistory
from dovetail.response.result import write_correction
from dovetail.tools.tool import CallOutcome

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
    """The end of a loop: the reason, the result that was handed in, if any, and why in words."""

    reason: EndReason
    data: Any = None
    notice: str | None = None


class StopRules:
    """Decide turn after turn; `completion` names the tool that hands in the result, if one must.

    A loop that `insists` presses the model for a result: an empty answer is asked for once more, and the same
    calls in a row, or a circle of them, end it, after a `warning` to the model. Otherwise the first answer
    without calls is the end. Calls in `messages`, from before an interruption, count, too. After a message to
    the run they are counted from the start. With an `answer` rule an answer that is not the result is asked
    for again; after the last one the loop ends.
    """

    def __init__(
        self,
        completion: str | None,
        cancel: CancelSignal,
        *,
        insists: bool = True,
        messages: Sequence[ChatMessage] = (),
        answer: AnswerRule | None = None,
    ) -> None:
        self._completion = completion
        self._cancel = cancel
        self._insists = insists
        self._nudged = False
        self._words = 0
        self._answer = answer
        self._rejected = 0
        self.correction = NUDGE
        """What the model reads before the next turn if it has called nothing."""
        self.warning: str | None = None
        """What the model reads after its last turn, if it repeats itself."""
        self.has_repeated = False
        """Whether the run ends because the model repeated itself."""
        self._history = CallHistory()
        for calls in list_past_calls(messages):
            self._history.add(calls)

    def after_calls(self, outcomes: Sequence[CallOutcome]) -> Stop | None:
        """Decide after a turn with calls; None if the loop continues."""
        for outcome in outcomes:
            if outcome.call.name == self._completion and outcome.status == "ok":
                return Stop("goal", outcome.result.data)
        if self._cancel.mode is not None:
            return Stop("cancelled")
        if self._answer is not None and any(outcome.call.name == self._completion for outcome in outcomes):
            self._rejected += 1  # the model has read why as the result of its call
            if self._rejected > self._answer.retries:
                return Stop("goal")
        self._history.add([outcome.call for outcome in outcomes])
        self._words = 0
        return self._judge_repetition() if self._insists else None

    def _judge_repetition(self) -> Stop | None:
        repetition, self.warning = self._history.find_repetition(), None
        if repetition is None:
            return None
        if repetition.times >= REPEATS:
            self.has_repeated = True
            return Stop("no-completion", notice=repetition.write_notice())
        if repetition.times == WARNED_AFTER and repetition.is_complete:
            self.warning = repetition.warn()
        return None

    def start_over(self) -> None:
        """Forget the calls so far: a message has reached the run, and may ask for the same again."""
        self._history.clear()

    async def after_text(self, text: str, finish_reason: str) -> Stop | None:
        """Decide after a turn without calls; None if the model is asked again.

        It is for an empty answer, once, and for words in place of a result that must be handed in. A whole
        answer is the goal even if the user asked to stop after it. A refused one is not asked for again.
        """
        is_answer = bool(text.strip()) or finish_reason == "content-filter"
        rejection = await self._answer.check(text, finish_reason) if self._answer and is_answer else None
        if rejection is not None:
            return self._reject(rejection)
        if not self._insists or (is_answer and (self._answer or self._completion is None)):
            return Stop("goal")
        if self._cancel.mode is not None:
            return Stop("cancelled")
        if not is_answer:
            is_first, self._nudged = not self._nudged, True
            self.correction = NUDGE
            return None if is_first else Stop("no-completion")
        self._words += 1
        return Stop("no-completion") if self._words >= REPEATS or not text.strip() else None

    def _reject(self, rejection: Rejection) -> Stop | None:
        """Let the model answer again, and say why; None if it may."""
        if self._cancel.mode is not None:
            return Stop("cancelled")
        self._rejected += 1
        if rejection.is_final or (self._answer and self._rejected > self._answer.retries):
            return Stop("goal")
        if self._completion is None:
            self.correction = write_correction(rejection.problem)
        else:
            self.correction = demand_call(self._completion, write_correction(rejection.problem, ""))
        return None


def demand_call(completion: str, complaint: str) -> str:
    """Return the message to a model that has answered in words where it must hand in a result."""
    return (
        f"{complaint} Words are not a result: only what you hand in with `{completion}` counts. Continue "
        f"your work, and call `{completion}` when you have the result."
    )


def demand_result(reason: EndReason, completion: str | None, *, has_repeated: bool = False) -> str:
    """Return the message that makes a model answer in its last turn."""
    how = f"Call `{completion}` now" if completion else "Answer now"
    why = "You made the same calls again and again." if has_repeated else DEMANDS[reason]
    return f"{why} {how} with the best result you have; no other tool can be used."
