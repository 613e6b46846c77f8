"""Conversations as Gemini's `contents`: turns of user and model, each with its parts.

A part of an answer that only Gemini can read (`ProviderPartDelta`) has one of four kinds: a `part` goes back
as it came; a `call` or a `text` belongs to the call or to the `length` characters that follow it, and has the
`fields` next to them, such as `thoughtSignature`; a `metadata` does not go back. `model` is the one that made
it: signatures are worth nothing to another generation of models.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dovetail.data.shapes import is_mapping, read_count
from dovetail.data.text import expected_one_of
from dovetail.errors import ConfigError
from dovetail.events.call import ChatMessage
from dovetail.requesters.content import dump, is_parts, read_text
from dovetail.requesters.media import Media, read_media
from dovetail.requesters.parts import CallPiece, OwnPiece, arrange

SOURCE = "google"
SKIP_SIGNATURE = "skip_thought_signature_validator"
"""The signature that Google defines for calls which another model has made."""

SIGNATURE = "thoughtSignature"
SIGNING = 3
"""The first generation of models that demands a signature with the first call of each answer, and takes
attachments inside the results of calls."""

Part = dict[str, Any]
_VERSION = re.compile(r"gemini-(\d+)(?:\.(\d+))?")
_SCHEMES = ("https", "http", "gs")
_READABLE = ["text", "image", "file", "audio", "video", "image_url", "input_audio"]


def read_version(model: str) -> tuple[int, int]:
    """Return the version in a model's name; names without one (`gemini-flash-latest`) are of the newest."""
    found = _VERSION.search(model)
    if found is None:
        return (SIGNING, 0) if "gemini" in model else (0, 0)
    return int(found.group(1)), int(found.group(2) or 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Own:
    """A part that only Gemini can read: parts to send as they are, or fields of the next piece."""

    parts: Sequence[Part] = ()
    fields: Mapping[str, Any] = field(default_factory=dict[str, Any])
    length: int = 0


class ContentWriter:
    """Writer of one conversation, for a model of one generation: 2 for Gemini 2.5.

    With `is_signed` off, no signature goes back, because the server has rejected one.
    """

    def __init__(self, generation: int, *, is_signed: bool = True) -> None:
        self._generation = generation
        self._is_signed = is_signed
        self._names: dict[str, str] = {}  # of functions, by the id of the call
        self._order: dict[str, int] = {}  # of calls in their answer
        self._contents: list[dict[str, Any]] = []

    def write(self, messages: Sequence[ChatMessage]) -> list[dict[str, Any]]:
        """Return the contents; messages of one role that follow each other become one."""
        place = 0
        while place < len(messages):
            message = messages[place]
            end = place + 1
            if message.get("role") == "tool":
                while end < len(messages) and messages[end].get("role") == "tool":
                    end += 1
                self._add("user", self._write_results(messages[place:end]))
            elif message.get("role") == "assistant":
                self._add("model", self._write_answer(message))
            else:
                self._add("user", write_parts(message.get("content")))
            place = end
        return self._contents

    def _add(self, role: str, parts: Iterable[Part]) -> None:
        added = list(parts)
        if not added:
            return  # Gemini rejects a content without parts
        if self._contents and self._contents[-1]["role"] == role:
            self._contents[-1]["parts"].extend(added)
        else:
            self._contents.append({"role": role, "parts": added})

    def _write_answer(self, message: ChatMessage) -> list[Part]:
        parts: list[Part] = []
        fields: Mapping[str, Any] = {}  # of a part of Gemini's that belongs to the next piece
        length = 0
        for piece in arrange(message, SOURCE):
            if isinstance(piece, OwnPiece):
                own = self._read_own(piece.data)
                parts.extend(own.parts)
                fields, length = own.fields, own.length
                continue
            if isinstance(piece, CallPiece):
                parts.append(self._write_call(piece, fields))
            else:
                parts.extend(_write_text(piece.text, fields, length))
            fields = {}
        return self._sign(parts)

    def _read_own(self, data: Mapping[str, Any]) -> _Own:
        """Read a part of Gemini's, without the signature of another generation."""
        kind = data.get("kind")
        given = data.get("part" if kind == "part" else "fields")
        kept = dict(given) if is_mapping(given) else {}
        if not self._is_signed or read_version(str(data.get("model")))[0] != self._generation:
            kept.pop(SIGNATURE, None)
        if kind == "part":
            says_nothing = not kept or (
                SIGNATURE not in kept and ("thought" in kept or not kept.get("text", "."))
            )
            return _Own() if says_nothing else _Own(parts=[kept])
        return (
            _Own(fields=kept, length=read_count(data.get("length"))) if kind in ("call", "text") else _Own()
        )

    def _write_call(self, call: CallPiece, fields: Mapping[str, Any]) -> Part:
        self._names[call.call_id] = call.name
        self._order[call.call_id] = len(self._order)
        function = {"id": call.call_id, "name": call.name, "args": call.arguments}
        return {"functionCall": function, **fields}

    def _sign(self, parts: list[Part]) -> list[Part]:
        """Return the parts of an answer with a signature on the first call, if the model demands one."""
        first = next((part for part in parts if "functionCall" in part), None)
        if first is not None and self._generation >= SIGNING:
            first.setdefault(SIGNATURE, SKIP_SIGNATURE)
        return parts

    def _write_results(self, messages: Sequence[ChatMessage]) -> list[Part]:
        """Return the results in the order of their calls, and their attachments."""
        ordered = sorted(messages, key=lambda message: self._order.get(_read_id(message), len(self._order)))
        results: list[Part] = []
        attachments: list[Part] = []
        for message in ordered:
            name = self._names.get(_read_id(message))
            text, media = _read_result(message.get("content"))
            if name is None:  # a result whose call is no longer in the history
                results.append({"text": text})
                attachments.extend(media)
                continue
            result: dict[str, Any] = {"id": _read_id(message), "name": name, "response": {"output": text}}
            if media and self._generation >= SIGNING:
                result["parts"] = media
            else:
                attachments.extend(media)
            results.append({"functionResponse": result})
        return results + attachments


def write_parts(content: Any) -> list[Part]:
    """Return the parts of a user's message."""
    if not is_parts(content):
        text = content if isinstance(content, str) else "" if content is None else dump(content)
        return [{"text": text}] if text else []
    return [part for entry in content for part in write_part(entry)]


def write_part(entry: Mapping[str, Any]) -> list[Part]:
    """Return a part of a message; raise a ConfigError if Gemini cannot read it."""
    text = entry.get("text")
    if isinstance(text, str):
        return [{"text": text}] if text else []
    media = read_media(entry)
    if media is None:
        raise ConfigError(
            f"Gemini cannot read a part of type {entry['type']!r}. {expected_one_of(_READABLE)}",
        )
    return [_write_media(media)]


def _write_media(media: Media) -> Part:
    if media.url:
        scheme = media.url.partition(":")[0].lower()
        if scheme not in _SCHEMES:
            raise ConfigError(
                f"Gemini cannot fetch an attachment by {scheme[:20]!r}. {expected_one_of(_SCHEMES)}",
                hint="Inline the attachment: pass its bytes in `data`.",
            )
        named = {"mimeType": media.media_type} if media.media_type else {}
        return {"fileData": {"fileUri": media.url, **named}}
    return {"inlineData": {"mimeType": media.media_type, "data": media.data}}


def _write_text(text: str, fields: Mapping[str, Any], length: int) -> list[Part]:
    """Return text as parts; the fields belong to its first `length` characters."""
    if not fields:
        return [{"text": text}] if text else []
    first, rest = text[:length], text[length:]
    return [{"text": first, **fields}, *([{"text": rest}] if rest else [])]


def _read_id(message: ChatMessage) -> str:
    return str(message.get("tool_call_id"))


def _read_result(content: Any) -> tuple[str, list[Part]]:
    """Return the text of a call's result, and its attachments as parts."""
    if not is_parts(content):
        return read_text(content), []
    media = [read_media(part) for part in content]
    return read_text(content), [_write_media(found) for found in media if found is not None]
