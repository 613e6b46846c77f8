"""What runs have used, what today has spent of its limits, and the processes that do the work."""

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request

from dovetail.agents.prepare import find_days
from dovetail.app import Dovetail
from dovetail.events.spend import DayAccount
from dovetail.runs.listing import list_choices
from dovetail.runs.usage import UsageFilter, count_usage, read_period, sum_rows
from dovetail.server.auth import NEEDS_ADMIN, Reach, sees_all
from dovetail.server.queries import UsageQuery
from dovetail.server.schemas import App, Owner, to_iso

router = APIRouter(prefix="/api/v1", tags=["operation"])


@router.get("/usage")
async def get_usage(app: App, owner: Reach, wanted: Annotated[UsageQuery, Query()]) -> dict[str, Any]:
    """Sum up the cost and tokens of a period by day, model, agent or owner; days are those of UTC.

    `unpriced_tokens` are those whose price was not known, which the cost leaves out.
    """
    first, last = read_period(wanted.first, wanted.last)
    period = UsageFilter(owner=owner, first=first, last=last)
    rows = await count_usage(app.runs.database, wanted.by, period)
    days = rows if wanted.by == "day" else await count_usage(app.runs.database, "day", period)
    total = asdict(sum_rows(days))
    del total["key"]
    return {
        "by": wanted.by,
        "from": first.isoformat(),
        "to": last.isoformat(),
        "rows": [asdict(row) for row in rows],
        "total": total,
    }


@router.get("/usage/today")
async def get_today(app: App, owner: Reach, own: Owner, request: Request) -> dict[str, Any]:
    """Return what today (UTC) has spent, and how much of its limits; those of the service are for admins."""
    book = app.runtime.spend
    first, last = read_period(None, None, days=1)
    period = UsageFilter(owner=owner, first=first, last=last)
    total = asdict(sum_rows(await count_usage(app.runs.database, "day", period)))
    del total["key"]
    owners = [owner] if owner else [*(await list_choices(app.runs.database, None))["owners"], own]
    accounts = _find_accounts(app, owners, has_all=sees_all(request))
    spent = await book.read(accounts)
    return {
        "day": book.today,
        "total": total,
        "limits": [
            {"scope": account.scope, "name": account.name, "limit": asdict(account.limits), **asdict(used)}
            for account, used in zip(accounts, spent, strict=True)
        ],
    }


@router.get("/workers", dependencies=[NEEDS_ADMIN])
async def get_workers(app: App) -> dict[str, Any]:
    """List the processes that share the database, and the runs of each queue; this needs the admin."""
    table = app.chat.processes
    return {
        "process_id": app.runs.process_id,
        "processes": [
            {
                **asdict(process),
                "started_at": to_iso(process.started_at),
                "seen_at": to_iso(process.seen_at),
            }
            for process in await table.list_processes()
        ],
        "queues": [asdict(queue) for queue in await table.list_queues()],
    }


def _find_accounts(app: Dovetail, owners: list[str], *, has_all: bool) -> list[DayAccount]:
    """Return the limits of today, each once: of the service, of owners and of agents."""
    found: dict[tuple[str, str], DayAccount] = {}
    for definition in app.agents.get_all_definitions():
        for owner in owners:
            for account in find_days(app, definition, owner).accounts:
                if has_all or account.scope == "owner":
                    found[account.key] = account
    order = {"service": 0, "owner": 1, "agent": 2}
    return sorted(found.values(), key=lambda account: (order[account.scope], account.name))
