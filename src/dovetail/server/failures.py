"""Errors as HTTP answers: `{"error": {type, message, hint?, details?}}` with a fitting status."""

from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from dovetail.errors import (
    ConfigError,
    ConflictError,
    DovetailError,
    ModelError,
    NotFoundError,
    StoreError,
    ToolError,
)
from dovetail.runs.failure import describe_error
from dovetail.server.openai import to_openai_error

STATUSES: list[tuple[type[DovetailError], int]] = [
    (NotFoundError, 404),
    (ConflictError, 409),
    (StoreError, 503),
    (ModelError, 502),
    (ConfigError, 400),
    (ToolError, 422),
]

RUN_STATUSES = {
    "config_error": 503,
    "store_error": 503,
    "model_error": 502,
    "passing_model_error": 502,
    "response_error": 502,
    "answer_timeout_error": 504,
    "interrupted": 503,
}
"""The status of a plain JSON answer whose run failed, by the error's type."""


class AccessError(DovetailError):
    """The caller may not do this; `status` is 401 when saying who they are would help, else 403."""

    def __init__(self, message: str, *, status: int = 403, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.status = status


def error_response(status: int, error: Mapping[str, Any], path: str) -> JSONResponse:
    """An error as the response to a request for `path`: below `/v1/` in OpenAI's shape."""
    headers = {"www-authenticate": "Bearer"} if status == 401 else None
    if path.startswith("/v1/"):
        status = 400 if status == 422 else status
        error = to_openai_error(status, error)
    return JSONResponse({"error": error}, status, headers)


def find_status(error: DovetailError) -> int:
    """The status that fits an error."""
    if isinstance(error, AccessError):
        return error.status
    return next((status for kind, status in STATUSES if isinstance(error, kind)), 500)


def add_error_handlers(api: FastAPI) -> None:
    """Make every error that is foreseen a readable answer."""
    api.add_exception_handler(DovetailError, _answer_own)
    api.add_exception_handler(RequestValidationError, _answer_invalid)
    api.add_exception_handler(HTTPException, _answer_http)


async def _answer_own(request: Request, error: Exception) -> Response:
    assert isinstance(error, DovetailError)
    return error_response(find_status(error), describe_error(error), request.url.path)


async def _answer_invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    details = [
        {"path": ".".join(map(str, problem["loc"])), "message": problem["msg"].removeprefix("Value error, ")}
        for problem in error.errors()
    ]
    first = details[0] if details else {"path": "body", "message": "not valid"}
    message = f"{first['path']}: {first['message']}"
    told = {"type": "invalid_request", "message": message, "details": details}
    return error_response(422, told, request.url.path)


async def _answer_http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    kind = {404: "not_found", 405: "method_not_allowed", 413: "too_large"}.get(
        error.status_code, "http_error"
    )
    path = request.url.path
    response = error_response(error.status_code, {"type": kind, "message": f"{error.detail}: {path}"}, path)
    response.headers.update(error.headers or {})
    return response
