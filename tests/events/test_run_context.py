"""One context for requests, runs and calls: it grows on the way down, and code below can find it."""

import asyncio

from dovetail.events.run_context import (
    RunContext,
    current_context,
    current_run,
    entered,
    get_request_context,
)
from dovetail.loop.budget import Budget
from dovetail.policy.bus import MessageBus
from dovetail.tools import CallScope, RequestContext


def test_no_context_outside_of_requests_and_runs() -> None:
    assert get_request_context() is None
    assert current_run() is None


def test_context_of_a_request_grows_and_is_left_again() -> None:
    with entered(current_context().for_request(request_id="r")):
        with entered(current_context().for_request(owner="ann")):
            assert get_request_context() == RunContext(request_id="r", owner="ann")
        assert get_request_context() == RunContext(request_id="r")
    assert get_request_context() is None


def test_ids_that_a_context_lacks_are_those_around_it() -> None:
    outer = RunContext(request_id="r", owner="ann", session_id="s", run_path=("run",), skills=("tidy",))
    inner = RunContext(owner="bob", tab_id="t", mode="plan").inside(outer)
    assert inner == RunContext(
        request_id="r",
        owner="bob",
        session_id="s",
        run_path=("run",),
        tab_id="t",
        skills=("tidy",),
        mode="plan",
    )


def test_calls_for_no_run_of_their_own_belong_to_the_run_around_them() -> None:
    run = RunContext(run_path=("run",), agent_path=("main",), budget=Budget())
    inside = RunContext(agent_path=("other",), owner="ann").inside(run)
    assert (inside.run_path, inside.agent_path, inside.budget) == (("run",), ("main",), run.budget)
    assert inside.owner == "ann"
    own = RunContext(run_path=("own",), budget=Budget())
    assert own.inside(run).budget is own.budget
    assert own.inside(run).run_id == "own"


def test_child_has_its_parents_rights_and_its_own_events_limits_and_cancel() -> None:
    events: list[object] = []
    parent = RunContext(
        owner="ann",
        session_id="s",
        run_path=("run",),
        agent_path=("main",),
        call_id="c",
        mode="plan",
        bus=MessageBus(),
        budget=Budget(),
        largest_result=7,
    )
    budget = Budget()
    child = parent.for_child("child", "scout", emit=events.append, budget=budget)
    assert (child.run_path, child.agent_path) == (("run", "child"), ("main", "scout"))
    assert (child.owner, child.session_id, child.mode, child.call_id) == ("ann", "s", "plan", None)
    assert child.budget is budget
    assert child.largest_result is None
    assert isinstance(child.bus, MessageBus)
    assert child.bus.path == ("scout",)
    child.cancel.request("now")
    assert child.cancelled.is_set()
    assert not parent.cancelled.is_set()


def test_call_shares_the_cancel_of_its_run() -> None:
    run = RunContext(run_path=("run",))
    call = run.for_call("c")
    run.cancelled.set()
    assert call.cancelled.is_set()
    assert (call.call_id, call.run_id, run.call_id) == ("c", "run", None)


async def test_context_is_known_in_threads_too() -> None:
    with entered(RunContext(call_id="c")):
        context = await asyncio.to_thread(get_request_context)
    assert context is not None
    assert context.call_id == "c"


async def test_context_without_a_journal_has_nothing_to_flush_and_no_history() -> None:
    context = RunContext()
    await context.flush()
    assert await context.history() == []
    assert not context.is_abandoned


def test_former_names_are_the_same_class() -> None:
    assert CallScope is RequestContext is RunContext
