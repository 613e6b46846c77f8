"""What each day has spent, in the memory of a process; the twin of `store/spending.py`."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dovetail.events.spend import Booking, DayAccount, Need, Shortage, Spending

_lock = threading.Lock()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Held:
    """What is held in accounts; for a last answer, also its request (`calls`)."""

    day: str
    accounts: Sequence[DayAccount]
    run_id: str
    cost: float
    calls: int = 0


class MemoryTable:
    """The spending of days of this process."""

    def __init__(self) -> None:
        self._spent: dict[tuple[str, str, str], Spending] = {}
        self._held: dict[str, _Held] = {}
        self._day = ""

    async def reserve(
        self, day: str, accounts: Sequence[DayAccount], need: Need, booking: Booking | None = None
    ) -> Shortage | None:
        """Book what a request needs in all accounts, or in none if one of them has too little."""
        with _lock:
            kept = self._give_back(booking.last_id) if booking else None
            shortage = self._find_shortage(day, accounts, need)
            if shortage is None:
                self._add(day, accounts, Spending(cost=need.cost, calls=1))
                if booking is not None:
                    run_id, calls = booking.run_id, need.kept_calls
                    held = _Held(day=day, accounts=accounts, run_id=run_id, cost=need.cost)
                    self._held[booking.request_id] = held
                    kept = _Held(day=day, accounts=accounts, run_id=run_id, cost=need.kept_cost, calls=calls)
            if booking is not None and kept is not None and kept.calls:
                self._held[booking.last_id] = kept
                self._add(kept.day, kept.accounts, Spending(cost=kept.cost, calls=kept.calls))
            return shortage

    async def settle(
        self, day: str, accounts: Sequence[DayAccount], request_id: str, held: float, spent: Spending
    ) -> None:
        """Replace what is held for a request by what it has spent."""
        with _lock:
            cost = spent.cost - (held if self._held.pop(request_id, None) else 0.0)
            self._add(day, accounts, Spending(cost=cost, calls=spent.calls - 1, tokens=spent.tokens))

    async def release(self, *, run_id: str = "", last_id: str = "") -> None:
        """Give back what is held for a run, or what is kept for its last answer."""
        with _lock:
            of_run = [name for name, held in self._held.items() if run_id and held.run_id == run_id]
            for name in (*of_run, last_id):
                self._give_back(name)

    async def correct(self, day: str, accounts: Sequence[DayAccount], cost: float, calls: int = 0) -> None:
        """Add to what is booked."""
        with _lock:
            self._add(day, accounts, Spending(cost=cost, calls=calls))

    async def read(self, day: str, accounts: Sequence[DayAccount]) -> list[Spending]:
        """Return what is booked in each account."""
        return [self._get(day, account) for account in accounts]

    def _find_shortage(self, day: str, accounts: Sequence[DayAccount], need: Need) -> Shortage | None:
        for account in accounts:
            spent, limits = self._get(day, account), account.limits
            if (limit := need.find_shortage(limits, spent)) is not None:
                held = sum(self._list_held(lambda one, key=account.key: key in _list_keys(one.accounts)))
                settled = Spending(cost=spent.cost - held, calls=spent.calls)
                may_fit = bool(held) and limit == "max-cost" and not need.find_shortage(limits, settled)
                return Shortage(
                    limit=limit, limits=limits, spent=spent, need=need, account=account, may_fit=may_fit
                )
        return None

    def _list_held(self, is_meant: Callable[[_Held], bool]) -> list[float]:
        """Return what requests in progress hold; what is kept for a last answer is not for others."""
        return [held.cost for held in self._held.values() if not held.calls and is_meant(held)]

    def _give_back(self, name: str) -> _Held | None:
        held = self._held.pop(name, None)
        if held is not None:
            self._add(held.day, held.accounts, Spending(cost=-held.cost, calls=-held.calls))
        return held

    def _get(self, day: str, account: DayAccount) -> Spending:
        return self._spent.get((account.day or day, *account.key), Spending())

    def _add(self, day: str, accounts: Sequence[DayAccount], more: Spending) -> None:
        for account in accounts:
            spent = self._get(day, account)
            self._spent[(account.day or day, *account.key)] = Spending(
                cost=spent.cost + more.cost,
                calls=spent.calls + more.calls,
                tokens=spent.tokens + more.tokens,
            )
        if day > self._day:  # earlier days are over, but for requests that began on the last one
            self._spent = {key: spent for key, spent in self._spent.items() if key[0] >= self._day}
            self._day = day


def _list_keys(accounts: Sequence[DayAccount]) -> list[tuple[str, str]]:
    return [account.key for account in accounts]
