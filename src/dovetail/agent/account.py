"""The turns of a loop and the tokens they use: counted in the budget, told in its events.

What a model used is told in the end of its turn. It is told once more as soon as the model has answered when
more is to happen in the turn, for a crash may come between.
"""

from dataclasses import dataclass, field

from dovetail.messages.budget import Budget
from dovetail.messages.delta import Usage
from dovetail.messages.event import Emit, TurnEnd
from dovetail.messages.model_event import ModelAnswered


@dataclass(frozen=True, slots=True, kw_only=True)
class Earlier:
    """What an earlier life of a loop did, before a crash.

    `turns` have ended; `usage` is of answers whose turn has not.
    """

    turns: int = 0
    usage: Usage = field(default_factory=Usage)


class Account:
    """Counts for one loop; goes on where an earlier life of it ended."""

    def __init__(self, emit: Emit, budget: Budget, earlier: Earlier | None) -> None:
        earlier = earlier or Earlier()
        self.turns = earlier.turns
        self._unsettled = earlier.usage
        self._emit = emit
        self._budget = budget

    def begin_turn(self) -> None:
        """One more request of the conversation goes out."""
        self.turns += 1
        self._budget.use_turn()

    def take_up_turn(self) -> None:
        """The turn that an earlier life has begun goes on; it is counted already."""
        self.turns += 1

    def add(self, usage: Usage) -> None:
        """Count what an answer has used."""
        self._budget.use_tokens(usage)
        self._unsettled = self._unsettled + usage

    def tell_answer(self, usage: Usage) -> None:
        """Tell what the turn's answer has used, before its calls run."""
        self._emit(ModelAnswered(self.turns, usage))

    def add_summary(self, usage: Usage) -> None:
        """Count and tell what shortening the conversation has used, before the next turn."""
        self.add(usage)
        self._emit(ModelAnswered(self.turns + 1, usage, "summary"))

    def end_turn(self, reason: str) -> None:
        """Tell that the turn is over."""
        used, self._unsettled = self._unsettled, Usage()
        self._emit(TurnEnd(self.turns, used, reason))
