"""A file of a user's message as a model reads it: text as text, images and the rest as they are."""

import base64
import binascii
from typing import Any
from urllib.parse import unquote_to_bytes

from dovetail.sessions.message import Part

LONGEST_TEXT = 100_000
"""Characters of a text file that a model is given."""


def to_piece(part: Part) -> dict[str, Any]:
    """One file as a piece of a message's content."""
    media_type, url = str(part.get("mediaType") or ""), str(part.get("url") or "")
    if media_type.startswith("image/"):
        return {"type": "image_url", "image_url": {"url": url}}
    name = str(part.get("filename") or "attachment")
    text = _read_text(url)
    if text is None:
        return {"type": "file", "url": url, "media_type": media_type, "filename": name}
    return {"type": "text", "text": f'<file name="{name}">\n{_shorten(text)}\n</file>'}


def _read_text(url: str) -> str | None:
    """What a data address holds, if it is text."""
    head, comma, body = url.partition(",")
    if not head.startswith("data:") or not comma:
        return None
    raw = unquote_to_bytes(body)
    try:
        text = (base64.b64decode(raw) if head.endswith(";base64") else raw).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None
    return None if "\0" in text else text


def _shorten(text: str) -> str:
    left = len(text) - LONGEST_TEXT
    return text if left <= 0 else f"{text[:LONGEST_TEXT]}\n[{left} more characters were left out]"
