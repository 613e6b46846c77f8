"""Errors as HTTP answers: `{"error": {type, message, hint?, details?}}` with a fitting status."""

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
    ModelError,
    NotFoundError,
    StoreError,
    ToolError,
)
from dovetail.server.json_response import JsonResponse
from dovetail.server.streams.openai import to_openai_error

_KEPT = ("/api/", "/ai/", "/v1/", "/metrics", "/openapi.json")

PAGE = "/{path:path}"
"""The route of the page, which takes every path that no other route takes."""


def is_kept(path: str) -> bool:
    """Whether a path belongs to the interface: keys and limits hold for it."""
    return path.startswith(_KEPT)


_LONGEST_VALUE = 60
_MOST_TOLD = 3
_WITHOUT_VALUE = frozenset({"missing", "value_error", "too_short", "too_long", "string_too_long"})
"""Problems whose text says it all, or whose value is too large to help."""


def describe_problems(problems: Sequence[Any]) -> dict[str, Any]:
    """`{type, message, details}` of what pydantic found in a request."""
    details = [_describe(problem) for problem in problems]
    told = [f"{each['path']}: {each['message']}" for each in details[:_MOST_TOLD]]
    if len(details) > _MOST_TOLD:
        told.append(f"and {len(details) - _MOST_TOLD} more")
    return {"type": "invalid_request", "message": "; ".join(told), "details": details}


def _describe(problem: Mapping[str, Any]) -> dict[str, str]:
    place, kind = problem["loc"], problem["type"]
    if kind == "json_invalid":
        reason = problem.get("ctx", {}).get("error", "it cannot be read")
        return {"path": str(place[0]), "message": f"this is no JSON: {reason} at character {place[-1]}"}
    path = ".".join(map(str, place))
    if kind in ("model_attributes_type", "dict_type") and len(place) == 1:
        return {"path": path, "message": _describe_body(problem.get("input"))}
    message = problem["msg"].removeprefix("Value error, ")
    if kind not in _WITHOUT_VALUE:
        message = f"{message}, not {_shorten(problem.get('input'))}"
    return {"path": path, "message": message}


def _describe_body(given: Any) -> str:
    if isinstance(given, bytes | str):
        return "a JSON object is needed; send it with `content-type: application/json`"
    return f"a JSON object is needed, not {_shorten(given)}"


def _shorten(value: Any) -> str:
    return cut(repr(value), _LONGEST_VALUE)


class AccessError(DovetailError):
    """The caller may not do this; `status` is 401 when saying who they are would help, else 403."""

    def __init__(self, message: str, *, status: int = 403, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.status = status


class InvalidRequest(DovetailError):
    """The request is well formed, but not one that fits here."""


STATUSES: list[tuple[type[DovetailError], int]] = [
    (NotFoundError, 404),
    (ConflictError, 409),
    (StoreError, 503),
    (InvalidDataError, 422),
    (ModelError, 502),
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
}
"""The status of a plain JSON answer whose run failed, by the error's type."""


def error_response(status: int, error: Mapping[str, Any], path: str) -> JsonResponse:
    """An error as the response to a request for `path`: below `/v1/` in OpenAI's shape."""
    headers = {"www-authenticate": "Bearer"} if status == 401 else None
    if path.startswith("/v1/"):
        status = 400 if status == 422 else status
        error = to_openai_error(status, error)
    return JsonResponse({"error": error}, status, headers)


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
    return error_response(find_status(error), report_error(error), request.url.path)


async def _answer_invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    return error_response(422, describe_problems(error.errors()), request.url.path)


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
    """Whether the page was asked, not a route that has said itself what is not there."""
    return getattr(request.scope.get("route"), "path", PAGE) == PAGE


def _explain_route(request: Request, message: str) -> tuple[int, str, Mapping[str, str]]:
    """What to say where no route fits; the page takes every path, so the router cannot tell."""
    path = request.url.path
    if methods := _find_methods(request):
        told = f"{path} takes {' and '.join(methods)}, not {request.method}"
        return 405, told, {"allow": ", ".join(methods)}
    is_read = request.method in ("GET", "HEAD")
    return 404, message if is_read else f"there is no such route: {path}", {}


def _find_methods(request: Request) -> list[str]:
    """The methods that the interface takes at this path."""
    routes: Sequence[Route] = request.app.state.interface
    fitting = (route.methods or () for route in routes if route.matches(request.scope)[0] is Match.PARTIAL)
    return sorted({method for methods in fitting for method in methods})
