"""What works in the background, as rows: a session below another one, with its newest run."""

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from dovetail.events.background import Task, TaskState
from dovetail.store.tables import asks, runs, sessions

_newest = runs.alias("newest")
_NEWEST = (
    sa.select(_newest.c.id)
    .where(_newest.c.session_id == sessions.c.id)
    .order_by(_newest.c.created_at.desc(), _newest.c.id.desc())
    .limit(1)
    .correlate(sessions)
    .scalar_subquery()
)
_ASKS = (
    sa.select(sa.literal(1))
    .where(asks.c.run_id == runs.c.id, asks.c.state == "open")
    .correlate(runs)
    .exists()
)
TASKS = sa.select(
    sessions.c.id.label("task_id"),
    runs.c.id.label("run_id"),
    sa.func.coalesce(sessions.c.agent, runs.c.agent).label("agent"),
    sessions.c.title,
    runs.c.state,
    runs.c.phase,
    runs.c.reason,
    sessions.c.created_at,
    runs.c.ended_at,
    sessions.c.origin,
    _ASKS.label("asks"),
).join_from(sessions, runs, runs.c.id == _NEWEST)
"""Sessions with their newest run; without one there is nothing to show."""


def read_task(row: Any) -> Task:
    """Return the task that a row holds."""
    has_ended = row["state"] == "ended"
    origin: Mapping[str, Any] = row["origin"] or {}
    return Task(
        task_id=row["task_id"],
        run_id=row["run_id"],
        agent=row["agent"],
        title=row["title"],
        state=_read_state(row),
        reason=row["reason"] if has_ended else None,
        created_at=row["created_at"],
        ended_at=row["ended_at"] if has_ended else None,
        call_id=origin.get("call_id"),
    )


def _read_state(row: Any) -> TaskState:
    if row["state"] == "ended":
        return "ended"
    if row["asks"] or row["phase"] == "waiting":
        return "waiting"
    return "queued" if row["phase"] == "queued" else "running"
