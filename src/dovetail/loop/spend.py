"""The book of what each day, and each run with tasks in the background, has spent.

Promises: a request is sent only if its worst case fits into every limit that it counts for, also when others
are in progress at the same time, in this process or in another one that shares the database. What it did cost
replaces the worst case when its answer has ended. After a crash the run that continues returns it: the
cost of the request was never reported.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Protocol, TypeVar

from dovetail.errors import LimitError
from dovetail.events.run_context import current_context, current_run
from dovetail.events.spend import Booking, DayAccount, Need, Scope, Shortage, Spending, SpendLimits
from dovetail.loop.memory_table import MemoryTable
from dovetail.requesters.warn import warn_once
from dovetail.settings import Settings
from dovetail.settings.limits import DayLimits, LimitSettings

N = TypeVar("N", int, float)

_FIRST_PAUSE = 0.02
_LONGEST_PAUSE = 1.0
"""Seconds between two looks for money that other requests hold."""
_SETTINGS: dict[Scope, str] = {
    "service": "limits.day",
    "owner": "limits.owner_day",
    "agent": "limits.agent_day",
}
_OWNERS: dict[Scope, str] = {"service": "all runs", "owner": "owner {!r}", "agent": "agent {!r}"}
_TREE = "a run with all agents and tasks below it"


def find_lower(one: N | None, other: N | None) -> N | None:
    """Return the lower of two limits; None means unlimited."""
    return other if one is None else one if other is None else min(one, other)


class SpendTable(Protocol):
    """Where the spending of days is kept; each method is one atomic step."""

    async def reserve(
        self, day: str, accounts: Sequence[DayAccount], need: Need, booking: Booking | None = None
    ) -> Shortage | None:
        """Book what a request needs in all accounts, or in none if one of them has too little.

        What is kept for the last answer is booked as well, in place of what was kept before.
        """
        ...

    async def settle(
        self, day: str, accounts: Sequence[DayAccount], request_id: str, held: float, spent: Spending
    ) -> None:
        """Replace what is held for a request by what it has spent."""
        ...

    async def release(self, *, run_id: str = "", last_id: str = "") -> None:
        """Give back what is held for a run, or what is kept for its last answer."""
        ...

    async def correct(self, day: str, accounts: Sequence[DayAccount], cost: float, calls: int = 0) -> None:
        """Add to what is booked."""
        ...

    async def read(self, day: str, accounts: Sequence[DayAccount]) -> list[Spending]:
        """Return what is booked in each account."""
        ...


class SpendBook:
    """The spending of days (UTC): in memory, or in the database of a service once it is opened (`table`)."""

    def __init__(self, clock: Callable[[], float] | None = None) -> None:
        self.table: SpendTable | None = None
        self._memory = MemoryTable()
        self._clock = clock or time.time

    async def reserve(
        self,
        accounts: Sequence[DayAccount],
        need: Need,
        booking: Booking | None = None,
        *,
        waits: bool = False,
    ) -> str:
        """Book what a request needs; return the day that it counts for.

        One that `waits` does so while requests in progress hold what it needs, here or elsewhere.

        Raises:
            LimitError: one of the accounts has too little left.
        """
        pause = _FIRST_PAUSE
        while True:
            day = self.today
            shortage = await self._tables.reserve(day, accounts, need, booking)
            if shortage is None:
                return day
            if not (waits and shortage.may_fit):
                raise explain_shortage(shortage, self._clock())
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)

    async def settle(
        self, day: str, accounts: Sequence[DayAccount], request_id: str, held: float, spent: Spending
    ) -> None:
        """Replace what is held for a request by what it has spent."""
        await self._tables.settle(day, accounts, request_id, held, spent)

    async def release(self, *, run_id: str = "", last_id: str = "") -> None:
        """Give back what is held for a run, or what is kept for its last answer."""
        await self._tables.release(run_id=run_id, last_id=last_id)

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
    name = shortage.limit.removeprefix("max-")
    if account is None or account.scope == "run":
        hint = f"Raise `limits.{name}` or the agent's `max_{name}`, whichever is lower."
        return LimitError(_describe(shortage, _TREE if account else run), limit=shortage.limit, hint=hint)
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
    if shortage.limit == "max-tokens":
        return f"The limit of {limits.tokens:,} tokens of {owner} is reached."
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
