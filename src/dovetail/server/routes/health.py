"""Whether the server lives, whether it can work, and what it did so far."""

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from dovetail.server.json_response import JsonResponse
from dovetail.server.metrics import CONTENT_TYPE
from dovetail.version import __version__

router = APIRouter(tags=["health"])


@router.get("/healthz")
async def get_health() -> dict[str, Any]:
    """The process lives."""
    return {"status": "ok", "version": __version__}


@router.get("/readyz")
async def get_readiness(request: Request) -> JsonResponse:
    """The app is open and its database answers."""
    state = request.app.state
    if not state.is_ready:
        return JsonResponse({"status": "starting"}, 503)
    await state.dovetail.sessions.check()
    return JsonResponse({"status": "ok"})


@router.get("/metrics", response_class=Response)
async def get_metrics(request: Request) -> Response:
    """Numbers about requests, runs, calls and tokens in Prometheus' text format."""
    state = request.app.state
    if state.is_ready:
        state.run_metrics.sample()
    return Response(state.metrics.write(), headers={"content-type": CONTENT_TYPE})
