"""Shared links of sessions."""

from dataclasses import asdict
from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from dovetail.server.schemas import App, Owner, ShareBody, to_iso
from dovetail.sessions.shares import Share

router = APIRouter(prefix="/api/v1", tags=["sessions"])


@router.post("/sessions/{session_id}/shares", status_code=201)
async def share_session(
    session_id: str, app: App, owner: Owner, body: ShareBody | None = None
) -> dict[str, Any]:
    """Create a link that shows the current branch of a session, without later messages."""
    with_work = body is not None and body.with_work
    return _describe(await app.sessions.shares.create(session_id, owner=owner, with_work=with_work))


@router.get("/sessions/{session_id}/shares")
async def list_shares(session_id: str, app: App, owner: Owner) -> dict[str, Any]:
    """List the links of a session, oldest first."""
    await app.sessions.get(session_id, owner=owner)
    return {"shares": [_describe(share) for share in await app.sessions.shares.list(session_id, owner=owner)]}


@router.delete("/sessions/{session_id}/shares/{token}", status_code=204, response_class=Response)
async def revoke_share(session_id: str, token: str, app: App, owner: Owner) -> None:
    """Revoke a link: its address shows nothing any more."""
    await app.sessions.get(session_id, owner=owner)
    await app.sessions.shares.revoke(token, owner=owner)


@router.get("/shared/{token}")
async def view_shared(token: str, app: App) -> dict[str, Any]:
    """Return what a link shows; no API key is needed."""
    shared = await app.sessions.shares.open(token)
    messages = [
        {
            "id": message.id,
            "role": message.role,
            "parts": list(message.parts),
            "created_at": to_iso(message.created_at),
        }
        for message in shared.messages
    ]
    return {"title": shared.title, "path": messages, "created_at": to_iso(shared.created_at)}


def _describe(share: Share) -> dict[str, Any]:
    described = asdict(share)
    del described["owner"]
    return {**described, "created_at": to_iso(share.created_at)}
