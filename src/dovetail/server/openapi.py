"""The OpenAPI document: FastAPI's description of the routes, with examples, errors and API keys added."""

from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI

from dovetail.server.errors import is_api
from dovetail.server.openapi_catalog import JSON
from dovetail.server.openapi_examples import ANSWERS

_ERRORS = {
    "400": "A body that is not JSON in UTF-8, or an unknown agent or model.",
    "401": "Missing or unknown API key.",
    "403": "Access denied.",
    "404": "Not found, or not visible to the caller.",
    "409": "Conflict: busy, already answered, ended, taken or changed.",
    "413": "Request body too large.",
    "422": "Invalid request; `details` lists every problem.",
    "429": "Rate limit exceeded; retry after the seconds in `retry-after`.",
    "502": "Model error.",
    "503": "No model configured, or the database is not available.",
}
_GOOD = {"201": "Created.", "202": "Accepted.", "503": "Not ready yet."}
_OF_ALL = ("401", "403", "429", "503")
_CONFLICTING = ("/chat", "/cancel", "/asks/", "/sessions", "/schedules", "/policy/file")
_MISSING = ("/policy/try", "/sign-in")
"""Routes without parameters that do not find everything."""
_ERROR = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["type", "message"],
            "properties": {
                "type": {"type": "string", "description": "An error code for programs."},
                "message": {"type": "string", "description": "The problem, with the value that caused it."},
                "hint": {"type": "string", "description": "What to do about it."},
                "remedy": {
                    "type": "string",
                    "enum": ["keys", "models"],
                    "description": "Where an operator repairs it: the keys of providers, or the models.",
                },
                "details": {"description": "The problems of an invalid request, or the run that failed."},
            },
        }
    },
    "example": {
        "error": {"type": "not_found_error", "message": "Session 's1' not found."},
    },
}
_OPENAI_ERROR = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["message", "type"],
            "properties": {
                "message": {"type": "string"},
                "type": {"type": "string"},
                "param": {"type": ["string", "null"]},
                "code": {"type": ["string", "null"]},
            },
        }
    },
}

_ANY_ERROR = {
    "description": "Invalid request.",
    "content": {JSON: {"schema": {"$ref": "#/components/schemas/Error"}}},
}


class DescribedApi(FastAPI):
    """An API whose document describes responses and errors."""

    def openapi(self) -> dict[str, Any]:
        """Return the document, which is made once."""
        is_new = self.openapi_schema is None
        document = super().openapi()
        if is_new:
            _improve(document)
        return document


def _improve(document: dict[str, Any]) -> None:
    parts = document.setdefault("components", {})
    schemas = parts.setdefault("schemas", {})
    for name in ("HTTPValidationError", "ValidationError"):  # errors never look like FastAPI's own
        schemas.pop(name, None)
    schemas["Error"], schemas["OpenAIError"] = _ERROR, _OPENAI_ERROR
    parts["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer", "description": "An API key."}}
    document["security"] = [{"key": []}, {}]
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            answers = ANSWERS.get(f"{method.upper()} {path}")
            described = operation["responses"] if answers is None else _describe_answers(answers)
            operation["responses"] = described | _describe_errors(path, operation)


def _describe_answers(answers: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    return {status: _describe_answer(status, forms) for status, forms in answers.items()}


def _describe_answer(status: str, forms: Mapping[str, Any]) -> dict[str, Any]:
    if not forms:
        return {"description": "No content."}
    content = {
        media: {"schema": {"type": "object" if media == JSON else "string"}, "example": example}
        for media, example in forms.items()
    }
    return {"description": _GOOD.get(status, "OK."), "content": content}


def _describe_errors(path: str, operation: Mapping[str, Any]) -> dict[str, Any]:
    if not is_api(path):
        return {"422": _ANY_ERROR} if "422" in operation["responses"] else {}
    is_openai = path.startswith("/v1/")
    statuses = {*_OF_ALL}
    if "requestBody" in operation:
        statuses |= {"400", "413"} if is_openai else {"400", "413", "422"}
    if operation.get("parameters"):
        statuses |= {"404"} | (set() if is_openai else {"422"})
        statuses |= {"400" for each in operation["parameters"] if each["name"] == "agent"}
    if path.endswith(_MISSING):
        statuses.add("404")
    if path.endswith(("/chat", "/completions")):
        statuses |= {"400", "404", "502"}
    if any(part in path for part in _CONFLICTING) and not is_openai:
        statuses.add("409")
    content = {JSON: {"schema": {"$ref": f"#/components/schemas/{'OpenAIError' if is_openai else 'Error'}"}}}
    return {status: {"description": _ERRORS[status], "content": content} for status in sorted(statuses)}
