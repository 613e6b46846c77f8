"""What requests to models may spend: money and calls, as data that the loop and the store share.

A request is held with the most that it may cost before it is sent, and settled with what it did cost.
"""

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

SpendLimit: TypeAlias = Literal["max-cost", "max-calls", "max-tokens"]
Scope: TypeAlias = Literal["service", "owner", "agent", "run"]

_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class SpendLimits:
    """Money and requests to models, and the tokens of a run; None means unlimited."""

    cost: float | None = None
    calls: int | None = None
    tokens: int | None = None

    @property
    def exist(self) -> bool:
        """Whether anything is limited."""
        return (self.cost, self.calls, self.tokens) != (None, None, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """What is spent; `cost` includes what is held for requests in progress."""

    cost: float = 0.0
    calls: int = 0
    tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """The most that one request may cost, and what must be left after it for the last answer of a run.

    The last answer itself (`is_last`) may exceed a limit of tokens, which is checked before each request.
    """

    cost: float = 0.0
    kept_cost: float = 0.0
    kept_calls: int = 0
    is_last: bool = False

    def find_shortage(self, limits: SpendLimits, spent: Spending) -> SpendLimit | None:
        """Return the limit that does not allow one more such request, if any."""
        if limits.tokens is not None and spent.tokens >= limits.tokens and not self.is_last:
            return "max-tokens"
        if limits.calls is not None and spent.calls + 1 + self.kept_calls > limits.calls:
            return "max-calls"
        whole = spent.cost + self.cost + self.kept_cost
        return "max-cost" if limits.cost is not None and whole > limits.cost + _ROUNDING else None


@dataclass(frozen=True, slots=True, kw_only=True)
class DayAccount:
    """What one day allows: to the whole service, to one owner or to one agent.

    One of the scope `run` is what a run allows, with all agents below it, in other processes too; its `day`
    is the one on which the run began.
    """

    scope: Scope
    name: str = ""
    limits: SpendLimits = field(default_factory=SpendLimits)
    day: str | None = None

    @property
    def key(self) -> tuple[str, str]:
        """The identity of the account."""
        return self.scope, self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Booking:
    """The names under which accounts hold a request, and what its run keeps for its last answer.

    Settling a request returns the first; a request that comes later replaces the second. What is still
    held when a run continues after a crash, or ends, is given back by `run_id`.
    """

    request_id: str
    last_id: str
    run_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortage:
    """A limit that does not allow a request; `account` is None for the limit of a run.

    `may_fit`: it fits once the requests in progress have ended, if they cost nothing.
    """

    limit: SpendLimit
    limits: SpendLimits
    spent: Spending
    need: Need
    account: DayAccount | None = None
    may_fit: bool = False
