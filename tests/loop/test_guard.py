"""A request is sent only if its worst case fits into every limit."""

import asyncio
from contextlib import aclosing
from typing import Any

import pytest

from dovetail.errors import ConfigError, LimitError, ModelError
from dovetail.events.call import ModelRequest
from dovetail.events.delta import Usage
from dovetail.events.spend import DayAccount, Spending, SpendLimits
from dovetail.loop.budget import Budget, BudgetLimits, Spent
from dovetail.loop.guard import GuardedRequester, guard
from dovetail.loop.spend import Days, SpendBook
from dovetail.requesters.fallback import FallbackRequester
from dovetail.requesters.prices import Price
from dovetail.testing import Gate, Reply, ScriptedRequester
from patience import PATIENCE

PRICE = Price(input=1.0, output=10.0)
USAGE = Usage(input_tokens=1_000, output_tokens=100)  # costs 0.002
ASKED = ModelRequest(messages=[{"role": "user", "content": "Hi"}], options={"max_tokens": 1_000})


def make(replies: list[Any], **limits: Any) -> tuple[ScriptedRequester, GuardedRequester, Budget]:
    requester = ScriptedRequester(replies)
    budget = Budget(BudgetLimits(**limits))
    return requester, GuardedRequester(requester, budget, PRICE), budget


async def read(requester: Any, request: ModelRequest = ASKED) -> None:
    async with aclosing(requester.stream(request)) as deltas:
        async for _ in deltas:
            pass


def answer(text: str = "Hello.", usage: Usage = USAGE) -> Reply:
    return Reply(text=text, usage=usage)


def test_without_limits_nothing_stands_in_between() -> None:
    requester = ScriptedRequester([])
    assert guard(requester, Budget(), PRICE) is requester
    assert guard(requester, Budget(BudgetLimits(calls=1)), PRICE) is not requester


async def test_a_request_whose_worst_case_does_not_fit_is_not_sent() -> None:
    requester, guarded, budget = make([answer()] * 9, cost=0.0151)
    for _ in range(3):  # each may cost 0.01 and costs 0.002
        await read(guarded)
    assert budget.purse.spent == Spending(cost=0.006, calls=3)
    with pytest.raises(
        LimitError, match=r"0\.006 of 0\.0151 is used, the request may cost up to 0\.01"
    ) as caught:
        await read(guarded)
    assert caught.value.limit == "max-cost"
    assert caught.value.hint == "Raise `limits.cost` or the agent's `max_cost`, whichever is lower."
    assert len(requester.requests) == 3


async def test_requests_are_counted_whatever_they_cost() -> None:
    requester, guarded, _ = make([answer()] * 9, calls=2)
    await read(guarded)
    await read(guarded)
    with pytest.raises(LimitError, match="The limit of 2 requests to models of this run is reached"):
        await read(guarded)
    assert len(requester.requests) == 2


async def test_money_cannot_be_limited_without_a_price() -> None:
    requester = ScriptedRequester(["Hello."], model="acme:new")
    guarded = GuardedRequester(requester, Budget(BudgetLimits(cost=5)), None)
    with pytest.raises(ConfigError, match=r"the price of 'acme:new' is not known") as caught:
        await read(guarded)
    assert 'model.prices."acme:new"' in (caught.value.hint or "")
    assert requester.requests == []
    await read(GuardedRequester(requester, Budget(BudgetLimits(calls=5)), None))


async def test_without_a_limit_of_its_length_a_usual_answer_is_assumed() -> None:
    _, guarded, _ = make([answer()] * 2, cost=0.03)
    with pytest.raises(LimitError, match=r"may cost up to 0\.0400"):
        await read(guarded, ModelRequest(messages=ASKED.messages))


async def test_the_length_in_the_options_of_the_request_comes_before_that_of_the_requester() -> None:
    requester, guarded, budget = make([answer()] * 3, cost=0.011)
    requester.options = {"max_completion_tokens": 1000}
    await read(guarded, ModelRequest(messages=ASKED.messages))
    with pytest.raises(LimitError, match=r"may cost up to 0\.02"):
        await read(guarded, ModelRequest(messages=ASKED.messages, options={"max_tokens": 2_000}))
    assert budget.purse.calls == 1


async def test_the_model_is_limited_to_the_length_that_is_assumed() -> None:
    requester, guarded, _ = make([answer()] * 9, cost=0.045)
    await read(guarded, ModelRequest(messages=ASKED.messages))
    assert (requester.requests[0].longest, requester.requests[0].options) == (4_000, {})
    guarded.phase = "last"
    long = ModelRequest(messages=ASKED.messages, options={"max_completion_tokens": 9_000, "seed": 1})
    await read(guarded, long)
    assert requester.requests[1].options == {"max_tokens": 1_000, "seed": 1}
    guarded.phase = "only"
    with pytest.raises(LimitError, match=r"may cost up to 0\.09"):
        await read(guarded, long)


async def test_of_several_models_the_longest_answer_counts_and_the_one_without_a_price_is_named() -> None:
    first, second = ScriptedRequester([], model="a:one"), ScriptedRequester([], model="b:two")
    first.options, second.options = {"max_tokens": 100}, {"max_tokens": 10_000}
    several = FallbackRequester([first, second])
    budget = Budget(BudgetLimits(cost=0.05))
    with pytest.raises(LimitError, match=r"may cost up to 0\.1"):
        await read(GuardedRequester(several, budget, PRICE), ModelRequest(messages=ASKED.messages))
    first.price = PRICE
    with pytest.raises(ConfigError, match="the price of 'b:two' is not known"):
        await read(GuardedRequester(several, budget, several.price))


async def test_tools_and_schema_are_paid_for_too() -> None:
    _, guarded, _ = make([answer()], cost=0.011)
    long = ModelRequest(messages=ASKED.messages, options=ASKED.options, schema={"title": "x" * 6_000})
    with pytest.raises(LimitError, match=r"may cost up to 0\.012"):
        await read(guarded, long)


async def test_a_refused_request_costs_nothing_and_is_counted() -> None:
    _, guarded, budget = make([Reply(status=500)], cost=1, calls=5)
    with pytest.raises(ModelError):
        await read(guarded)
    assert budget.purse.spent == Spending(cost=0.0, calls=1)


async def test_an_answer_that_is_left_early_costs_what_it_had_sent() -> None:
    _, guarded, budget = make([answer("x" * 3_000)], cost=1)
    async with aclosing(guarded.stream(ASKED)) as deltas:
        await anext(deltas)
    assert budget.purse.held == 0
    assert 0.0 < budget.purse.cost < 0.02


async def test_a_model_that_reports_no_usage_is_estimated() -> None:
    _, guarded, budget = make([answer("x" * 3_000, Usage())], cost=1)
    await read(guarded)
    assert budget.purse.cost == pytest.approx(0.01, abs=0.001)


async def test_the_cost_that_a_requester_reports_counts() -> None:
    _, guarded, budget = make([answer(usage=Usage(1_000, 100, cost=0.5))], cost=1)
    await read(guarded)
    assert budget.purse.spent == Spending(cost=0.5, calls=1)


async def test_child_waits_for_the_money_that_others_hold_and_cannot_overdraw_its_parent() -> None:
    gates = [Gate(), Gate()]
    requester = ScriptedRequester(
        [Reply(steps=["Hello.", gate], usage=USAGE) for gate in gates] + [answer()] * 2
    )
    parent = Budget(BudgetLimits(cost=0.025))
    children = [GuardedRequester(requester, parent.child(), PRICE) for _ in range(3)]
    reading = [asyncio.create_task(read(child)) for child in children[:2]]
    for gate in gates:
        await gate.reached.async_wait()
    waiting = asyncio.create_task(read(children[2]))
    await asyncio.wait([waiting], timeout=0.02)
    assert (waiting.done(), len(requester.requests)) == (False, 2)
    for gate in gates:
        gate.open()
    await asyncio.gather(*reading, waiting)
    assert parent.purse.spent.cost == pytest.approx(0.006)


async def test_child_that_cannot_fit_after_the_others_fails_when_they_have_ended() -> None:
    gate = Gate()
    requester = ScriptedRequester(
        [Reply(steps=["Hello.", gate], usage=Usage(1000, 1000, cost=0.02)), answer()]
    )
    parent = Budget(BudgetLimits(cost=0.02))
    first, second = (GuardedRequester(requester, parent.child(), PRICE) for _ in range(2))
    reading = asyncio.create_task(read(first))
    await gate.reached.async_wait()
    waiting = asyncio.create_task(read(second))
    poor = GuardedRequester(requester, parent.child(BudgetLimits(cost=0.001)), PRICE)
    with pytest.raises(LimitError, match=r"0 of 0\.001 is used"):  # it never fits: nothing to wait for
        await read(poor)
    gate.open()
    with pytest.raises(LimitError, match=r"0\.02 of 0\.02 is used"):
        await waiting
    await reading


async def test_many_children_with_money_for_one_request_at_a_time_all_get_their_turn() -> None:
    requester = ScriptedRequester([answer()] * 40)
    book = SpendBook()
    day = DayAccount(scope="service", limits=SpendLimits(cost=0.09))
    parent = Budget(BudgetLimits(cost=0.09), days=Days(book, (day,)))
    own = [parent.child(BudgetLimits(cost=0.05)) for _ in range(40)]
    async with asyncio.timeout(PATIENCE):
        await asyncio.gather(*(read(GuardedRequester(requester, one, PRICE)) for one in own))
    assert (await book.read([day]))[0].cost == pytest.approx(parent.purse.spent.cost)
    assert parent.purse.calls == 40


async def test_an_interrupted_run_has_spent_what_it_had_spent() -> None:
    spent = Spent(calls=3, usage=Usage(cost=0.9))
    guarded = GuardedRequester(ScriptedRequester([]), Budget(BudgetLimits(cost=0.901), spent=spent), PRICE)
    with pytest.raises(LimitError, match=r"0\.9 of 0\.901"):
        await read(guarded)
    guarded = GuardedRequester(ScriptedRequester([]), Budget(BudgetLimits(calls=3), spent=spent), PRICE)
    with pytest.raises(LimitError, match="limit of 3 requests"):
        await read(guarded)


async def test_a_day_that_refuses_leaves_the_purses_as_they_were() -> None:
    book = SpendBook()
    account = DayAccount(scope="owner", name="ada", limits=SpendLimits(cost=0.015))
    parent = Budget(BudgetLimits(cost=1), days=Days(book, (account,)))
    guarded = GuardedRequester(ScriptedRequester([answer()] * 9), parent.child(), PRICE)
    for _ in range(3):
        await read(guarded)
    with pytest.raises(LimitError, match="owner 'ada' for today"):
        await read(guarded)
    assert parent.purse.spent == Spending(cost=0.006, calls=3)


async def test_each_book_counts_for_its_own_accounts_and_a_refusal_leaves_them_as_they_were() -> None:
    service, program = SpendBook(), SpendBook()
    owner = DayAccount(scope="owner", name="ann", limits=SpendLimits(calls=2))
    day = DayAccount(scope="service", limits=SpendLimits(calls=1))
    parent = Budget(days=Days(service, (owner,)))
    inside = GuardedRequester(
        ScriptedRequester([answer()] * 9), parent.child(days=Days(program, (day,))), PRICE
    )
    await read(inside)
    with pytest.raises(LimitError, match="of all runs for today"):
        await read(inside)
    around = GuardedRequester(ScriptedRequester([answer()] * 9), parent, PRICE)
    await read(around)
    with pytest.raises(LimitError, match="of owner 'ann' for today"):
        await read(around)


async def test_optional_attributes_of_the_requester_show_through() -> None:
    requester, guarded, _ = make([], calls=1)
    requester.secrets = ["key"]
    assert guarded.secrets == ["key"]
    assert getattr(guarded, "answer_ways", None) is None
    assert (guarded.model, guarded.calls_tools, guarded.follows_schema) == ("scripted:model", True, True)
    await guarded.close()
    assert requester.closed
