"""The limits of a run and its children: a tree of time, tokens, money and sub-agents; turns are of each run.

A child draws on what its parent has left, and its usage counts for its ancestors too. The
clocks of a branch and of its ancestors are paused while a user is asked.
"""

import dataclasses
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, TypedDict

from dovetail.concurrency import Stopwatch
from dovetail.data.shapes import is_mapping, is_number
from dovetail.data.text import explain_unknown
from dovetail.errors import ConfigError
from dovetail.events.delta import Usage
from dovetail.events.run_context import RunContext
from dovetail.events.spend import DayAccount, Spending, SpendLimits
from dovetail.loop.purse import Purse
from dovetail.loop.spend import Days, SpendBook, find_lower
from dovetail.settings.limits import LimitSettings
from dovetail.settings.section import keys_of
from dovetail.settings.sections import SubagentSettings
from dovetail.settings.value import Count, check_value

Limit: TypeAlias = Literal["max-turns", "timeout", "max-tokens"]
TREE = ("depth", "width", "total")
"""The limits of the agents below a run."""
LAST_SECONDS = 60.0
"""The longest time of a last turn; a run whose own limit is short keeps a tenth of it."""
_LIMITED = ("turns", "seconds", "tokens", "cost", "calls")
_HANDED_DOWN = ("seconds", "tokens", "cost", "calls", "depth", "total")


class RunLimits(TypedDict, total=False):
    """The limits of one run as a mapping, such as `{"turns": 5, "cost": 0.05}`; see `BudgetLimits`."""

    turns: int | None
    seconds: float | None
    tokens: int | None
    cost: float | None
    calls: int | None
    depth: int
    width: int
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetLimits:
    """The limits of one run; None means unlimited (or what the parent has left).

    `cost` is money in the currency of the prices, `calls` are requests to models; both, and `tokens`, count
    for the runs below it, too. `depth` limits the levels of children below the run, `width` the children that
    it starts itself, one after the other or at once, and `total` the runs below it at all depths.
    """

    turns: int | None = 30
    seconds: float | None = 600.0
    tokens: int | None = None
    cost: float | None = None
    calls: int | None = None
    depth: int = 3
    width: int = 50
    total: int = 200

    def __post_init__(self) -> None:
        if self.seconds is not None and not is_number(self.seconds):
            raise ConfigError(
                f"The time limit of a run must be a finite number of seconds or None, got {self.seconds!r}."
            )

    @classmethod
    def read(
        cls, limits: "BudgetLimits | Mapping[str, Any] | None", below: SubagentSettings | None = None
    ) -> "BudgetLimits":
        """Return limits that are given as such, or as a mapping such as `{"cost": 0.05}`.

        The settings of agents `below` the run supply what the mapping does not say of them.

        Raises:
            ConfigError: a name is unknown, or a value is of a wrong type.
        """
        if isinstance(limits, BudgetLimits):
            check_value(limits.turns, keys_of(LimitSettings)["turns"].hint, "limits.turns")
            return limits
        if not is_mapping(limits or {}):
            raise ConfigError(
                f"The limits of a run must be a table such as {{'cost': 0.05}}, got {limits!r}."
            )
        known, checked = [field.name for field in dataclasses.fields(cls)], keys_of(LimitSettings)
        tree = () if below is None else (below.max_depth, below.max_children, below.max_subagents)
        given = {name: value for name, value in zip(TREE, tree, strict=False) if value is not None}
        for name, value in (limits or {}).items():
            if name not in known:
                raise ConfigError(explain_unknown("limit", name, known))
            given[name] = check_value(
                value, checked[name].hint if name in checked else Count, f"limits.{name}"
            )
        return cls(**given)

    def within(self, limits: LimitSettings) -> "BudgetLimits":
        """Return the limits, none of them higher than those of the settings."""
        lower = {name: find_lower(getattr(self, name), getattr(limits, name)) for name in _LIMITED}
        return dataclasses.replace(self, **lower)

    def lowered(self, rest: "BudgetLimits") -> "BudgetLimits":
        """Return the limits, none of them higher than the `rest` of another run."""
        lower = {name: find_lower(getattr(self, name), getattr(rest, name)) for name in _HANDED_DOWN}
        return dataclasses.replace(self, **lower)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What a run had used before it was interrupted.

    `calls` are its requests to models. `children` counts the runs that it started itself, `descendants` those
    at all depths.
    """

    turns: int = 0
    calls: int = 0
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    children: int = 0
    descendants: int = 0


class Budget:
    """What is left of the limits of one run; `spent` is what it used before an interruption.

    `days` are the daily limits that it counts for, in addition to those of the runs above it.
    """

    def __init__(
        self,
        limits: BudgetLimits | None = None,
        *,
        parent: "Budget | None" = None,
        clock: Callable[[], float] = time.monotonic,
        spent: Spent | None = None,
        days: Days | None = None,
    ) -> None:
        spent = spent or Spent()
        self.limits = limits or BudgetLimits()
        self.purse = Purse(
            SpendLimits(cost=self.limits.cost, calls=self.limits.calls),
            Spending(cost=spent.usage.cost or 0.0, calls=spent.calls),
        )
        self.parent = parent
        self.usage = spent.usage
        self.turns = spent.turns
        self.on_pause: Callable[[bool], None] | None = None
        self._children = spent.children
        self._descendants = spent.descendants
        self._clock = clock
        self._days = days
        self._stopwatch = Stopwatch(clock, elapsed=spent.seconds)

    @property
    def depth_left(self) -> int:
        """The number of levels of children that may still be started below this run."""
        own = self.limits.depth
        return own if self.parent is None else min(own, self.parent.depth_left - 1)

    @property
    def purses(self) -> list[Purse]:
        """The purses of this run and of those above it, as far as they are limited."""
        return [budget.purse for budget in self._upwards() if budget.purse.limits.exist]

    @property
    def days(self) -> list[Days]:
        """The daily limits that this run counts for, and those above it: one entry for each book."""
        books: dict[SpendBook, dict[tuple[str, str], DayAccount]] = {}
        for budget in reversed([*self._upwards()]):
            if budget._days and budget._days.accounts:
                accounts = books.setdefault(budget._days.book, {})
                accounts |= {account.key: account for account in budget._days.accounts}
        return [
            Days(book, tuple(accounts[key] for key in sorted(accounts))) for book, accounts in books.items()
        ]

    @property
    def limits_spending(self) -> bool:
        """Whether money or requests are limited, for this run or one above it."""
        return bool(self.purses or self.days)

    def child(
        self, limits: BudgetLimits | None = None, days: Days | None = None, spent: Spent | None = None
    ) -> "Budget":
        """Return a budget for one more child; one that continues has `spent` and is counted already.

        Raises:
            ConfigError: the limit of depth, children or descendants is reached.
        """
        if spent is None:
            self._count_child()
        return Budget(limits, parent=self, clock=self._clock, spent=spent, days=days)

    def _count_child(self) -> None:
        if self.depth_left <= 0:
            raise _refuse("The depth limit for sub-agents is reached.", "max_depth")
        if self._children >= self.limits.width:
            raise _refuse(f"The limit of {self.limits.width} children is reached.", "max_children")
        full = next((one for one in self._upwards() if one._descendants >= one.limits.total), None)
        if full is not None:
            text = f"The limit of {full.limits.total} sub-agents in the whole run is reached."
            raise _refuse(text, "max_subagents")
        self._children += 1
        for budget in self._upwards():
            budget._descendants += 1

    def rest(self) -> BudgetLimits:
        """Return what is left at this moment, as limits of a run one level below that is on its own."""
        seconds, tokens, cost, calls = self.seconds_left(), None, None, None
        for budget in self._upwards():
            limits, used = budget.limits, budget.usage
            if limits.tokens is not None:
                left = limits.tokens - used.input_tokens - used.output_tokens
                tokens = find_lower(tokens, max(left, 0))
            if limits.cost is not None:
                cost = find_lower(cost, max(limits.cost - budget.purse.spent.cost, 0.0))
            if limits.calls is not None:
                calls = find_lower(calls, max(limits.calls - budget.purse.spent.calls, 0))
        return BudgetLimits(
            turns=None,
            seconds=None if seconds is None else max(seconds, 0.0),
            tokens=tokens,
            cost=cost,
            calls=calls,
            depth=max(self.depth_left - 1, 0),
            total=min(max(one.limits.total - one._descendants, 0) for one in self._upwards()),
        )

    def use_turn(self) -> None:
        """Count one turn; turns of a child do not count for its parent."""
        self.turns += 1

    def use_tokens(self, usage: Usage) -> None:
        """Count tokens for this run and its ancestors."""
        for budget in self._upwards():
            budget.usage = budget.usage + usage

    def reached(self, kept: float = 0.0) -> Limit | None:
        """Return the first limit that is reached, of this run or an ancestor; `kept` seconds do not count."""
        if self.limits.turns is not None and self.turns >= self.limits.turns:
            return "max-turns"
        for budget in self._upwards():
            used = budget.usage.input_tokens + budget.usage.output_tokens
            if budget.limits.tokens is not None and used >= budget.limits.tokens:
                return "max-tokens"
        left = self.seconds_left()
        return "timeout" if left is not None and left <= kept else None

    def explain(self, limit: Limit) -> str:
        """Return in words that a limit is reached, whose it is, and which one to raise."""
        if limit == "max-turns":
            return f"The limit of {self.limits.turns} turns is reached. {_name_remedy('turns')}"
        name = "seconds" if limit == "timeout" else "tokens"
        limited = [budget for budget in self._upwards() if getattr(budget.limits, name) is not None]
        reached = min(limited, key=lambda budget: budget._left(name), default=self)
        value = getattr(reached.limits, name) or 0
        if reached is self:
            return f"The limit of {value:,.10g} {name} is reached. {_name_remedy(name)}"
        return (
            f"The limit of {value:,.10g} {name} of an agent above this one is reached. "
            f"{_name_remedy(name, 'that agent')}"
        )

    def _left(self, name: str) -> float:
        """Return what is left of the own limit of tokens or seconds, as far as there is one."""
        limit = getattr(self.limits, name)
        used = self.elapsed() if name == "seconds" else self.usage.input_tokens + self.usage.output_tokens
        return float("inf") if limit is None else limit - used

    def seconds_left(self) -> float | None:
        """Return the time left to this run and its ancestors, who keep time for their last turn."""
        rests = [
            budget.limits.seconds - budget.elapsed() - (0.0 if budget is self else budget.last_seconds)
            for budget in self._upwards()
            if budget.limits.seconds is not None
        ]
        return min(rests, default=None)

    @property
    def last_seconds(self) -> float:
        """The part of the time limit that a run with tools keeps for its last turn."""
        return min(LAST_SECONDS, (self.limits.seconds or 0.0) / 10)

    def elapsed(self) -> float:
        """Return the seconds since the start, without the time in which a user was asked."""
        return self._stopwatch.elapsed()

    @property
    def is_paused(self) -> bool:
        """Whether the clock is paused."""
        return self._stopwatch.is_paused

    @contextmanager
    def paused(self) -> Generator[None]:
        """Pause the clocks of this run and its ancestors while a user is asked."""
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


def _name_remedy(name: str, agent: str = "the agent") -> str:
    """Return what to raise, in the words of programs and of agent files."""
    return f"Raise `limits={{'{name}': …}}` of `run`, or `max_{name}` of {agent}."


def _refuse(text: str, limit: str) -> ConfigError:
    return ConfigError(text, hint=f"Raise `{limit}` of the agent, or the setting `subagents.{limit}`.")


def find_budget(run: RunContext | None) -> Budget | None:
    """Return the budget of a run, if any."""
    return run.budget if run is not None and isinstance(run.budget, Budget) else None
