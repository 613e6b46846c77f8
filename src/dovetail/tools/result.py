"""Return values of tools as a `ToolResult`, and a `ToolResult` as JSON data."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, cast

from dovetail.data.clean import clean_data, clean_text
from dovetail.data.known_secrets import hide_known_in
from dovetail.data.shapes import is_mapping, is_sequence
from dovetail.data.text import describe_error, to_text
from dovetail.errors import DovetailError, ToolError
from dovetail.schema.json_data import to_json_data
from dovetail.tools.pictures import MARK, describe_pictures
from dovetail.tools.tool import CallOutcome, ToolFailure, ToolResult

EMPTY = "(no output)"
LONGEST_EVENT_DATA = 30_000
_LONGEST_ERROR = 4_000

_encode = json.JSONEncoder(ensure_ascii=False, default=to_json_data).encode  # made once: making one is slow


def make_result(value: Any) -> ToolResult:
    """Return a tool's value as a result: text as it is, other values as JSON, pictures as pictures."""
    if isinstance(value, ToolResult):
        content: Any = value.llm_content
        return value if isinstance(content, str) else replace(value, llm_content=_type_parts(content))
    if value is None:
        return ToolResult(EMPTY)
    text = value if isinstance(value, str) else to_json_text(value)
    if MARK in text:
        return ToolResult(_show_pictures(value), data=value)
    return ToolResult(text or EMPTY, data=value)


def _show_pictures(value: Any) -> str | list[dict[str, Any]]:
    plain = value if isinstance(value, str) else to_json_data(value)
    described, pictures = describe_pictures(plain)
    text = described if isinstance(described, str) else to_json_text(described)
    return [{"type": "text", "text": text}, *pictures] if pictures else text


def _type_parts(content: Any) -> str | list[dict[str, Any]]:
    """Return parts as providers accept them; `{"text": …}` alone, or plain text, has the type text."""
    if not is_sequence(content):
        return to_json_text(content)
    return [_type_part(part) for part in content]


def _type_part(part: Any) -> dict[str, Any]:
    if not is_mapping(part) or not ("type" in part or "text" in part):
        return {"type": "text", "text": to_text(part)}
    return {"type": "text", **part}


def read_value(result: ToolResult) -> Any:
    """Return the value of a successful result for programs: its data, otherwise what the model reads.

    A result with notes is returned as the model reads it, so that the notes are not lost.
    """
    if result.notes:
        return result.llm_content
    return result.llm_content if result.data is None and result.llm_content != EMPTY else result.data


def make_failure(message: str, type: str = "execution_failed", data: Any = None) -> ToolResult:
    """Return a failed result; the model reads the message."""
    if len(message) > _LONGEST_ERROR:
        message = f"{message[: _LONGEST_ERROR // 2]} … {message[-_LONGEST_ERROR // 2 :]}"
    return ToolResult(f"Error: {message}", error=ToolFailure(message, type), data=data)


def make_unstarted(name: str) -> ToolResult:
    """Return the result of a call that only waited when its run was stopped."""
    return make_failure(
        f"{name!r} was not started: the run was stopped before. It had no effect.", "not_started"
    )


def add_notes(result: ToolResult, notes: Sequence[str]) -> ToolResult:
    """Return the result with notes about the call, which the model reads too."""
    if not notes:
        return result
    text = "\n".join(f"[Note: {note}]" for note in notes)
    content = result.llm_content
    shown = f"{content}\n\n{text}" if isinstance(content, str) else [*content, {"type": "text", "text": text}]
    return replace(result, llm_content=shown, notes=tuple(notes))


def make_error_result(error: BaseException) -> ToolResult:
    """Return the failed result for an exception that a tool raised."""
    if (leaves := list(_list_leaves(error))) != [error]:
        return _make_group_result(leaves)
    if isinstance(error, ToolError):
        return make_failure(error.message, error.type, error.data)
    return make_failure(describe_error(error))


def _make_group_result(leaves: list[BaseException]) -> ToolResult:
    """Return the failed result for a group of exceptions, as a `TaskGroup` raises it."""
    results = [make_error_result(leaf) for leaf in leaves]
    if len(results) == 1:
        return results[0]
    return make_failure("; ".join(result.error.message for result in results if result.error))


def _list_leaves(error: BaseException) -> Iterator[BaseException]:
    if not isinstance(error, BaseExceptionGroup):
        yield error
        return
    members: tuple[BaseException, ...] = cast("BaseExceptionGroup[BaseException]", error).exceptions
    for member in members:
        yield from _list_leaves(member)


def mask_failure(result: ToolResult, hide: Callable[[str], str]) -> ToolResult:
    """Return a failed result without secrets in its texts; a successful one is returned as it is."""
    error, content = result.error, result.llm_content
    if error is None:
        return result
    shown = hide(content) if isinstance(content, str) else [_mask_part(part, hide) for part in content]
    return replace(result, llm_content=shown, error=replace(error, message=hide(error.message)))


def mask_known(result: ToolResult) -> ToolResult:
    """Return a result whose text for the model is without the secrets that this process knows.

    Those in its data are masked when it is written, see `to_dict`.
    """
    shown = hide_known_in(result.llm_content)
    if shown == result.llm_content:
        return result
    data = shown if result.data is result.llm_content else result.data
    return replace(result, llm_content=shown, data=data)


def _mask_part(part: dict[str, Any], hide: Callable[[str], str]) -> dict[str, Any]:
    text = part.get("text")
    return {**part, "text": hide(text)} if isinstance(text, str) else part


def to_json_text(value: Any) -> str:
    """Return a value as JSON text; values unknown to JSON are written in their plainest form."""
    try:
        return _encode(value)
    except (TypeError, ValueError, RecursionError, DovetailError):
        return _dump_oddity(value)


def to_dict(result: ToolResult) -> dict[str, Any]:
    """Return a result as JSON data: `llm_content`, and `return_display` and `data` if they say more."""
    fields: dict[str, Any] = {"llm_content": result.llm_content}
    if result.return_display is not None:
        fields["return_display"] = to_event_data(result.return_display)
    if result.data is not None and result.data is not result.llm_content:
        fields["data"] = to_event_data(result.data)
    if result.notes:
        fields["notes"] = list(result.notes)
    return hide_known_in(fields)


def describe_outcome(outcome: CallOutcome) -> dict[str, Any]:
    """Return the outcome of a call as JSON data."""
    error = outcome.result.error
    return {
        "call_id": outcome.call.call_id,
        "status": outcome.status,
        "result": to_dict(outcome.result),
        "error": {"type": error.type, "message": error.message} if error else None,
        "duration": outcome.duration,
    }


def to_event_data(value: Any) -> Any:
    """Return a value made of JSON types only; one too large for an event is replaced by its size."""
    if value is None or isinstance(value, int | float):
        return clean_data(value)
    if isinstance(value, str):
        return clean_text(value) if len(value) <= LONGEST_EVENT_DATA else {"characters": len(value)}
    oddities: list[Any] = []

    def note(part: Any) -> Any:
        oddities.append(part)
        return to_json_data(part)

    try:
        text = json.dumps(value, ensure_ascii=False, default=note)
    except (TypeError, ValueError, RecursionError, DovetailError):
        oddities.append(value)
        text = _dump_oddity(value)
    if len(text) > LONGEST_EVENT_DATA:
        return {"characters": len(text)}
    try:
        return clean_data(json.loads(text) if oddities else value)
    except (ValueError, RecursionError):  # nested too deeply for those who read events
        return {"characters": len(text)}


def _dump_oddity(value: Any) -> str:
    """Describe a value that has keys other than text, contains itself, or is nested too deeply."""
    try:
        return json.dumps(to_json_data(value), ensure_ascii=False)
    except (TypeError, ValueError, RecursionError, DovetailError):
        return json.dumps(f"a {type(value).__name__} that cannot be shown as JSON")
