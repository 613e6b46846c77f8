"""Whatever a tool returns, as a `ToolResult`; and a `ToolResult` as JSON data."""

import base64
import dataclasses
import json
from enum import Enum
from typing import Any, TypeGuard

from dovetail.data.shapes import is_mapping
from dovetail.errors import ToolError
from dovetail.tools.tool import ToolFailure, ToolResult

EMPTY = "(no output)"


def make_result(value: Any) -> ToolResult:
    """A result from what a tool returned: text as it is, other values as JSON."""
    if isinstance(value, ToolResult):
        return value
    if isinstance(value, str):
        return ToolResult(value or EMPTY, data=value)
    if value is None:
        return ToolResult(EMPTY)
    return ToolResult(to_json_text(value), data=value)


def make_failure(message: str, type: str = "execution_failed", data: Any = None) -> ToolResult:
    """A failed result; the model reads the message."""
    return ToolResult(f"Error: {message}", error=ToolFailure(message, type), data=data)


def make_error_result(error: BaseException) -> ToolResult:
    """The failed result for an exception that a tool raised."""
    if isinstance(error, ToolError):
        return make_failure(error.message, error.type, error.data)
    text = str(error).strip()
    return make_failure(f"{type(error).__name__}: {text}" if text else type(error).__name__)


def to_json_text(value: Any) -> str:
    """A value as JSON text; what JSON does not know is put into its plainest form."""
    try:
        return json.dumps(value, ensure_ascii=False, default=_to_plain)
    except (TypeError, ValueError, RecursionError):  # odd keys, a cycle
        return str(value)


def to_json_data(value: Any) -> Any:
    """A value made of JSON types only; the value itself when it is so already."""
    if value is None or isinstance(value, str | bool | int | float):
        return value
    return json.loads(to_json_text(value)) if _has_odd_parts(value) else value


def to_dict(result: ToolResult) -> dict[str, Any]:
    """A result as JSON data, from which `from_dict` makes it again."""
    fields: dict[str, Any] = {"llm_content": result.llm_content}
    if result.return_display is not None:
        fields["return_display"] = to_json_data(result.return_display)
    if result.data is not None and result.data is not result.llm_content:
        fields["data"] = to_json_data(result.data)
    return fields


def _has_odd_parts(value: Any) -> bool:
    found: list[Any] = []

    def note(part: Any) -> str:
        found.append(part)
        return ""

    try:
        json.dumps(value, default=note)
    except (TypeError, ValueError, RecursionError):
        return True
    return bool(found)


def _to_plain(value: Any) -> Any:
    dump = getattr(value, "model_dump", None)
    if dump is not None:
        return dump(mode="json")
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, Enum):
        return value.value
    if is_mapping(value):
        return dict(value)
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if _is_set(value):
        return sorted(value, key=str)
    isoformat = getattr(value, "isoformat", None)
    return isoformat() if isoformat is not None else str(value)


def _is_set(value: object) -> TypeGuard[set[Any] | frozenset[Any]]:
    return isinstance(value, set | frozenset)
