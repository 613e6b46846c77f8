"""Folders of sessions."""

from typing import Any

from fastapi import APIRouter

from dovetail.server.schemas import App, FolderChange, Owner

router = APIRouter(prefix="/api/v1/folders", tags=["sessions"])


@router.get("")
async def list_folders(app: App, owner: Owner) -> dict[str, Any]:
    """List the folders of sessions by name; a session is put into one with `PATCH /api/v1/sessions/{id}`."""
    folders = await app.sessions.count_folders(owner=owner)
    return {"folders": [{"name": name, "sessions": count} for name, count in folders.items()]}


@router.patch("/{name:path}")
async def change_folder(name: str, body: FolderChange, app: App, owner: Owner) -> dict[str, Any]:
    """Rename a folder, or take its sessions out of it."""
    return {"sessions": await app.sessions.rename_folder(name, body.name, owner=owner)}
