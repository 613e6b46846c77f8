"""What requests to models may spend: money and calls, as data that the loop and the store share.

A request is held with the most that it may cost before it is sent, and settled with what it did cost.
"""

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

SpendLimit: TypeAlias = Literal["max-cost", "max-calls"]
Scope: TypeAlias = Literal["service", "owner", "agent"]

_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class SpendLimits:
    """Money and requests to models; None means unlimited."""

    cost: float | None = None
    calls: int | None = None

    @property
    def exist(self) -> bool:
        """Whether anything is limited."""
        return self.cost is not None or self.calls is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """Money and requests that are spent; `cost` includes what is held for requests in progress."""

    cost: float = 0.0
    calls: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """The most that one request may cost, and what must be left after it for the last answer of a run."""

    cost: float = 0.0
    kept_cost: float = 0.0
    kept_calls: int = 0

    def find_shortage(self, limits: SpendLimits, spent: Spending) -> SpendLimit | None:
        """Return the limit that does not allow one more such request, if any."""
        if limits.calls is not None and spent.calls + 1 + self.kept_calls > limits.calls:
            return "max-calls"
        whole = spent.cost + self.cost + self.kept_cost
        return "max-cost" if limits.cost is not None and whole > limits.cost + _ROUNDING else None


@dataclass(frozen=True, slots=True, kw_only=True)
class DayAccount:
    """What one day allows: to the whole service, to one owner or to one agent."""

    scope: Scope
    name: str = ""
    limits: SpendLimits = field(default_factory=SpendLimits)

    @property
    def key(self) -> tuple[str, str]:
        """The identity of the account."""
        return self.scope, self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortage:
    """A limit that does not allow a request; `account` is None for the limit of a run."""

    limit: SpendLimit
    limits: SpendLimits
    spent: Spending
    need: Need
    account: DayAccount | None = None
