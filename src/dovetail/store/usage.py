"""The usage of runs as shares of agents and models, and what is kept of runs that are deleted."""

from typing import Any

import sqlalchemy as sa

from dovetail.store.database import Transaction
from dovetail.store.tables import past_usage, run_shares, runs

DAY = 86400
SUMS = ("cost", "input_tokens", "output_tokens", "unpriced_tokens", "runs")
"""What is summed up; `unpriced_tokens` are those whose price was not known."""
_KEYS = ("day", "owner", "agent", "model")
_ADD = sa.text(
    "INSERT INTO past_usage (day, owner, agent, model, cost, input_tokens, output_tokens, unpriced_tokens, "
    "runs) VALUES (:day, :owner, :agent, :model, :cost, :input_tokens, :output_tokens, :unpriced_tokens, "
    ":runs) ON CONFLICT (day, owner, agent, model) DO UPDATE SET cost = past_usage.cost + excluded.cost, "
    "input_tokens = past_usage.input_tokens + excluded.input_tokens, "
    "output_tokens = past_usage.output_tokens + excluded.output_tokens, "
    "unpriced_tokens = past_usage.unpriced_tokens + excluded.unpriced_tokens, "
    "runs = past_usage.runs + excluded.runs"
)


def select_shares(wanted: sa.ColumnElement[bool]) -> sa.CompoundSelect[Any]:
    """Select the shares of stored runs; a run without any has one, its own row."""
    is_shared = sa.exists().where(run_shares.c.run_id == runs.c.id).correlate(runs)
    whole = _select_from(runs, sa.literal(1)).where(wanted, ~is_shared)
    is_own = sa.case(
        ((run_shares.c.agent == runs.c.agent) & (run_shares.c.model == runs.c.model), 1), else_=0
    )
    shares = _select_from(run_shares, is_own).join_from(run_shares, runs).where(wanted)
    return sa.union_all(whole, shares)


def _select_from(table: sa.Table, is_own: sa.ColumnElement[int]) -> sa.Select[*tuple[Any, ...]]:
    tokens = table.c.input_tokens + table.c.output_tokens
    return sa.select(
        (sa.cast(runs.c.created_at, sa.BigInteger) // DAY).label("day"),
        runs.c.owner,
        table.c.agent,
        table.c.model,
        table.c.cost,
        table.c.input_tokens,
        table.c.output_tokens,
        sa.case((table.c.cost.is_(None), tokens), else_=0).label("unpriced_tokens"),
        runs.c.id.label("run_id"),
        is_own.label("is_own"),
    )


def keep_usage(transaction: Transaction, deleted: sa.ColumnElement[bool]) -> None:
    """Keep the usage of runs that are about to be deleted."""
    used = select_shares(deleted & (runs.c.state == "ended")).subquery()
    keys = [used.c[name] for name in _KEYS]
    sums = [sa.func.coalesce(sa.func.sum(used.c[name]), 0) for name in SUMS[:4]]
    found = sa.select(*keys, *sums, sa.func.sum(used.c.is_own)).group_by(*keys)
    names = [column.name for column in past_usage.c]
    rows = [dict(zip(names, row, strict=True)) for row in transaction.execute(found)]
    if rows:
        transaction.execute(_ADD, rows)
