"""Pictures in the results of tools: a model gets them as pictures, not as the text of a `data:` URL."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from dovetail.data.shapes import is_mapping, is_sequence

MARK = "data:image/"
MOST_PICTURES = 4
MOST_CHARACTERS = 5_000_000
"""The largest picture that a model gets, as base64; others are only described."""

_PICTURE = re.compile(r"data:(image/[\w.+-]+)((?:;[\w=.-]+)*),(.*)", re.DOTALL)
_SEEN = re.compile(r"(\(A picture, image/[\w.+-]+, \d+ kB\.) The user sees it\.\)")
_READABLE = ("image/png", "image/jpeg", "image/gif", "image/webp")


def describe_pictures(value: Any) -> tuple[Any, list[dict[str, Any]]]:
    """Return the value with a description in place of each picture, and the pictures as parts."""
    parts: list[dict[str, Any]] = []
    return _describe(value, parts), parts


def forget_viewer(text: str) -> str:
    """Return a description for a reader that shows no result to its user by itself."""
    return _SEEN.sub(r"\1)", text)


def _describe(value: Any, parts: list[dict[str, Any]]) -> Any:
    if isinstance(value, str):
        return _describe_text(value, parts)
    if is_mapping(value):
        given: Mapping[Any, Any] = value
        return {name: _describe(inner, parts) for name, inner in given.items()}
    if is_sequence(value):
        items: Sequence[Any] = value
        return [_describe(inner, parts) for inner in items]
    return value


def _describe_text(text: str, parts: list[dict[str, Any]]) -> str:
    found = _PICTURE.fullmatch(text.strip()) if text.lstrip().startswith(MARK) else None
    if found is None:
        return text
    media_type, options, data = found.groups()
    is_readable = media_type in _READABLE and options.endswith(";base64") and len(text) <= MOST_CHARACTERS
    if is_readable and len(parts) < MOST_PICTURES:
        parts.append({"type": "image_url", "image_url": {"url": text.strip()}})
    size = len(data) * 3 // 4 if options.endswith(";base64") else len(data)
    return f"(A picture, {media_type}, {max(size // 1000, 1)} kB. The user sees it.)"
