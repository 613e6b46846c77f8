"""Spend limits at work: the purse of each run, and the book of what each day has spent.

Promises: a request is sent only if its worst case fits into every limit that it counts for, also when others
are in progress at the same time, in this process or in another one that shares the database. What it did cost
replaces the worst case when its answer has ended; after a crash the worst case stays booked.
"""

import threading
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Protocol, TypeVar

from dovetail.errors import LimitError
from dovetail.events.run_context import current_context, current_run
from dovetail.events.spend import DayAccount, Need, Scope, Shortage, Spending, SpendLimits
from dovetail.requesters.warn import warn_once
from dovetail.settings import Settings
from dovetail.settings.limits import DayLimits, LimitSettings

N = TypeVar("N", int, float)

_lock = threading.Lock()
_SETTINGS: dict[Scope, str] = {
    "service": "limits.day",
    "owner": "limits.owner_day",
    "agent": "limits.agent_day",
}
_OWNERS: dict[Scope, str] = {"service": "all runs", "owner": "owner {!r}", "agent": "agent {!r}"}


def find_lower(one: N | None, other: N | None) -> N | None:
    """Return the lower of two limits; None means unlimited."""
    return other if one is None else one if other is None else min(one, other)


class Purse:
    """What one run may spend and has spent; the agents below it draw on it, too, in any thread."""

    def __init__(self, limits: SpendLimits, spent: Spending | None = None) -> None:
        spent = spent or Spending()
        self.limits = limits
        self.cost = spent.cost
        self.calls = spent.calls
        self.held = 0.0
        self._kept = Need()

    @property
    def spent(self) -> Spending:
        """What is spent or held."""
        return Spending(cost=self.cost + self.held, calls=self.calls)

    @staticmethod
    def hold(purses: Sequence["Purse"], need: Need) -> Shortage | None:
        """Hold what a request needs in all purses, or in none if one of them has too little."""
        with _lock:
            for purse in purses:
                whole = purse._add_kept(need)
                limit = whole.find_shortage(purse.limits, purse.spent)
                if limit is not None:
                    return Shortage(limit=limit, limits=purse.limits, spent=purse.spent, need=whole)
            for purse in purses:
                purse.calls += 1
                purse.held += need.cost
        return None

    @staticmethod
    def settle(purses: Sequence["Purse"], need: Need, cost: float | None) -> None:
        """Replace what was held by the cost; None if the request was never sent."""
        with _lock:
            for purse in purses:
                purse.held = max(purse.held - need.cost, 0.0)
                purse.cost += cost or 0.0
                purse.calls -= cost is None

    @staticmethod
    @contextmanager
    def keep(purses: Sequence["Purse"], need: Need) -> Generator[None]:
        """Keep what the last answer of a run needs, while the calls of that run may spend the rest."""
        with _lock:
            for purse in purses:
                purse._kept = purse._add_kept(need)
        try:
            yield
        finally:
            less = Need(kept_cost=-need.kept_cost, kept_calls=-need.kept_calls)
            with _lock:
                for purse in purses:
                    purse._kept = purse._add_kept(less)

    def _add_kept(self, need: Need) -> Need:
        """Return the need with what is kept in this purse."""
        kept = self._kept
        return replace(
            need, kept_cost=need.kept_cost + kept.kept_cost, kept_calls=need.kept_calls + kept.kept_calls
        )


class SpendTable(Protocol):
    """Where the spending of days is kept; each method is one atomic step."""

    async def reserve(self, day: str, accounts: Sequence[DayAccount], need: Need) -> Shortage | None:
        """Book what a request needs in all accounts, or in none if one of them has too little."""
        ...

    async def correct(self, day: str, accounts: Sequence[DayAccount], cost: float, calls: int = 0) -> None:
        """Add to what is booked."""
        ...

    async def read(self, day: str, accounts: Sequence[DayAccount]) -> list[Spending]:
        """Return what is booked in each account."""
        ...


class MemoryTable:
    """The spending of days of this process."""

    def __init__(self) -> None:
        self._spent: dict[tuple[str, str, str], Spending] = {}
        self._day = ""

    async def reserve(self, day: str, accounts: Sequence[DayAccount], need: Need) -> Shortage | None:
        """Book what a request needs in all accounts, or in none if one of them has too little."""
        with _lock:
            for account in accounts:
                spent = self._get(day, account)
                limit = need.find_shortage(account.limits, spent)
                if limit is not None:
                    return Shortage(
                        limit=limit, limits=account.limits, spent=spent, need=need, account=account
                    )
            self._add(day, accounts, need.cost, 1)
        return None

    async def correct(self, day: str, accounts: Sequence[DayAccount], cost: float, calls: int = 0) -> None:
        """Add to what is booked."""
        with _lock:
            self._add(day, accounts, cost, calls)

    async def read(self, day: str, accounts: Sequence[DayAccount]) -> list[Spending]:
        """Return what is booked in each account."""
        return [self._get(day, account) for account in accounts]

    def _get(self, day: str, account: DayAccount) -> Spending:
        return self._spent.get((day, *account.key), Spending())

    def _add(self, day: str, accounts: Sequence[DayAccount], cost: float, calls: int) -> None:
        for account in accounts:
            spent = self._get(day, account)
            self._spent[(day, *account.key)] = Spending(cost=spent.cost + cost, calls=spent.calls + calls)
        if day > self._day:  # earlier days are over, but for requests that began on the last one
            self._spent = {key: spent for key, spent in self._spent.items() if key[0] >= self._day}
            self._day = day


class SpendBook:
    """The spending of days (UTC): in memory, or in the database of a service once it is opened (`table`)."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self.table: SpendTable | None = None
        self._memory = MemoryTable()
        self._clock = clock

    async def reserve(self, accounts: Sequence[DayAccount], need: Need) -> str:
        """Book what a request needs; return the day that it counts for.

        Raises:
            LimitError: one of the accounts has too little left.
        """
        day = self.today
        shortage = await self._tables.reserve(day, accounts, need)
        if shortage is not None:
            raise explain_shortage(shortage, self._clock())
        return day

    async def correct(self, day: str, accounts: Sequence[DayAccount], cost: float, calls: int = 0) -> None:
        """Add to what is booked."""
        await self._tables.correct(day, accounts, cost, calls)

    async def read(self, accounts: Sequence[DayAccount]) -> list[Spending]:
        """Return what today has spent of each account."""
        return await self._tables.read(self.today, accounts)

    async def check(self, accounts: Sequence[DayAccount]) -> None:
        """Check that the day has not spent all that the accounts allow.

        Raises:
            LimitError: nothing is left in one of them.
        """
        if not accounts:
            return
        for account, spent in zip(accounts, await self.read(accounts), strict=True):
            limits = account.limits
            is_spent = limits.cost is not None and 0 < limits.cost <= spent.cost
            limit = Need().find_shortage(limits, spent) or ("max-cost" if is_spent else None)
            if limit is not None:
                shortage = Shortage(limit=limit, limits=limits, spent=spent, need=Need(), account=account)
                raise explain_shortage(shortage, self._clock())

    @property
    def _tables(self) -> SpendTable:
        return self.table or self._memory

    @property
    def today(self) -> str:
        """The day that is counted now, as in 2026-11-16."""
        return datetime.fromtimestamp(self._clock(), UTC).date().isoformat()


@dataclass(frozen=True, slots=True)
class Days:
    """The daily limits of a run: the accounts that it counts for, and the book that they are in."""

    book: SpendBook
    accounts: tuple[DayAccount, ...] = ()


def open_days(
    book: SpendBook,
    settings: Settings,
    agent: str,
    *,
    owner: str | None = None,
    own: SpendLimits | None = None,
) -> Days:
    """Return the daily limits of a run of an agent; `own` are those of the agent itself.

    Without an `owner` it is the one of the request, run or call that this code works for, if any.
    """
    limits, own = settings.section(LimitSettings), own or SpendLimits()
    owner = owner or current_context().owner
    if owner is None and current_run() is None and _read(limits.owner_day).exist:
        warn_once("limits.owner_day has no effect in a program: only the runs of a server have owners.")
    per_agent = SpendLimits(
        cost=find_lower(limits.agent_day.cost, own.cost), calls=find_lower(limits.agent_day.calls, own.calls)
    )
    accounts = [
        DayAccount(scope="agent", name=agent, limits=per_agent),
        DayAccount(
            scope="owner", name=owner or "", limits=_read(limits.owner_day) if owner else SpendLimits()
        ),
        DayAccount(scope="service", limits=_read(limits.day)),
    ]
    return Days(book, tuple(account for account in accounts if account.limits.exist))


def explain_shortage(shortage: Shortage, now: float = 0.0, run: str = "this run") -> LimitError:
    """Return the error for a limit: what is limited, what is spent, and what would help.

    `run` is whose limit it is, unless it is that of a day.
    """
    account = shortage.account
    name = "cost" if shortage.limit == "max-cost" else "calls"
    if account is None:
        hint = f"Raise `limits.{name}` or the agent's `max_{name}`, whichever is lower."
        return LimitError(_describe(shortage, run), limit=shortage.limit, hint=hint)
    reset = datetime.fromtimestamp(now, UTC).date() + timedelta(days=1)
    owner = _OWNERS[account.scope].format(account.name)
    key = f"{_SETTINGS[account.scope]}.{name}"
    also = f" or the agent's `max_{name}_per_day`, whichever is lower" if account.scope == "agent" else ""
    return LimitError(
        _describe(shortage, f"{owner} for today"),
        limit=shortage.limit,
        resets_at=datetime(reset.year, reset.month, reset.day, tzinfo=UTC).timestamp(),
        hint=f"It resets at {reset} 00:00 UTC. To allow more, raise `{key}`{also}.",
    )


def _describe(shortage: Shortage, owner: str) -> str:
    limits, spent, need = shortage.limits, shortage.spent, shortage.need
    if shortage.limit == "max-calls":
        return f"The limit of {limits.calls} requests to models of {owner} is reached."
    used = f"{_show(spent.cost)} of {_show(limits.cost or 0)} is used"
    if not need.cost:
        return f"The cost limit of {owner} is reached: {used}."
    most = f"the request may cost up to {_show(need.cost)}"
    kept = f", and {_show(need.kept_cost)} is kept for the last answer" if need.kept_cost else ""
    return f"The cost limit of {owner} does not allow the next request: {used}, {most}{kept}."


def _read(limits: DayLimits) -> SpendLimits:
    return SpendLimits(cost=limits.cost, calls=limits.calls)


def _show(amount: float) -> str:
    return f"{amount:.6f}".rstrip("0").rstrip(".")
