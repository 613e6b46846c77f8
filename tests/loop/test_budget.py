"""One budget for a tree of runs."""

import math
from typing import Any

import pytest

from dovetail.errors import ConfigError
from dovetail.events.delta import Usage
from dovetail.loop.budget import Budget, BudgetLimits, Spent
from dovetail.settings.sections import SubagentSettings


class Clock:
    """A clock that is moved by hand."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_turns_of_a_child_are_its_own() -> None:
    root = Budget(BudgetLimits(turns=3))
    child = root.child(BudgetLimits(turns=10))
    for _ in range(9):
        child.use_turn()
    assert (child.reached(), root.reached(), root.turns) == (None, None, 0)
    root.use_turn()
    child.use_turn()
    assert (child.reached(), root.reached()) == ("max-turns", None)


def test_own_limit_of_a_child_leaves_the_parent_going() -> None:
    root = Budget(BudgetLimits(turns=3))
    child = root.child(BudgetLimits(turns=1))
    child.use_turn()
    assert child.reached() == "max-turns"
    assert root.reached() is None


def test_tokens_count_upwards() -> None:
    root = Budget(BudgetLimits(tokens=100))
    root.child().child().use_tokens(Usage(input_tokens=60, output_tokens=40))
    assert root.usage == Usage(input_tokens=60, output_tokens=40)
    assert root.reached() == "max-tokens"


def test_depth_and_width_are_limited() -> None:
    root = Budget(BudgetLimits(depth=1, width=2))
    child = root.child()
    with pytest.raises(ConfigError, match="depth limit"):
        child.child()
    root.child()
    with pytest.raises(ConfigError, match="limit of 2 children"):
        root.child()


def test_all_runs_of_a_tree_are_limited_together() -> None:
    root = Budget(BudgetLimits(total=3), spent=Spent(children=1, descendants=1))
    child = root.child()
    child.child()
    for budget in (root, child):
        with pytest.raises(ConfigError, match="limit of 3 sub-agents in the whole run"):
            budget.child()


def test_child_may_have_a_smaller_depth_of_its_own() -> None:
    root = Budget(BudgetLimits(depth=3))
    assert root.child(BudgetLimits(depth=1)).depth_left == 1
    assert root.child(BudgetLimits(depth=9)).depth_left == 2


def test_clock_stands_still_while_a_person_is_asked_here_and_above() -> None:
    clock = Clock()
    root = Budget(BudgetLimits(seconds=10), clock=clock)
    child = root.child(BudgetLimits(seconds=5))
    clock.now = 2.0
    with child.paused():
        clock.now = 100.0
        assert child.seconds_left() == 3.0
    assert child.seconds_left() == 3.0
    assert root.seconds_left() == 8.0
    clock.now = 103.0
    assert child.reached() == "timeout"
    assert root.reached() is None


def test_two_questions_at_once_pause_the_clock_once() -> None:
    clock = Clock()
    budget = Budget(BudgetLimits(seconds=10), clock=clock)
    with budget.paused():
        clock.now = 4.0
        with budget.paused():
            clock.now = 6.0
        clock.now = 7.0
    assert budget.elapsed() == 0.0


def test_what_was_spent_before_a_crash_counts() -> None:
    clock = Clock()
    spent = Spent(turns=2, usage=Usage(input_tokens=30, output_tokens=10), seconds=4.0, children=1)
    budget = Budget(BudgetLimits(turns=3, seconds=10.0, tokens=50, width=2), clock=clock, spent=spent)
    assert budget.seconds_left() == 6.0
    assert budget.reached() is None
    budget.use_tokens(Usage(input_tokens=10))
    assert budget.reached() == "max-tokens"
    budget.use_turn()
    assert budget.reached() == "max-turns"
    budget.child()
    with pytest.raises(ConfigError, match="2 children"):
        budget.child()


@pytest.mark.parametrize("seconds", [math.nan, math.inf, 10**400, True, "60"])
def test_a_time_limit_that_is_not_a_finite_number_is_refused(seconds: Any) -> None:
    with pytest.raises(ConfigError, match="time limit of a run must be a finite number of seconds"):
        BudgetLimits(seconds=seconds)


def test_rest_is_what_the_whole_branch_has_left_for_a_run_below_it() -> None:
    clock = Clock()
    spent = Spent(calls=4, usage=Usage(input_tokens=30, cost=0.25), seconds=4.0, descendants=5)
    limits = BudgetLimits(seconds=10.0, tokens=100, cost=1.0, calls=9, depth=3, total=20)
    root = Budget(limits, clock=clock, spent=spent)
    branch = root.child(BudgetLimits(turns=5, seconds=60.0, tokens=50, depth=9))
    branch.use_tokens(Usage(input_tokens=20))
    clock.now = 1.0
    left = BudgetLimits(turns=None, seconds=4.0, tokens=30, cost=0.75, calls=5, depth=1, total=14)
    assert branch.rest() == left
    own = BudgetLimits(turns=5, seconds=3.0, tokens=99, cost=None, depth=4, width=70, total=30)
    lowered = BudgetLimits(turns=5, seconds=3.0, tokens=30, cost=0.75, calls=5, depth=1, width=70, total=14)
    assert own.lowered(left) == lowered


def test_rest_of_a_run_without_limits_limits_nothing() -> None:
    rest = Budget(BudgetLimits(turns=None, seconds=None)).rest()
    assert (rest.seconds, rest.tokens, rest.cost, rest.calls) == (None, None, None, None)


def test_a_child_that_continues_is_not_counted_again() -> None:
    root = Budget(BudgetLimits(width=1, total=1), spent=Spent(children=1, descendants=1, usage=Usage(50, 5)))
    child = root.child(BudgetLimits(turns=3), spent=Spent(turns=2, usage=Usage(40, 4), seconds=5.0))
    assert (root.usage, child.usage, child.turns) == (Usage(50, 5), Usage(40, 4), 2)
    assert 5.0 <= child.elapsed() < 60.0
    child.use_tokens(Usage(1, 1))
    assert (root.usage, child.usage) == (Usage(51, 6), Usage(41, 5))
    with pytest.raises(ConfigError, match="limit of 1 children"):
        root.child()


def test_settings_supply_the_limits_below_a_run_that_are_not_given() -> None:
    below = SubagentSettings(max_depth=1, max_children=7)
    assert BudgetLimits.read({"depth": 2}, below) == BudgetLimits(depth=2, width=7)
    assert BudgetLimits.read(BudgetLimits(width=3), below) == BudgetLimits(width=3)


def test_limit_of_a_run_above_is_named() -> None:
    child = Budget(BudgetLimits(tokens=10)).child(BudgetLimits(tokens=100))
    child.use_tokens(Usage(10, 1))
    assert child.explain("max-tokens").startswith(
        "The limit of 10 tokens of an agent above this one is reached."
    )
    child = Budget(BudgetLimits(tokens=100)).child(BudgetLimits(tokens=10))
    child.use_tokens(Usage(10, 1))
    assert child.explain("max-tokens").startswith("The limit of 10 tokens is reached. Raise ")


def test_reached_limit_names_what_programs_and_agent_files_write() -> None:
    notice = Budget(BudgetLimits(turns=2)).explain("max-turns")
    assert "Raise `limits={'turns': …}` of `run`, or `max_turns` of the agent." in notice
