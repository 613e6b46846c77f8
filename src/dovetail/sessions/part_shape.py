"""What a part of a message must look like, for parts that a client sends or an import brings.

Every reader of parts (a model's history, an export, the page) may then rely on it. Parts of an unknown type
are kept as they are and not shown.
"""

import base64
import binascii
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias
from urllib.parse import unquote_to_bytes

from dovetail.data.shapes import is_list, is_mapping
from dovetail.data.text import explain_choices, shorten
from dovetail.sessions.message import USER_MESSAGE, Part

_ADDRESSES = ("data:", "https://", "http://")
_LONGEST_TYPE = 100
_LONGEST_CALL_ID = 200
_STATES = (
    "input-streaming",
    "input-available",
    "approval-requested",
    "approval-responded",
    "output-available",
    "output-error",
    "output-denied",
)
Fields: TypeAlias = Mapping[str, tuple[type | tuple[type, ...], str, bool]]
"""By name: the class of a field, the class in words, and whether the field is required."""


def _text(*, needed: bool = False) -> tuple[type, str, bool]:
    return str, "a string", needed


_OBJECT = (dict, "an object", False)
_CALL: Fields = {
    "toolName": _text(needed=True),
    "toolCallId": _text(needed=True),
    "state": _text(),
    "errorText": _text(),
    "title": _text(),
    "toolMetadata": _OBJECT,
    "approval": _OBJECT,
}
_FIELDS: Mapping[str, Fields] = {
    "text": {"text": _text(needed=True), "state": _text()},
    "reasoning": {"text": _text(needed=True), "state": _text()},
    "file": {"url": _text(), "mediaType": _text(), "filename": _text()},
    "dynamic-tool": _CALL,
    "data-skill": {"data": (dict, "an object", True)},
    "data-subagent": {"id": _text(), "data": (dict, "an object", True)},
    USER_MESSAGE: {"id": _text(), "data": (dict, "an object", True)},
}
_SKILL: Fields = {
    "name": _text(needed=True),
    "error": _text(),
    "content": _text(),
    "folder": _text(),
    "description": _text(),
    "scope": _text(),
    "allowed_tools": (list, "a list", False),
}
_CHILD: Fields = {
    "run_id": _text(needed=True),
    "path": (list, "a list", True),
    "agent": _text(),
    "state": _text(),
    "reason": _text(),
    "parent_call_id": _text(),
}
_MESSAGE: Fields = {"kind": _text(needed=True), "parts": (list, "a list", True)}
_APPROVAL: Fields = {"id": _text(needed=True), "approved": (bool, "true or false", False), "reason": _text()}


def check_part(part: Part) -> str | None:
    """Return what is wrong with a part, if anything."""
    kind = part.get("type")
    if not isinstance(kind, str) or not 0 < len(kind) <= _LONGEST_TYPE:
        return f"`type` of a part must be a string of at most {_LONGEST_TYPE} characters, got {shorten(kind)}"
    if problem := _check_fields(part, _FIELDS.get(kind, {}), f"a part of type {kind!r}"):
        return problem
    if kind == "dynamic-tool":
        return _check_call(part)
    check = _DATA.get(kind)
    return None if check is None else check(part["data"])


def check_file(part: Part) -> str | None:
    """Return what is wrong with a file that a client sends, if anything."""
    media_type, url = part.get("mediaType"), part.get("url")
    if media_type and not (isinstance(media_type, str) and "/" in media_type):
        return f"`mediaType` of a file must have the form text/plain, got {shorten(media_type)}"
    if not isinstance(url, str) or not url.startswith(_ADDRESSES):
        return f"`url` of a file must begin with data:, https:// or http://, got {shorten(url)}"
    head, comma, body = url.partition(",")
    if not head.startswith("data:"):
        return None
    if not comma:
        return f"`url` of a file must have the form data:text/plain;base64,SGVsbG8=, got {shorten(url)}"
    try:
        base64.b64decode(unquote_to_bytes(body) if head.endswith(";base64") else b"", validate=True)
    except binascii.Error as error:
        return f"`url` of a file is not valid base64: {error}"
    return None


def _check_call(part: Part) -> str | None:
    if not 0 < len(part["toolCallId"]) <= _LONGEST_CALL_ID:
        return f"`toolCallId` of a part must have 1 to {_LONGEST_CALL_ID} characters"
    state = part.get("state")
    if state is not None and state not in _STATES:
        return explain_choices("call `state`", state, _STATES)
    approval = part.get("approval")
    return _check_fields(approval, _APPROVAL, "`approval`") if is_mapping(approval) else None


def _check_skill(data: Mapping[str, Any]) -> str | None:
    problem = _check_fields(data, _SKILL, "`data` of a skill")
    if problem is None and "error" not in data:
        missing = next((name for name in ("content", "folder") if data.get(name) is None), None)
        problem = f"`data` of a skill requires `{missing}`" if missing else None
    return problem or _check_texts(data.get("allowed_tools"), "`allowed_tools`")


def _check_child(data: Mapping[str, Any]) -> str | None:
    problem = _check_fields(data, _CHILD, "`data` of a sub-agent")
    return problem or _check_texts(data.get("path"), "`path`")


def _check_message(data: Mapping[str, Any]) -> str | None:
    problem = _check_fields(data, _MESSAGE, "`data` of a message")
    if problem is not None:
        return problem
    for part in data["parts"]:
        if not is_mapping(part) or part.get("type") == USER_MESSAGE:
            return f"`parts` of a message must be its parts, got {shorten(part)}"
        if problem := check_part(part):
            return problem
    return None


_DATA: Mapping[str, Callable[[Mapping[str, Any]], str | None]] = {
    "data-skill": _check_skill,
    "data-subagent": _check_child,
    USER_MESSAGE: _check_message,
}


def _check_fields(values: Mapping[str, Any], fields: Fields, what: str) -> str | None:
    for name, (kind, words, needed) in fields.items():
        value = values.get(name)
        if value is None:
            if needed:
                return f"{what} requires `{name}`"
        elif not isinstance(value, kind):
            return f"`{name}` of {what} must be {words}, got {shorten(value)}"
    return None


def _check_texts(values: Any, what: str) -> str | None:
    if not is_list(values) or all(isinstance(value, str) for value in values):
        return None
    return f"{what} must be a list of strings, got {shorten(values)}"
