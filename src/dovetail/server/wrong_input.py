"""What is wrong with a request, in words: where, what was given, and what would do."""

from collections.abc import Mapping, Sequence
from typing import Any

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
    text = repr(value)
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}…"
