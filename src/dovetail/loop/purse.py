"""The purse of a run: what it may spend and has spent, shared with the agents below it in this process."""

import asyncio
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace

from dovetail.events.spend import Need, Shortage, Spending, SpendLimits

_lock = threading.Lock()


@dataclass(slots=True)
class _Changes:
    """How many requests have been settled, and who waits for the next one."""

    count: int = 0
    waiting: list[tuple[asyncio.AbstractEventLoop, "asyncio.Future[None]"]] = field(
        default_factory=list[tuple[asyncio.AbstractEventLoop, "asyncio.Future[None]"]]
    )


_changes = _Changes()


def _wake(future: "asyncio.Future[None]") -> None:
    if not future.done():
        future.set_result(None)


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
                    settled = Spending(cost=purse.cost, calls=purse.calls)
                    return Shortage(
                        limit=limit,
                        limits=purse.limits,
                        spent=purse.spent,
                        need=whole,
                        may_fit=limit == "max-cost" and whole.find_shortage(purse.limits, settled) is None,
                    )
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
            _changes.count += 1
            waiting, _changes.waiting = _changes.waiting, []
        for loop, future in waiting:
            with suppress(RuntimeError):  # the loop of a thread that is over
                loop.call_soon_threadsafe(_wake, future)

    @staticmethod
    def count_settled() -> int:
        """Return how many requests have been settled, in all purses."""
        return _changes.count

    @staticmethod
    async def wait_for_settled(seen: int) -> None:
        """Wait until another request has been settled, in any thread, since `seen` were."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[None] = loop.create_future()
        with _lock:
            if _changes.count != seen:
                return
            _changes.waiting.append((loop, future))
        await future

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
