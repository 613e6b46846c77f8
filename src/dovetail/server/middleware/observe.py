"""The id, span, log line and metrics of every request, and the response to unexpected errors."""

import logging
import re
from collections.abc import Awaitable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dovetail.data.text import INTERNAL_ERROR
from dovetail.events.run_context import current_context, entered
from dovetail.ids import new_id
from dovetail.server.errors import PAGE, error_response
from dovetail.server.metrics import Metrics
from dovetail.tracing import record, span

logger = logging.getLogger("dovetail.access")
_ID = re.compile(r"[A-Za-z0-9._:-]{1,100}")
_LOGGED = ("/api/", "/ai/", "/v1/")
_CLIENT_LEFT = 499
_PROBES = frozenset({"/healthz", "/readyz", "/metrics"})


@dataclass(slots=True)
class _Seen:
    status: int = 0
    is_stream: bool = False


class ObserveLayer:
    """Observe requests, and respond with 500 to unexpected errors."""

    def __init__(self, app: ASGIApp, *, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        given = headers.get("x-request-id", "")
        request_id = given if _ID.fullmatch(given) else new_id("req")
        seen, started, method = _Seen(), perf_counter(), scope["method"]
        context = current_context().for_request(request_id=request_id)
        with entered(context), _open_span(scope, headers) as opened:
            try:
                await self._serve(scope, receive, self._noting(send, seen, request_id), seen)
            finally:
                if seen.is_stream:
                    self._metrics.add_stream(-1)
                route = _find_route(scope)
                status = seen.status or _CLIENT_LEFT
                if opened is not None:
                    opened.update_name(f"{method} {route}")
                known = {"http.route": route, "http.response.status_code": status}
                record(opened, known, error=str(status) if status >= 500 else None)
                self._tell(scope, route, status, perf_counter() - started)

    async def _serve(self, scope: Scope, receive: Receive, send: Send, seen: _Seen) -> None:
        try:
            await self._app(scope, receive, send)
        except ClientDisconnect:
            pass
        except Exception:
            logger.exception("%s %s failed", scope["method"], scope["path"])
            if not seen.status:
                await error_response(500, INTERNAL_ERROR, scope["path"])(scope, receive, send)

    def _noting(self, send: Send, seen: _Seen, request_id: str) -> Send:
        metrics = self._metrics

        def send_and_note(message: Message) -> Awaitable[None]:  # not a coroutine: it is called per token
            if message["type"] == "http.response.start":
                seen.status = message["status"]
                headers = MutableHeaders(scope=message)
                headers["x-request-id"] = request_id
                if headers.get("content-type", "").startswith("text/event-stream"):
                    seen.is_stream = True
                    metrics.add_stream(1)
            return send(message)

        return send_and_note

    def _tell(self, scope: Scope, route: str, status: int, seconds: float) -> None:
        method, path = scope["method"], scope["path"]
        self._metrics.requests.labels(method, route, str(status)).inc()
        self._metrics.request_seconds.labels(method, route).observe(seconds)
        fields = {"status": status, "duration": round(seconds, 4)}
        if owner := scope.get("owner"):
            fields["owner"] = owner
        level = logging.INFO if path.startswith(_LOGGED) else logging.DEBUG
        logger.log(level, "%s %s", method, path, extra={"fields": fields})


def _open_span(scope: Scope, headers: Headers) -> AbstractContextManager[Any]:
    """Return the span of a request; health checks get none."""
    if scope["path"] in _PROBES:
        return nullcontext()
    attributes = {"http.request.method": scope["method"], "url.path": scope["path"]}
    return span(scope["method"], attributes, kind="SERVER", carrier=headers)


def _find_route(scope: Scope) -> str:
    """Return the route's pattern: the number of paths, which contain ids, has no limit."""
    path = getattr(scope.get("route"), "path", None)
    if path is None:
        return "none"
    return "page" if path == PAGE else path
