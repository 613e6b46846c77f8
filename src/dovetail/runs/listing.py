"""The list of runs across sessions: filtered, searched, sorted, page by page, with the totals of the filter.

Promises: pages do not repeat or skip runs that were there when the first page was read; the totals count
every run of the filter, whatever page is read; the cost of a run in progress is the cost so far.
"""

import base64
import binascii
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import sqlalchemy as sa

from dovetail.data.shapes import is_list, is_number
from dovetail.errors import NotFoundError
from dovetail.events.delta import Usage
from dovetail.events.run_events import RunStart, TurnEnd
from dovetail.runs.store import STARTED
from dovetail.store.database import Database
from dovetail.store.tables import asks, entries, messages, runs, sessions

ListedState: TypeAlias = Literal["queued", "running", "waiting", "ended"]
Sort: TypeAlias = Literal["time", "cost", "duration", "tokens"]

_LISTED = [
    *(column for column in runs.c if column.name not in ("input", "result", "error")),
    STARTED.label("started_at"),
]
"""What a list shows of runs; a page of results may be as large as many answers."""
_TOKENS = runs.c.input_tokens + runs.c.output_tokens
_ASKED = sa.exists().where(asks.c.run_id == runs.c.id, asks.c.state == "open").correlate(runs)
_STATE = sa.case(
    (runs.c.state == "ended", "ended"),
    (runs.c.phase == "queued", "queued"),
    ((runs.c.phase == "waiting") | _ASKED, "waiting"),
    else_="running",
)
"""What a person sees of a run: one that has asked waits, whether or not a process holds it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFilter:
    """Which runs are listed; what is None or empty does not restrict. Times are seconds since 1970."""

    owner: str | None = None
    states: Sequence[ListedState] = ()
    reasons: Sequence[str] = ()
    agent: str | None = None
    model: str | None = None
    session_id: str | None = None
    since: float | None = None
    before: float | None = None
    query: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedRun:
    """One run of the list; `usage` of a run in progress is that of its complete turns.

    The `duration` includes the seconds that it `waited` in the queue, until `started_at`.
    """

    id: str
    owner: str
    agent: str
    model: str
    session_id: str | None
    message_id: str | None
    title: str | None
    state: ListedState
    reason: str | None
    usage: Usage
    duration: float
    waited: float
    created_at: float
    started_at: float | None
    ended_at: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTotals:
    """The sums of a filter; `unpriced_tokens` are those of runs whose cost is not known."""

    runs: int = 0
    cost: float = 0.0
    input_tokens: int = 0
    output_tokens: int = 0
    unpriced_tokens: int = 0
    duration: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPage:
    """A page of the list; `cursor` leads to the next one, if any."""

    runs: list[ListedRun]
    totals: RunTotals
    cursor: str | None


async def list_runs(
    database: Database,
    wanted: RunFilter,
    *,
    sort: Sort = "time",
    limit: int = 50,
    cursor: str | None = None,
) -> RunPage:
    """Return a page of runs, the newest, most expensive, longest or largest first.

    Raises:
        NotFoundError: the cursor is not one that a page has returned.
    """
    now, after = (time.time(), None) if cursor is None else _read_cursor(cursor)
    conditions, order = _conditions(wanted), _order(sort, now)
    statement = (
        sa.select(*_LISTED, sessions.c.title, _STATE.label("listed_state"), order.label("rank"))
        .join_from(runs, sessions, isouter=True)
        .where(*conditions)
        .order_by(sa.desc("rank"), runs.c.id.desc())
        .limit(limit + 1)
    )
    if after is not None:
        statement = statement.where(sa.tuple_(order, runs.c.id) < sa.tuple_(*map(sa.literal, after)))

    def read(connection: sa.Connection) -> RunPage:
        rows = connection.execute(statement).mappings().all()
        last = rows[limit - 1] if len(rows) > limit else None
        return RunPage(
            runs=_add_spent(connection, [_read_run(row, now) for row in rows[:limit]]),
            totals=_count(connection, conditions, now),
            cursor=None if last is None else _write_cursor(now, last["rank"], last["id"]),
        )

    return await database.read(read)


async def list_requests(database: Database, run_id: str) -> list[dict[str, Any]]:
    """Return how long each request to a model took in a run and in the runs below it, oldest first."""
    wanted = (entries.c.run_id == run_id) & entries.c.type.in_((RunStart.type, TurnEnd.type))
    statement = sa.select(entries.c.type, entries.c.path, entries.c.body).where(wanted)
    rows = await database.read(
        lambda connection: connection.execute(statement.order_by(entries.c.first)).all()
    )
    models: dict[tuple[str, ...], str] = {}
    found: list[dict[str, Any]] = []
    for kind, path, body in rows:
        if kind == RunStart.type:
            models[tuple(path)] = body["model"]
        elif timing := body.get("timing"):
            model = body.get("model") or models.get(tuple(path), "")
            found.append({"turn": body["turn"], "depth": len(path) - 1, "model": model, **timing})
    return found


async def list_choices(database: Database, owner: str | None) -> dict[str, list[str]]:
    """Return the agents, models and owners that runs have, for choosing a filter."""
    of_owner = sa.true() if owner is None else runs.c.owner == owner

    def read(connection: sa.Connection) -> dict[str, list[str]]:
        def find(column: sa.Column[Any]) -> list[str]:
            found = connection.scalars(sa.select(column).where(of_owner, column != "").distinct())
            return sorted(found)

        return {
            "agents": find(runs.c.agent),
            "models": find(runs.c.model),
            "owners": find(runs.c.owner) if owner is None else [owner],
        }

    return await database.read(read)


def _conditions(wanted: RunFilter) -> list[sa.ColumnElement[bool]]:
    exact = {"owner": wanted.owner, "agent": wanted.agent, "model": wanted.model}
    exact["session_id"] = wanted.session_id
    found = [runs.c[name] == value for name, value in exact.items() if value is not None]
    if wanted.states:
        found.append(_STATE.in_(wanted.states))
    if wanted.reasons:
        found.append(runs.c.reason.in_(wanted.reasons))
    if wanted.since is not None:
        found.append(runs.c.created_at >= wanted.since)
    if wanted.before is not None:
        found.append(runs.c.created_at < wanted.before)
    return [*found, *([_holds(wanted.query)] if wanted.query else [])]


def _holds(query: str) -> sa.ColumnElement[bool]:
    """Whether the title, the question, the answer or the id of a run contains a text."""
    said = sa.exists().where(
        messages.c.session_id == runs.c.session_id,
        messages.c.id.in_([runs.c.message_id, runs.c.input["parent_id"].as_string()]),
        sa.cast(messages.c.parts, sa.Text).icontains(query, autoescape=True),
    )
    titled = sa.exists().where(
        sessions.c.id == runs.c.session_id, sessions.c.title.icontains(query, autoescape=True)
    )
    return (runs.c.id == query) | titled.correlate(runs) | said.correlate(runs)


def _order(sort: Sort, now: float) -> sa.ColumnElement[Any]:
    if sort == "cost":
        return sa.func.coalesce(runs.c.cost, -1.0)
    if sort == "duration":
        return _duration(now)
    return _TOKENS if sort == "tokens" else runs.c.created_at


def _duration(now: float) -> sa.ColumnElement[float]:
    return sa.func.coalesce(runs.c.ended_at, now) - runs.c.created_at


def _count(connection: sa.Connection, conditions: Sequence[sa.ColumnElement[bool]], now: float) -> RunTotals:
    columns = {
        "runs": sa.func.count(),
        "cost": sa.func.sum(runs.c.cost),
        "input_tokens": sa.func.sum(runs.c.input_tokens),
        "output_tokens": sa.func.sum(runs.c.output_tokens),
        "unpriced_tokens": sa.func.sum(sa.case((runs.c.cost.is_(None), _TOKENS), else_=0)),
        "duration": sa.func.sum(_duration(now)),
    }
    statement = sa.select(*(column.label(name) for name, column in columns.items())).where(*conditions)
    row = connection.execute(statement.select_from(runs)).mappings().one()
    return RunTotals(**{name: row[name] or 0 for name in columns})


def _read_run(row: Any, now: float) -> ListedRun:
    ended_at: float | None = row["ended_at"]
    return ListedRun(
        id=row["id"],
        owner=row["owner"],
        agent=row["agent"],
        model=row["model"],
        session_id=row["session_id"],
        message_id=row["message_id"],
        title=row["title"],
        state=row["listed_state"],
        reason=row["reason"],
        usage=Usage.read(row["usage"]),
        duration=max((now if ended_at is None else ended_at) - row["created_at"], 0.0),
        waited=max(_find_start(row, now) - row["created_at"], 0.0),
        created_at=row["created_at"],
        started_at=row["started_at"],
        ended_at=ended_at,
    )


def _find_start(row: Any, now: float) -> float:
    """Return when a run left the queue; one that never began left it with its end."""
    return next(moment for moment in (row["started_at"], row["ended_at"], now) if moment is not None)


def _add_spent(connection: sa.Connection, found: list[ListedRun]) -> list[ListedRun]:
    """Add what the runs in progress have spent so far; their rows say it only at the end."""
    open_runs = [run.id for run in found if run.state != "ended"]
    if not open_runs:
        return found
    turns = sa.select(entries.c.run_id, entries.c.body).where(
        entries.c.run_id.in_(open_runs), entries.c.type == "turn-end"
    )
    spent: dict[str, Usage] = {}
    for run_id, body in connection.execute(turns):
        spent[run_id] = spent.get(run_id, Usage()) + Usage.read(body.get("usage"))
    return [replace(run, usage=spent.get(run.id, run.usage)) for run in found]


def _write_cursor(now: float, rank: float, run_id: str) -> str:
    text = json.dumps([now, rank, run_id])
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _read_cursor(cursor: str) -> tuple[float, tuple[float, str]]:
    try:
        content = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (ValueError, binascii.Error):
        content = None
    if is_list(content) and len(content) == 3 and is_number(content[0]) and is_number(content[1]):
        return content[0], (content[1], str(content[2]))
    raise NotFoundError(f"Invalid cursor {cursor!r}; use the cursor returned with the previous page.")
