"""Errors as HTTP responses: `{"error": {type, message, hint?, details?}}` with the matching status."""

import logging
import time
from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Match, Route

from dovetail.data.text import cut, report_error
from dovetail.errors import (
    ConfigError,
    ConflictError,
    DovetailError,
    InvalidDataError,
    LimitError,
    ModelError,
    NotFoundError,
    PromptVariableError,
    StoreError,
    ToolError,
)
from dovetail.server.responses import JsonResponse
from dovetail.server.streams.openai import to_openai_error

logger = logging.getLogger(__name__)
PAGE = "/{path:path}"
"""The route of the page, which takes every path that no other route takes."""

_API = ("/api/", "/ai/", "/v1/", "/ext/", "/metrics", "/openapi.json")
_LONGEST_VALUE = 60
_MOST_SHOWN = 3
_WITHOUT_VALUE = frozenset({"missing", "value_error", "too_short", "too_long", "string_too_long"})
"""Problems whose text needs no value, or whose value is too large to help."""


class AccessError(DovetailError):
    """Access denied; `status` is 401 if credentials would help, otherwise 403."""

    def __init__(self, message: str, *, status: int = 403, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.status = status


class InvalidRequest(DovetailError):
    """A well-formed request that does not fit the resource."""


STATUSES: list[tuple[type[DovetailError], int]] = [
    (NotFoundError, 404),
    (ConflictError, 409),
    (StoreError, 503),
    (InvalidDataError, 422),
    (ModelError, 502),
    (LimitError, 429),
    (PromptVariableError, 422),
    (ConfigError, 400),
    (ToolError, 422),
    (InvalidRequest, 422),
]
_KINDS = {404: "not_found", 405: "method_not_allowed", 413: "too_large"}

RUN_STATUSES = {
    "config_error": 503,
    "store_error": 503,
    "model_error": 502,
    "passing_model_error": 502,
    "response_error": 502,
    "answer_timeout_error": 504,
    "interrupted": 503,
    "limit_error": 429,
}
"""The status of a plain JSON response to a run that failed, by the type of its error."""


def is_api(path: str) -> bool:
    """Whether a path belongs to the API, which API keys and rate limits protect."""
    return path.startswith(_API)


def error_response(status: int, error: Mapping[str, Any], path: str) -> JsonResponse:
    """Return an error as the response to a request for `path`; below `/v1/` in OpenAI's shape."""
    headers = {"www-authenticate": "Bearer"} if status == 401 else None
    if path.startswith("/v1/"):
        status = 400 if status == 422 else status
        error = to_openai_error(status, error)
    return JsonResponse({"error": error}, status, headers)


def find_status(error: DovetailError) -> int:
    """Return the status of an error."""
    if isinstance(error, AccessError):
        return error.status
    return next((status for kind, status in STATUSES if isinstance(error, kind)), 500)


def add_error_handlers(api: FastAPI) -> None:
    """Turn every expected error into a readable response."""
    api.add_exception_handler(DovetailError, _answer_own)
    api.add_exception_handler(RequestValidationError, _answer_invalid)
    api.add_exception_handler(HTTPException, _answer_http)


def describe_problems(problems: Sequence[Any]) -> dict[str, Any]:
    """Return `{type, message, details}` of the problems that pydantic found in a request."""
    details = [_describe(problem) for problem in problems]
    shown = [f"{each['path']}: {each['message']}" for each in details[:_MOST_SHOWN]]
    if len(details) > _MOST_SHOWN:
        shown.append(f"and {len(details) - _MOST_SHOWN} more")
    return {"type": "invalid_request", "message": "; ".join(shown), "details": details}


def _describe(problem: Mapping[str, Any]) -> dict[str, str]:
    place, kind = problem["loc"], problem["type"]
    if kind == "json_invalid":
        reason = problem.get("ctx", {}).get("error", "cannot be read")
        return {"path": str(place[0]), "message": f"Invalid JSON: {reason} at character {place[-1]}"}
    path = ".".join(map(str, place))
    if kind in ("model_attributes_type", "dict_type") and len(place) == 1:
        return {"path": path, "message": _describe_body(problem.get("input"))}
    message = problem["msg"].removeprefix("Value error, ")
    if kind not in _WITHOUT_VALUE:
        message = f"{message}, got {_shorten(problem.get('input'))}"
    return {"path": path, "message": message}


def _describe_body(given: Any) -> str:
    if isinstance(given, bytes | str):
        return "must be a JSON object; send it with `content-type: application/json`"
    return f"must be a JSON object, got {_shorten(given)}"


def _shorten(value: Any) -> str:
    return cut(repr(value), _LONGEST_VALUE)


async def _answer_own(request: Request, error: Exception) -> Response:
    assert isinstance(error, DovetailError)
    if error.wire_message is not None:
        logger.warning("%s %r: %s", request.method, request.url.path, error.message)
    response = error_response(find_status(error), report_error(error), request.url.path)
    if isinstance(error, LimitError) and error.resets_at is not None:
        response.headers["retry-after"] = str(max(int(error.resets_at - time.time()), 0) + 1)
    return response


async def _answer_invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    try:
        _check_access(request)
    except AccessError as refusal:
        return await _answer_own(request, refusal)
    return error_response(422, describe_problems(error.errors()), request.url.path)


def _check_access(request: Request) -> None:
    """Raise if the caller may not use the route; a body that is not JSON is found before this is checked."""
    for check in getattr(request.scope.get("route"), "dependencies", ()):
        check.dependency(request)


async def _answer_http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    status, path = error.status_code, request.url.path
    message, headers = f"{error.detail}: {path}", error.headers or {}
    if status == 405 or (status == 404 and _is_page(request)):
        status, message, headers = _explain_route(request, message)
    response = error_response(status, {"type": _KINDS.get(status, "http_error"), "message": message}, path)
    response.headers.update(headers)
    return response


def _is_page(request: Request) -> bool:
    """Whether the page's route was matched, not a route that reports itself what is missing."""
    return getattr(request.scope.get("route"), "path", PAGE) == PAGE


def _explain_route(request: Request, message: str) -> tuple[int, str, Mapping[str, str]]:
    """Explain that no route matches; the page takes every path, so the router cannot do it."""
    path = request.url.path
    if methods := _find_methods(request):
        explained = f"{path} accepts {' and '.join(methods)}, not {request.method}."
        return 405, explained, {"allow": ", ".join(methods)}
    is_read = request.method in ("GET", "HEAD")
    return 404, message if is_read else f"Not found: {path}", {}


def _find_methods(request: Request) -> list[str]:
    """Return the methods that the API accepts at this path."""
    routes: Sequence[Route] = request.app.state.interface
    fitting = (route.methods or () for route in routes if route.matches(request.scope)[0] is Match.PARTIAL)
    return sorted({method for methods in fitting for method in methods})
