"""The OpenAPI document: what FastAPI knows of the routes, with their real answers, errors and keys."""

from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI

from dovetail.server.errors import is_kept
from dovetail.server.openapi_examples import ANSWERS, JSON

_ERRORS = {
    "400": "There is no such agent or model.",
    "401": "An API key is needed, and none or an unknown one was given.",
    "403": "The caller may not do this.",
    "404": "There is nothing by that id, or nothing that the caller may see.",
    "409": "It is busy, answered, ended or taken, or has changed meanwhile.",
    "413": "The body is too large.",
    "422": "The request is wrong; `details` names every place.",
    "429": "Too many requests in a minute; `retry-after` says when to come again.",
    "502": "The model failed.",
    "503": "No model is set, or the database is away.",
}
_GOOD = {"201": "It is made.", "202": "It is noted.", "503": "It is not ready yet."}
_OF_ALL = ("401", "403", "429", "503")
_CONFLICTING = ("/chat", "/cancel", "/asks/", "/sessions")
_ERROR = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["type", "message"],
            "properties": {
                "type": {"type": "string", "description": "A word that programs can match."},
                "message": {"type": "string", "description": "What was wrong, with the value."},
                "hint": {"type": "string", "description": "What would help."},
                "details": {"description": "The places of a wrong request, or the run that failed."},
            },
        }
    },
    "example": {
        "error": {"type": "not_found_error", "message": "no session 's1'"},
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
    "description": "The request is wrong.",
    "content": {JSON: {"schema": {"$ref": "#/components/schemas/Error"}}},
}


class DescribedApi(FastAPI):
    """An API whose document tells how answers and errors look."""

    def openapi(self) -> dict[str, Any]:
        """The document, made once."""
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
            told = operation["responses"] if answers is None else _describe_answers(answers)
            operation["responses"] = told | _describe_errors(path, operation)


def _describe_answers(answers: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    return {status: _describe_answer(status, forms) for status, forms in answers.items()}


def _describe_answer(status: str, forms: Mapping[str, Any]) -> dict[str, Any]:
    if not forms:
        return {"description": "There is nothing to say."}
    content = {
        media: {"schema": {"type": "object" if media == JSON else "string"}, "example": example}
        for media, example in forms.items()
    }
    return {"description": _GOOD.get(status, "The answer."), "content": content}


def _describe_errors(path: str, operation: Mapping[str, Any]) -> dict[str, Any]:
    if not is_kept(path):
        return {"422": _ANY_ERROR} if "422" in operation["responses"] else {}
    is_openai = path.startswith("/v1/")
    statuses = {*_OF_ALL}
    if "requestBody" in operation:
        statuses |= {"400" if is_openai else "422", "413"}
    if operation.get("parameters"):
        statuses |= {"404"} | (set() if is_openai else {"422"})
    if path.endswith(("/chat", "/completions")):
        statuses |= {"400", "404", "502"}
    if any(part in path for part in _CONFLICTING) and not is_openai:
        statuses.add("409")
    content = {JSON: {"schema": {"$ref": f"#/components/schemas/{'OpenAIError' if is_openai else 'Error'}"}}}
    return {status: {"description": _ERRORS[status], "content": content} for status in sorted(statuses)}
