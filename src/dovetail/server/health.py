"""Whether the server lives, and whether it can work."""

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse

from dovetail.version import __version__

router = APIRouter(tags=["health"])


@router.get("/healthz")
async def get_health() -> dict[str, Any]:
    """The process lives."""
    return {"status": "ok", "version": __version__}


@router.get("/readyz")
async def get_readiness(request: Request) -> JSONResponse:
    """The app is open and its database answers."""
    state = request.app.state
    if not state.is_ready:
        return JSONResponse({"status": "starting"}, 503)
    await state.dovetail.sessions.check()
    return JSONResponse({"status": "ok"})
