"""Runs: the list across sessions, their state, their events, messages to them, and cancelling them.

An admin reaches the runs of other owners with `owner=<name>` or `owner=*`.
"""

from dataclasses import asdict
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request
from starlette.responses import Response

from dovetail.runs.listing import ListedRun, RunFilter, list_choices, list_runs
from dovetail.runs.run import RunRecord
from dovetail.server.auth import Reach, sees_all
from dovetail.server.queries import RunQuery
from dovetail.server.responses import read_event_id
from dovetail.server.schemas import App, CancelBody, MessageBody, Owner, to_iso
from dovetail.server.streams.event_stream import EventStream, RunEventEncoder
from dovetail.sessions.request import complete_request

router = APIRouter(prefix="/api/v1/runs", tags=["runs"])


@router.get("")
async def get_runs(
    app: App,
    owner: Reach,
    wanted: Annotated[RunQuery, Query()],
) -> dict[str, Any]:
    """List runs across sessions, with the totals of the filter; filters may be given several times."""
    listed = RunFilter(
        owner=owner,
        states=wanted.state,
        reasons=wanted.reason,
        agent=wanted.agent,
        model=wanted.model,
        session_id=wanted.session_id,
        since=wanted.since,
        before=wanted.before,
        query=wanted.query,
    )
    page = await list_runs(
        app.runs.database, listed, sort=wanted.sort, limit=wanted.limit, cursor=wanted.cursor
    )
    return {
        "runs": [_describe_listed(run) for run in page.runs],
        "totals": asdict(page.totals),
        "cursor": page.cursor,
    }


@router.get("/choices")
async def get_choices(app: App, owner: Reach, own: Owner, request: Request) -> dict[str, Any]:
    """Return the agents, models and owners that runs have, and whether the caller may see other owners."""
    choices = await list_choices(app.runs.database, owner)
    return {**choices, "owner": own, "sees_all": sees_all(request)}


@router.get("/{run_id}")
async def get_run(run_id: str, app: App, owner: Reach) -> dict[str, Any]:
    """Return a run's state, usage and reason; the agents that a run in progress has called have runs, too."""
    return _describe(await app.runs.get(run_id, owner=owner))


@router.get("/{run_id}/events", response_class=Response)
async def get_events(
    run_id: str,
    app: App,
    owner: Reach,
    after: Annotated[int, Query(ge=0, le=2**31 - 1)] = 0,
    last_event_id: Annotated[str | None, Header()] = None,
) -> Response:
    """Stream the journal after a number as server-sent events until the run ends."""
    record = await app.runs.get(run_id, owner=owner)
    after = max(after, read_event_id(last_event_id))
    encoder = RunEventEncoder(path=record.path)
    if record.spec.session_id is not None:
        _, tree = await app.sessions.open(record.spec.session_id, owner=record.spec.owner)
        encoder = RunEventEncoder(partial(complete_request, tree), record.path)
    return EventStream(await app.runs.read(record.root_id, after), encoder)


@router.post("/{run_id}/cancel", status_code=202)
async def cancel_run(run_id: str, app: App, owner: Reach, body: CancelBody | None = None) -> dict[str, str]:
    """Cancel a run; a task in the background does not start again with messages that wait for it.

    The run of an agent that another run has called can be cancelled by itself; its caller continues.
    """
    await app.runs.get(run_id, owner=owner)
    mode = body.mode if body is not None else "now"
    await app.chat.mail.cancel(run_id, mode)
    return {"run_id": run_id, "mode": mode}


@router.post("/{run_id}/messages", status_code=202)
async def send_message(run_id: str, body: MessageBody, app: App, owner: Owner) -> dict[str, str]:
    """Send a message to a run: into its next turn, or to be answered after it.

    If the run has ended, the message becomes a new question of its session, and `mode` is `queue`. With an
    `id` of the client's choice it is stored once, however often it is sent. The run of an agent that another
    run has called reads it in its next turn; if it has none, its caller does.
    """
    sent = await app.chat.send_to_run(run_id, body.all_parts, mode=body.mode, owner=owner, message_id=body.id)
    return asdict(sent)


def _describe_listed(run: ListedRun) -> dict[str, Any]:
    moments = {name: to_iso(getattr(run, name)) for name in ("created_at", "started_at", "ended_at")}
    return {**asdict(run), **moments}


def _describe(record: RunRecord) -> dict[str, Any]:
    result = record.result
    return {
        "id": record.id,
        "owner": record.spec.owner,
        "session_id": record.spec.session_id,
        "message_id": record.spec.message_id,
        "agent": record.spec.agent,
        "model": record.spec.model,
        "generation": record.spec.generation,
        "state": record.state,
        "reason": result.reason if result else None,
        "result": result.value if result else None,
        "usage": asdict(result.usage) if result else None,
        "error": result.error if result else None,
        "limit": result.limit if result else None,
        "notice": result.notice if result else None,
        "duration": result.duration if result else None,
        "last_number": record.last_number,
        "created_at": to_iso(record.created_at),
        "started_at": to_iso(record.started_at),
        "ended_at": to_iso(record.ended_at),
    }
