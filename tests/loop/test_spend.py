"""Purses, daily accounts and the words of a limit."""

import asyncio

import pytest

from dovetail.errors import LimitError
from dovetail.events.spend import DayAccount, Need, Spending, SpendLimits
from dovetail.loop.purse import Purse
from dovetail.loop.spend import SpendBook, find_lower, open_days
from dovetail.settings import Settings

NOON = 1_800_014_400.0  # 2027-01-15 12:00 UTC


def test_a_request_is_held_in_every_purse_or_in_none() -> None:
    rich, poor = Purse(SpendLimits(cost=5)), Purse(SpendLimits(cost=1))
    assert Purse.hold([rich, poor], Need(cost=0.6)) is None
    shortage = Purse.hold([rich, poor], Need(cost=0.6))
    assert shortage is not None
    assert (shortage.limit, shortage.limits, shortage.spent.cost) == ("max-cost", poor.limits, 0.6)
    assert rich.spent == poor.spent == Spending(cost=0.6, calls=1)


def test_the_cost_replaces_what_was_held() -> None:
    purse = Purse(SpendLimits(cost=1, calls=2))
    need = Need(cost=0.9)
    assert Purse.hold([purse], need) is None
    Purse.settle([purse], need, 0.1)
    assert purse.spent == Spending(cost=0.1, calls=1)
    assert Purse.hold([purse], need) is None
    Purse.settle([purse], need, None)  # it was never sent
    assert purse.spent == Spending(cost=0.1, calls=1)


def test_what_is_kept_for_the_last_answer_is_not_spent_before() -> None:
    purse = Purse(SpendLimits(calls=2), Spending(calls=1))
    assert Purse.hold([purse], Need(kept_calls=1)) is not None
    assert Purse.hold([purse], Need()) is None
    purse = Purse(SpendLimits(cost=1.0))
    assert Purse.hold([purse], Need(cost=0.7, kept_cost=0.4)) is not None
    assert Purse.hold([purse], Need(cost=0.7, kept_cost=0.3)) is None


def test_a_limit_of_zero_allows_only_free_requests() -> None:
    assert Purse.hold([Purse(SpendLimits(cost=0))], Need(cost=0)) is None
    assert Purse.hold([Purse(SpendLimits(cost=0))], Need(cost=0.001)) is not None


def test_the_lower_limit_counts() -> None:
    assert [find_lower(None, None), find_lower(1, None), find_lower(None, 2), find_lower(3, 2)] == [
        None,
        1,
        2,
        2,
    ]


async def test_a_day_allows_what_it_allows_and_the_next_begins_empty() -> None:
    now = [NOON]
    book = SpendBook(lambda: now[0])
    owner = DayAccount(scope="owner", name="ada", limits=SpendLimits(calls=2, cost=1))
    for _ in range(2):
        await book.reserve([owner], Need(cost=0.1))
    with pytest.raises(
        LimitError, match="The limit of 2 requests to models of owner 'ada' for today"
    ) as caught:
        await book.reserve([owner], Need(cost=0.1))
    assert caught.value.hint == (
        "It resets at 2027-01-16 00:00 UTC. To allow more, raise `limits.owner_day.calls`."
    )
    assert caught.value.resets_at == NOON + 12 * 3600
    now[0] += 12 * 3600
    await book.reserve([owner], Need(cost=0.1))


async def test_a_request_that_one_account_refuses_is_booked_in_none() -> None:
    book = SpendBook(lambda: NOON)
    owner = DayAccount(scope="owner", name="ada", limits=SpendLimits(cost=9))
    service = DayAccount(scope="service", limits=SpendLimits(cost=1))
    with pytest.raises(
        LimitError, match=r"of all runs for today does not allow .*: 0 of 1 is used.* up to 2\."
    ):
        await book.reserve([owner, service], Need(cost=2))
    await book.reserve([owner], Need(cost=9))


async def test_the_day_is_checked_before_a_run_begins() -> None:
    book = SpendBook(lambda: NOON)
    account = DayAccount(scope="agent", name="writer", limits=SpendLimits(cost=1, calls=5))
    await book.check([account])
    day = await book.reserve([account], Need(cost=0.5))
    await book.check([account])
    await book.correct(day, [account], 0.5)
    with pytest.raises(LimitError, match="cost limit of agent 'writer' for today is reached: 1 of 1 is used"):
        await book.check([account])


def test_only_limited_accounts_are_kept_and_the_agents_own_limit_may_be_lower() -> None:
    settings = Settings({"limits": {"agent_day": {"cost": 3}, "owner_day": {"calls": 7}}})
    days = open_days(SpendBook(), settings, "writer", owner="ada", own=SpendLimits(cost=2, calls=9))
    assert days.accounts == (
        DayAccount(scope="agent", name="writer", limits=SpendLimits(cost=2, calls=9)),
        DayAccount(scope="owner", name="ada", limits=SpendLimits(calls=7)),
    )
    assert open_days(SpendBook(), Settings({}), "writer", owner="ada").accounts == ()


async def test_threads_cannot_take_the_last_of_a_day_twice() -> None:
    book = SpendBook()
    account = DayAccount(scope="service", limits=SpendLimits(calls=50))

    def spend() -> int:
        taken = 0
        while True:
            try:
                asyncio.run(book.reserve([account], Need()))
            except LimitError:
                return taken
            taken += 1

    assert sum(await asyncio.gather(*(asyncio.to_thread(spend) for _ in range(4)))) == 50
