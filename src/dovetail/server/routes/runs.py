"""Runs: their state, their events, messages to them, and cancelling them."""

from dataclasses import asdict
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query
from starlette.responses import Response

from dovetail.runs.run import RunRecord
from dovetail.server.responses import read_event_id
from dovetail.server.schemas import App, CancelBody, MessageBody, Owner, to_iso
from dovetail.server.streams.event_stream import EventStream, RunEventEncoder
from dovetail.sessions.request import complete_request

router = APIRouter(prefix="/api/v1/runs", tags=["runs"])


@router.get("/{run_id}")
async def get_run(run_id: str, app: App, owner: Owner) -> dict[str, Any]:
    """Return a run's state, usage and reason."""
    return _describe(await app.runs.get(run_id, owner=owner))


@router.get("/{run_id}/events", response_class=Response)
async def get_events(
    run_id: str,
    app: App,
    owner: Owner,
    after: Annotated[int, Query(ge=0, le=2**31 - 1)] = 0,
    last_event_id: Annotated[str | None, Header()] = None,
) -> Response:
    """Stream the journal after a number as server-sent events until the run ends."""
    record = await app.runs.get(run_id, owner=owner)
    after = max(after, read_event_id(last_event_id))
    encoder = RunEventEncoder()
    if record.spec.session_id is not None:
        _, tree = await app.sessions.open(record.spec.session_id, owner=owner)
        encoder = RunEventEncoder(partial(complete_request, tree))
    return EventStream(await app.runs.read(record.id, after), encoder)


@router.post("/{run_id}/cancel", status_code=202)
async def cancel_run(run_id: str, app: App, owner: Owner, body: CancelBody | None = None) -> dict[str, str]:
    """Cancel a run."""
    await app.runs.get(run_id, owner=owner)
    mode = body.mode if body is not None else "now"
    await app.runs.cancel(run_id, mode)
    return {"run_id": run_id, "mode": mode}


@router.post("/{run_id}/messages", status_code=202)
async def send_message(run_id: str, body: MessageBody, app: App, owner: Owner) -> dict[str, str]:
    """Send a message to a run: into its next turn, or to be answered after it.

    If the run has ended, the message becomes a new question of its session, and `mode` is `queue`.
    """
    return asdict(await app.chat.send_to_run(run_id, body.all_parts, mode=body.mode, owner=owner))


def _describe(record: RunRecord) -> dict[str, Any]:
    result = record.result
    return {
        "id": record.id,
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
        "last_number": record.last_number,
        "created_at": to_iso(record.created_at),
        "ended_at": to_iso(record.ended_at),
    }
