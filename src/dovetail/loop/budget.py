"""What a run and its children may use: one tree of time, tokens and sub-agents; each run has its own turns.

A child draws from the time and tokens that its parent has left, and what it uses of them counts for its
ancestors too. The clock of a branch and of its ancestors stands still while a person is asked.
"""

import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from dovetail.concurrency import Stopwatch
from dovetail.data.numbers import is_number
from dovetail.errors import ConfigError
from dovetail.events.delta import Usage
from dovetail.events.run_context import RunContext

Limit: TypeAlias = Literal["max-turns", "timeout", "max-tokens"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetLimits:
    """The limits of one run; None means unlimited (or the parent's rest).

    `depth` is how many levels of children may be below it, `width` how many children it may start one after
    the other or at once, `total` how many runs there may be below it at all depths.
    """

    turns: int | None = 30
    seconds: float | None = 600.0
    tokens: int | None = None
    depth: int = 3
    width: int = 50
    total: int = 200

    def __post_init__(self) -> None:
        if self.seconds is not None and not is_number(self.seconds):
            raise ConfigError(
                f"The time limit of a run must be a finite number of seconds or None, got {self.seconds!r}."
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What a run has used already in an earlier life, before a crash.

    `children` are those it has started itself, `descendants` those at all depths.
    """

    turns: int = 0
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    children: int = 0
    descendants: int = 0


class Budget:
    """The rest of one run's limits; what was `spent` before counts."""

    def __init__(
        self,
        limits: BudgetLimits | None = None,
        *,
        parent: "Budget | None" = None,
        clock: Callable[[], float] = time.monotonic,
        spent: Spent | None = None,
    ) -> None:
        spent = spent or Spent()
        self.limits = limits or BudgetLimits()
        self.parent = parent
        self.usage = spent.usage
        self.turns = spent.turns
        self.on_pause: Callable[[bool], None] | None = None
        self._children = spent.children
        self._descendants = spent.descendants
        self._clock = clock
        self._stopwatch = Stopwatch(clock, elapsed=spent.seconds)

    @property
    def depth_left(self) -> int:
        """How many levels of children may still be below this run."""
        own = self.limits.depth
        return own if self.parent is None else min(own, self.parent.depth_left - 1)

    def child(self, limits: BudgetLimits | None = None) -> "Budget":
        """A budget for one more child; raises when the tree is as deep or wide as it may be."""
        if self.depth_left <= 0:
            raise ConfigError("no deeper sub-agents here: the depth limit of this run is reached")
        if self._children >= self.limits.width:
            raise ConfigError(
                f"no more sub-agents here: the limit of {self.limits.width} children is reached"
            )
        full = next((one for one in self._upwards() if one._descendants >= one.limits.total), None)
        if full is not None:
            raise ConfigError(
                f"no more sub-agents here: the limit of {full.limits.total} in the whole run is reached"
            )
        self._children += 1
        for budget in self._upwards():
            budget._descendants += 1
        return Budget(limits, parent=self, clock=self._clock)

    def use_turn(self) -> None:
        """Count one turn; those of a child are its own."""
        self.turns += 1

    def use_tokens(self, usage: Usage) -> None:
        """Count tokens, here and above."""
        for budget in self._upwards():
            budget.usage = budget.usage + usage

    def reached(self) -> Limit | None:
        """The first limit that is used up, here or above."""
        if self.limits.turns is not None and self.turns >= self.limits.turns:
            return "max-turns"
        for budget in self._upwards():
            used = budget.usage.input_tokens + budget.usage.output_tokens
            if budget.limits.tokens is not None and used >= budget.limits.tokens:
                return "max-tokens"
        left = self.seconds_left()
        return "timeout" if left is not None and left <= 0 else None

    def seconds_left(self) -> float | None:
        """The time left, here and above; None when no clock runs."""
        rests = [
            budget.limits.seconds - budget.elapsed()
            for budget in self._upwards()
            if budget.limits.seconds is not None
        ]
        return min(rests, default=None)

    def elapsed(self) -> float:
        """Seconds since the start, without those in which a person was asked."""
        return self._stopwatch.elapsed()

    @property
    def is_paused(self) -> bool:
        """Whether the clock stands still."""
        return self._stopwatch.is_paused

    @contextmanager
    def paused(self) -> Generator[None]:
        """Stop the clock, here and above, while a person is asked."""
        for budget in self._upwards():
            budget._pause()
        try:
            yield
        finally:
            for budget in self._upwards():
                budget._resume()

    def _pause(self) -> None:
        self._stopwatch.pause()
        if self.on_pause:
            self.on_pause(True)

    def _resume(self) -> None:
        self._stopwatch.resume()
        if self.on_pause and not self._stopwatch.is_paused:
            self.on_pause(False)

    def _upwards(self) -> "Iterator[Budget]":
        budget: Budget | None = self
        while budget is not None:
            yield budget
            budget = budget.parent


def find_budget(run: RunContext | None) -> Budget | None:
    """Return the budget of a run, if any."""
    return run.budget if run is not None and isinstance(run.budget, Budget) else None
