"""Which pages of other sites may use the interface (CORS)."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from fastapi import FastAPI
from starlette.middleware.cors import CORSMiddleware

from dovetail.data.shapes import is_list
from dovetail.errors import ConfigError

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


def add_cross_origin(api: FastAPI, origins: Sequence[str]) -> None:
    """Let pages of these origins in; without any, nothing is added."""
    if origins:
        api.add_middleware(
            CORSMiddleware,
            allow_origins=origins,
            allow_methods=_METHODS,
            allow_headers=_HEADERS,
            expose_headers=_EXPOSED,
            max_age=600,
        )


def read_origins(value: Any, *, has_keys: bool) -> list[str]:
    """The setting `server.cors_origins`: a list, or a text with commas; `*` needs API keys."""
    given = value if is_list(value) else str(value or "").split(",")
    origins = [origin for each in given if (origin := str(each).strip().rstrip("/"))]
    for origin in origins:
        parts = urlsplit(origin)
        if origin != "*" and (parts.scheme not in ("http", "https") or not parts.netloc or parts.path):
            raise ConfigError(
                f"{origin!r} in server.cors_origins is no origin",
                hint="An origin looks like https://app.example or http://localhost:3000.",
            )
    if "*" in origins and not has_keys:
        raise ConfigError(
            "server.cors_origins lets every page in, and there are no API keys",
            hint="Name the origins, or set DOVETAIL_API_KEYS.",
        )
    return origins
