"""Health checks and metrics."""

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from dovetail.server.metrics import CONTENT_TYPE
from dovetail.server.responses import JsonResponse
from dovetail.version import __version__

router = APIRouter(tags=["health"])


@router.get("/healthz")
async def get_health() -> dict[str, Any]:
    """Report that the process is alive."""
    return {"status": "ok", "version": __version__}


@router.get("/readyz")
async def get_readiness(request: Request) -> JsonResponse:
    """Report whether the app is open and its database responds."""
    state = request.app.state
    if not state.is_ready:
        return JsonResponse({"status": "starting"}, 503)
    await state.dovetail.sessions.check()
    return JsonResponse({"status": "ok"})


@router.get("/metrics", response_class=Response)
async def get_metrics(request: Request) -> Response:
    """Return metrics of requests, runs, calls and tokens in the text format of Prometheus."""
    state = request.app.state
    if state.is_ready:
        state.run_metrics.sample()
        await state.run_metrics.sample_stored()
    return Response(state.metrics.write(), headers={"content-type": CONTENT_TYPE})
