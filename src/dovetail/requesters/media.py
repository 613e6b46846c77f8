"""Attachments of messages, read from any shape, for model APIs with parts of their own."""

import base64
import mimetypes
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dovetail.data.shapes import is_mapping
from dovetail.errors import ConfigError

_DATA_URL = re.compile(r"data:([^;,]*)(?:;[^,]*)?;base64,", re.IGNORECASE)
_SOUNDS = {"mp3": "audio/mpeg", "wav": "audio/wav"}
_TEXTS = frozenset(
    [
        "ecmascript",
        "graphql",
        "javascript",
        "json",
        "jsonl",
        "ndjson",
        "sql",
        "toml",
        "typescript",
        "x-httpd-php",
        "x-javascript",
        "x-ndjson",
        "x-python",
        "x-sh",
        "x-tex",
        "x-toml",
        "x-typescript",
        "x-yaml",
        "xml",
        "yaml",
    ]
)
"""Types of `application/…` that are text."""
_KINDS = ("image", "file", "audio", "video")


@dataclass(frozen=True, slots=True, kw_only=True)
class Media:
    """An attachment: `data` in base64, or the `url` where the provider finds it.

    `kind` is image, audio, video or file (a PDF, a text, …). The media type of a URL is empty if neither the
    message nor the URL's ending says it.
    """

    kind: str
    media_type: str
    data: str = ""
    url: str = ""
    filename: str = ""

    @property
    def is_text(self) -> bool:
        """Whether it is text, in any format."""
        return is_text_type(self.media_type)


def is_text_type(media_type: str) -> bool:
    """Return whether a media type is one of text, in any format."""
    family, _, name = media_type.partition(";")[0].strip().lower().partition("/")
    if family != "application":
        return family == "text"
    return name in _TEXTS or name.endswith(("+json", "+xml", "+yaml"))


def read_media(part: Mapping[str, Any]) -> Media | None:
    """Return the attachment in a part of a message, in our shape or in OpenAI's; None for other parts."""
    kind = part.get("type")
    inner = part.get(str(kind))
    if kind in _KINDS and ("data" in part or "url" in part):
        return _read_part(str(kind), part)
    if kind == "image_url":
        address = inner.get("url") if is_mapping(inner) else inner
        return _read_url(str(address), "image", "", "")
    if kind == "input_audio" and is_mapping(inner):
        media_type = _SOUNDS.get(str(inner.get("format")), f"audio/{inner.get('format')}")
        return Media(kind="audio", media_type=media_type, data=str(inner.get("data", "")))
    if kind == "file" and is_mapping(inner) and "file_data" in inner:
        return _read_url(str(inner["file_data"]), "file", "", str(inner.get("filename") or ""))
    return None


def _read_part(kind: str, part: Mapping[str, Any]) -> Media:
    media_type, filename = str(part.get("media_type") or ""), str(part.get("filename") or "")
    data = part.get("data")
    if data is None:
        if not part.get("url"):
            raise ConfigError(f"A part of type {kind!r} has neither `data` nor a `url`.")
        return _read_url(str(part["url"]), kind, media_type, filename)
    if not media_type:
        raise ConfigError(f"A part of type {kind!r} has `data` but no `media_type`.")
    encoded = data if isinstance(data, str) else base64.b64encode(data).decode("ascii")
    return Media(kind=_name_kind(kind, media_type), media_type=media_type, data=encoded, filename=filename)


def _read_url(url: str, kind: str, media_type: str, filename: str) -> Media:
    inlined = _DATA_URL.match(url)
    data = url[inlined.end() :] if inlined else ""
    found = inlined.group(1) if inlined else mimetypes.guess_type(url.partition("?")[0])[0]
    media_type = media_type or found or ""
    return Media(
        kind=_name_kind(kind, media_type),
        media_type=media_type,
        data=data,
        url="" if inlined else url,
        filename=filename,
    )


def _name_kind(kind: str, media_type: str) -> str:
    """Return the kind of an attachment; a file that is an image is an image."""
    family = media_type.partition("/")[0]
    return family if kind == "file" and family in _KINDS else kind
