"""What `agent.attachment` takes: paths and bytes become parts with data; parts without data are refused."""

import base64
import binascii
import logging
import mimetypes
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeGuard

from dovetail.data.private_folder import REFUSAL, find_private_path
from dovetail.data.shapes import is_list, is_mapping, is_tuple
from dovetail.data.text import shorten
from dovetail.errors import ConfigError

logger = logging.getLogger(__name__)

_SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (rb"RIFF....WEBP", "image/webp"),
    (rb"RIFF....WAVE", "audio/wav"),
    (b"ID3", "audio/mpeg"),
    (b"fLaC", "audio/flac"),
    (b"OggS", "audio/ogg"),
    (rb"....ftyp", "video/mp4"),
    (b"%PDF-", "application/pdf"),
)
"""How files of these types begin, as regular expressions."""

_MEDIA = ("image", "audio", "video", "file")
_WRAPPED = ("image_url", "input_audio")
_FILE_NAME = re.compile(r"\S+\.(?:png|jpe?g|gif|webp|pdf|mp3|wav|mp4|docx|xlsx)", re.IGNORECASE)
_BASE64 = re.compile(r"[A-Za-z0-9+/\s]*={0,2}\s*")
_PLACEHOLDER = "${"
_ACCEPTED = "Pass a Path, bytes, text, or a part such as {'type': 'image', 'url': 'https://…'}."


def read_attachments(value: Any) -> Any:
    """Return what is attached, with the content of files and bytes in place of them.

    Raises:
        ConfigError: a file cannot be read, a media type is unknown, or a part has nothing to send.
    """
    if is_list(value) or is_tuple(value):
        return [_read(part) for part in value]
    return _read(value)


def _is_path(value: object) -> "TypeGuard[os.PathLike[str]]":
    return isinstance(value, os.PathLike)


def _read(value: Any) -> Any:
    if _is_path(value):
        return _read_file(Path(value), "", "")
    if isinstance(value, (bytes, bytearray)):
        return _make_part(bytes(value), "", "", "")
    if is_mapping(value):
        return _check_part(value)
    if isinstance(value, str):
        _warn_of_name(value)
    elif not (value is None or isinstance(value, (int, float)) or hasattr(value, "model_dump")):
        raise ConfigError(f"Cannot attach {shorten(value)}.", hint=_ACCEPTED)
    return value


def _warn_of_name(text: str) -> None:
    if _FILE_NAME.fullmatch(text):
        instead = f"{{'type': 'image', 'url': {text!r}}}" if "://" in text else f"Path({text!r})"
        logger.warning("The text %r is attached, not its content. Write attachment(%s).", text, instead)


def _check_part(part: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a part of a message; one of a file is read, one that holds nothing to send is refused."""
    kind = part.get("type")
    if kind in _MEDIA and ("path" in part or _is_path(part.get("data"))):
        path = part["path"] if "path" in part else part["data"]
        return _read_file(Path(path), str(part.get("media_type") or ""), str(part.get("filename") or ""))
    if kind in _MEDIA and part.get("data"):
        return _check_data(part)
    if kind in (*_MEDIA, *_WRAPPED) and not part.get(kind) and (kind in _WRAPPED or not part.get("url")):
        needed = f"`{kind}`" if kind in _WRAPPED else "`data`, a `url` or a `path`"
        raise ConfigError(f"Cannot attach {shorten(dict(part))}: it has no {needed}.", hint=_ACCEPTED)
    return part


def _check_data(part: Mapping[str, Any]) -> Mapping[str, Any]:
    data, media_type, name = part["data"], part.get("media_type") or "", str(part.get("filename") or "")
    if isinstance(data, str):
        if _PLACEHOLDER in data:
            return part
        if not _BASE64.fullmatch(data):
            raise ConfigError(
                f"The `data` of an attachment must be bytes or base64, got {shorten(data)}.",
                hint=f"For a file, write attachment(Path({shorten(data)})).",
            )
        data = "" if media_type else _decode_head(data)
    if media_type or not isinstance(data, (bytes, bytearray)):
        return part
    return {**part, "media_type": _tell_type(bytes(data), name)}


def _decode_head(data: str) -> bytes:
    try:
        return base64.b64decode("".join(data[:80].split())[:40])
    except binascii.Error:
        return b""


def _read_file(path: Path, media_type: str, name: str) -> dict[str, Any]:
    if find_private_path(str(path), Path.cwd(), Path.cwd()) is not None:
        raise ConfigError(f"Cannot read the attachment {str(path)!r}: it {REFUSAL}.")
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ConfigError(f"Cannot read the attachment {str(path)!r}: {error.strerror}.") from error
    return _make_part(content, media_type, name or path.name, str(path))


def _make_part(content: bytes, media_type: str, name: str, place: str) -> dict[str, Any]:
    if not content:
        raise ConfigError(f"The attachment {place!r} is empty." if place else "The attachment is empty.")
    media_type = media_type or _tell_type(content, name)
    family = media_type.partition("/")[0]
    part = {"type": family if family in _MEDIA else "file", "data": base64.b64encode(content).decode("ascii")}
    return {**part, "media_type": media_type, **({"filename": name} if name else {})}


def _tell_type(content: bytes, name: str) -> str:
    """Return the media type by the first bytes, by the name, or as text if a named file is UTF-8."""
    for signature, media_type in _SIGNATURES:
        if re.match(signature, content, re.DOTALL):
            return media_type
    if guessed := mimetypes.guess_type(name)[0]:
        return guessed
    if name and _is_text(content):
        return "text/plain"
    raise ConfigError(
        f"Cannot tell the media type of the attachment {name or shorten(content[:40])!r}.",
        hint="Write {'type': 'file', 'data': …, 'media_type': 'application/…'}; for text, pass str.",
    )


def _is_text(content: bytes) -> bool:
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return b"\0" not in content
