"""The account that a run shares with the agents below it in other processes: its tasks in the background.

A task counts for the runs above it as an agent does that is called, also when they have ended: what a run
with its tasks has spent is kept with the spending of days, under the day on which the run began.
"""

from collections.abc import Mapping
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Any

from dovetail.events.spend import DayAccount, SpendLimits
from dovetail.loop.budget import Budget, BudgetLimits
from dovetail.loop.spend import Days

_RUNS = "runs"


def share_account(days: Days, run_id: str, limits: BudgetLimits, began: float) -> Days:
    """Return the days of a run with an account of its own, if its requests, money or tokens are limited."""
    own = SpendLimits(cost=limits.cost, calls=limits.calls, tokens=limits.tokens)
    day = datetime.fromtimestamp(began, UTC).date().isoformat()
    account = DayAccount(scope="run", name=run_id, limits=own, day=day)
    return replace(days, accounts=(*days.accounts, account)) if own.exist else days


def write_rest(budget: Budget) -> dict[str, Any]:
    """Return as data what a task may use: what is left now, and the runs that it counts for."""
    accounts = [account for days in budget.days for account in days.accounts if account.scope == "run"]
    return {
        **asdict(budget.rest()),
        _RUNS: [{"id": each.name, "day": each.day, **asdict(each.limits)} for each in accounts],
    }


def read_rest(data: Mapping[str, Any]) -> tuple[BudgetLimits, list[DayAccount]]:
    """Return the limits of a task, and the accounts of the runs that it counts for."""
    limits = {name: value for name, value in data.items() if name != _RUNS}
    return BudgetLimits(**limits), [_read_account(run) for run in data.get(_RUNS, ())]


def _read_account(run: Mapping[str, Any]) -> DayAccount:
    limits = SpendLimits(cost=run["cost"], calls=run["calls"], tokens=run["tokens"])
    return DayAccount(scope="run", name=run["id"], limits=limits, day=run["day"])
