"""CORS: which pages of other sites may use the API."""

from collections.abc import Sequence
from urllib.parse import urlsplit

from fastapi import FastAPI
from starlette.datastructures import Headers
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import Response

from dovetail.data.text import report_error
from dovetail.errors import ConfigError
from dovetail.server.errors import AccessError
from dovetail.server.responses import JsonResponse

_METHODS = ("GET", "POST", "PATCH", "DELETE")
_HEADERS = (
    "authorization",
    "content-type",
    "last-event-id",
    "traceparent",
    "x-admin-token",
    "x-request-id",
)
_EXPOSED = ("retry-after", "x-request-id", "x-vercel-ai-ui-message-stream")


class _CrossOrigin(CORSMiddleware):
    """CORS whose rejections look like every other error, to be read with the browser's tools."""

    def preflight_response(self, request_headers: Headers) -> Response:
        response = super().preflight_response(request_headers)
        if response.status_code < 400:
            return response
        error = report_error(self._explain_refusal(request_headers, bytes(response.body).decode()))
        kept = {name: response.headers[name] for name in response.headers if not name.startswith("content-")}
        return JsonResponse({"error": error}, response.status_code, kept)

    def _explain_refusal(self, asked: Headers, reason: str) -> AccessError:
        origin = asked["origin"]
        if not self.is_allowed_origin(origin):
            return AccessError(
                f"Pages of {origin!r} may not use this server.",
                hint="Add the origin to DOVETAIL_CORS_ORIGINS as the address bar shows it.",
            )
        method, headers = asked["access-control-request-method"], asked.get("access-control-request-headers")
        return AccessError(
            f"Pages of {origin!r} may not send {method} with the headers {headers!r}: {reason}.",
            hint=f"Methods: {', '.join(_METHODS)}. Headers: {', '.join(_HEADERS)}.",
        )


def add_cross_origin(api: FastAPI, origins: Sequence[str]) -> None:
    """Accept pages of these origins; without any, add nothing."""
    if origins:
        api.add_middleware(
            _CrossOrigin,
            allow_origins=origins,
            allow_methods=_METHODS,
            allow_headers=_HEADERS,
            expose_headers=_EXPOSED,
            max_age=600,
        )


def check_origins(given: Sequence[str], *, has_keys: bool) -> list[str]:
    """Return the origins of the setting `server.cors_origins` as browsers write them.

    Raises:
        ConfigError: one is not an origin, or all are allowed and there are no API keys.
    """
    origins = [origin.rstrip("/") for origin in given]
    for origin in origins:
        parts = urlsplit(origin)
        if origin != "*" and (parts.scheme not in ("http", "https") or not parts.netloc or parts.path):
            raise ConfigError(
                f"server.cors_origins: invalid origin {origin!r}.",
                hint="Examples: https://app.example, http://localhost:3000",
            )
    if "*" in origins and not has_keys:
        raise ConfigError(
            "server.cors_origins: `*` requires API keys.",
            hint="List the origins, or set DOVETAIL_API_KEYS.",
        )
    return origins
