"""Normalize chat history entries and content parts."""

from collections.abc import Mapping
from typing import Any

from dovetail.data.sanitize import sanitize
from dovetail.data.shapes import is_dict, is_list, is_mapping, is_sequence, is_set
from dovetail.data.text import read_text
from dovetail.lazy import lazy

_pydantic = lazy("pydantic")
_rejection = lazy("dovetail.prompt.rejection")

Message = tuple[str, Any]
"""A history entry as role and content: text, or a list of parts that are normalized on use."""


def read_history(value: Any) -> list[Message]:
    """Return the entries of `chat_history`; one entry counts as a list of one, a bare value as user text."""
    if value is None:
        return []
    messages: list[Message] = []
    for position, entry in enumerate(value if is_list(value) else [value]):
        role, content = (entry.get("role"), entry.get("content")) if is_dict(entry) else (None, None)
        if type(role) is str and type(content) is str:
            messages.append((role, content))
        else:
            messages.append(_read_message(entry, position))
    return messages


def _read_message(entry: Any, position: int) -> Message:
    if not is_mapping(entry):
        if isinstance(getattr(entry, "role", None), str) and hasattr(entry, "content"):
            entry = {"role": entry.role, "content": entry.content}  # an entry of a `PromptModel`
        else:
            return "user", str(entry)
    content = entry.get("content")
    path = f"chat_history[{position}]"
    role = read_text(entry.get("role", "user"))
    if role is None:
        raise _rejection.reject(f"{path}.role", entry["role"], "a role must be text")
    if content is None:
        raise _rejection.reject(f"{path}.content", content, "content must be text or a list of parts")
    return role, _read_content(content, path)


def _read_content(content: Any, path: str) -> Any:
    text = read_text(content)
    if text is not None:
        return text
    if is_mapping(content) and "type" in content:
        return [content]
    if is_list(content) or (_is_collection(content) and all(is_mapping(part) for part in content)):
        return [_open_part(part, f"{path}.content[{position}]") for position, part in enumerate(content)]
    if isinstance(content, (bytes, bytearray)):
        return content.decode("utf-8", "backslashreplace")
    return str(sanitize(content))


def _is_collection(content: Any) -> bool:
    return is_sequence(content) or is_set(content)


def _open_part(part: Any, path: str) -> Mapping[str, Any]:
    if is_mapping(part):
        return part
    dump: Any = getattr(part, "model_dump", None)
    if isinstance(getattr(part, "type", None), str) and dump is not None:
        return dump()  # a part of a `PromptModel`
    raise _rejection.reject(path, part, "a part must be a mapping with `type`")


def read_parts(parts: list[Any], path: str) -> list[dict[str, Any]]:
    """Return normalized parts: a text part has `type` and `text`, any other at least its own payload key."""
    return [read_part(part, f"{path}[{position}]") for position, part in enumerate(parts)]


def read_part(part: Any, path: str) -> dict[str, Any]:
    """Return a normalized part, its type first; a value that is not a mapping becomes text."""
    if not is_mapping(part):
        if not (isinstance(getattr(part, "type", None), str) and hasattr(part, "model_dump")):
            return {"type": "text", "text": str(part)}
        part = part.model_dump()
    kind = read_text(part.get("type"))
    if kind is None:
        raise _rejection.reject(path, dict(part), "a part needs a `type` that is text")
    text = part.get("text")
    if kind == "text" and (read := read_text(text)) is not None:
        return {"type": "text", "text": read}
    if kind == "text" and isinstance(text, (bytes, bytearray)):
        return {"type": "text", "text": text.decode("utf-8", "backslashreplace")}
    full: dict[str, Any] = {"type": kind, **part}
    full["type"] = kind
    if kind not in full and not hasattr(_pydantic.BaseModel, kind):
        full[kind] = None
    return full


def is_text_part(part: Any) -> bool:
    """Return whether a part is text."""
    return part["type"] == "text" and isinstance(part.get("text"), str)


def read_attachment(value: Any) -> list[dict[str, Any]]:
    """Return the parts of `attachment`; a single part counts as a list of one."""
    if value is None:
        return []
    return read_parts(value if is_list(value) else [value], "attachment")
