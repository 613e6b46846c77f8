"""A file of a user's message as a model reads it: text as text, images and the rest as they are."""

import base64
import binascii
from typing import Any
from urllib.parse import unquote_to_bytes

from dovetail.data.text import shorten
from dovetail.sessions.message import Part

_ADDRESSES = ("data:", "https://", "http://")
LONGEST_TEXT = 100_000
"""Characters of a text file that a model is given."""


def check_file(part: Part) -> str | None:
    """What is wrong with a file part, if anything."""
    media_type, url = part.get("mediaType"), part.get("url")
    if media_type and not (isinstance(media_type, str) and "/" in media_type):
        return f"`mediaType` of a file looks like text/plain, and is {shorten(media_type)}"
    if not isinstance(url, str) or not url.startswith(_ADDRESSES):
        return f"`url` of a file begins with data:, https:// or http://, and is {shorten(url)}"
    head, comma, body = url.partition(",")
    if not head.startswith("data:"):
        return None
    if not comma:
        return f"`url` of a file looks like data:text/plain;base64,SGVsbG8=, and is {shorten(url)}"
    try:
        base64.b64decode(unquote_to_bytes(body) if head.endswith(";base64") else b"", validate=True)
    except binascii.Error as error:
        return f"`url` of a file is no base64: {error}"
    return None


def to_piece(part: Part) -> dict[str, Any]:
    """One file as a piece of a message's content."""
    url = str(part.get("url") or "")
    media_type = str(part.get("mediaType") or "") or _read_type(url)
    if media_type.startswith("image/"):
        return {"type": "image_url", "image_url": {"url": url}}
    name = str(part.get("filename") or "attachment")
    text = _read_text(url) if url else "[this file is gone]"
    if text is None:
        return {"type": "file", "url": url, "media_type": media_type, "filename": name}
    return {"type": "text", "text": f'<file name="{name}">\n{_shorten(text)}\n</file>'}


def _read_type(url: str) -> str:
    """The type that a data address names: browsers know none for many files."""
    if not url.startswith("data:"):
        return ""
    return url[len("data:") :].partition(",")[0].partition(";")[0]


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
