"""What runs have used, by day, model, agent or owner, as sums in SQL.

Each turn counts once: for the agent and the model that took it. Runs in the background are runs of their own;
the usage of sub-agents is a share of the run that they belong to. Days are those of UTC, as in the limits.
Runs that were deleted with their session still count, a run then for its own agent and model.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any, Literal, TypeAlias

import sqlalchemy as sa

from dovetail.store.database import Database
from dovetail.store.tables import past_usage, runs
from dovetail.store.usage import DAY, SUMS, select_shares

By: TypeAlias = Literal["day", "model", "agent", "owner"]
_FIRST_DAY = date(1970, 1, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageRow:
    """The usage of one day, model, agent or owner; `cost` is None if no price was known.

    `unpriced_tokens` are those whose price was not known: the cost leaves them out.
    """

    key: str
    cost: float | None
    input_tokens: int
    output_tokens: int
    unpriced_tokens: int
    runs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageFilter:
    """Which usage is counted: of one owner or all, of runs that began from the first day to the last."""

    owner: str | None = None
    first: date
    last: date


def read_period(first: date | None, last: date | None, *, days: int = 30) -> tuple[date, date]:
    """Return a period of days; without a first or last day it has `days`, up to today."""
    today = datetime.fromtimestamp(time.time(), UTC).date()
    last = last or (max(today, first) if first else today)
    return first or last - timedelta(days=days - 1), last


async def count_usage(database: Database, by: By, wanted: UsageFilter) -> list[UsageRow]:
    """Return the usage of a period: days in their order, otherwise the most expensive first."""
    used = _select_used(wanted).subquery()
    key = used.c[by]
    sums = [sa.func.sum(used.c[name]).label(name) for name in SUMS[:4]]
    counted = sa.func.count(used.c.run_id.distinct()) + sa.func.sum(used.c.past_runs)
    statement = sa.select(key.label("key"), *sums, counted.label("runs")).group_by(key)
    rows = await database.read(lambda connection: connection.execute(statement).mappings().all())
    found = [_read_row(row, by) for row in rows]
    if by == "day":
        return sorted(found, key=lambda row: row.key)
    return sorted(found, key=lambda row: (-(row.cost or 0.0), -row.input_tokens - row.output_tokens, row.key))


def sum_rows(rows: Sequence[UsageRow]) -> UsageRow:
    """Return the sum of rows; of days or owners, whose runs do not overlap."""
    known = [row.cost for row in rows if row.cost is not None]
    return UsageRow(
        key="",
        cost=sum(known) if known else None,
        **{name: sum(getattr(row, name) for row in rows) for name in SUMS[1:]},
    )


def _select_used(wanted: UsageFilter) -> sa.CompoundSelect[Any]:
    start, end = (_count_days(wanted.first) * DAY, (_count_days(wanted.last) + 1) * DAY)
    began = (runs.c.created_at >= start) & (runs.c.created_at < end) & (runs.c.state == "ended")
    past = past_usage.c.day.between(_count_days(wanted.first), _count_days(wanted.last))
    if wanted.owner is not None:
        began &= runs.c.owner == wanted.owner
        past &= past_usage.c.owner == wanted.owner
    columns = [past_usage.c[name] for name in ("day", "owner", "agent", "model")]
    has_cost = (past_usage.c.cost > 0) | (past_usage.c.unpriced_tokens == 0)
    sums = [past_usage.c[name] for name in ("input_tokens", "output_tokens", "unpriced_tokens")]
    none = sa.cast(sa.null(), sa.Text).label("run_id")
    kept = sa.select(
        *columns,
        sa.case((has_cost, past_usage.c.cost), else_=None).label("cost"),
        *sums,
        none,
        sa.literal(0).label("is_own"),
        past_usage.c.runs.label("past_runs"),
    ).where(past)
    stored = select_shares(began).subquery()
    return sa.union_all(sa.select(stored, sa.literal(0).label("past_runs")), kept)


def _count_days(day: date) -> int:
    return (day - _FIRST_DAY).days


def _read_row(row: Any, by: By) -> UsageRow:
    key = row["key"]
    shown = (_FIRST_DAY + timedelta(days=int(key))).isoformat() if by == "day" else key
    return UsageRow(key=shown, cost=row["cost"], **{name: int(row[name] or 0) for name in SUMS[1:]})
