"""Prepare messages for sending: parts in the shape that chat models expect, anything else as text."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dovetail.data.shapes import is_list, is_mapping
from dovetail.errors import ConfigError, DovetailError
from dovetail.events.call import ChatMessage
from dovetail.lazy import lazy
from dovetail.requesters.media import Media, read_media
from dovetail.schema.json_data import to_json_data

yaml = lazy("yaml")
AUDIO_FORMATS = {"audio/mpeg": "mp3", "audio/mp3": "mp3", "audio/wav": "wav", "audio/x-wav": "wav"}


def build_messages(messages: Sequence[ChatMessage]) -> list[dict[str, Any]]:
    """Return the messages as JSON data, without what is for one provider only; others need no deep copy."""
    return [_build_message(message) for message in messages]


def settle_attachments(
    messages: Sequence[ChatMessage], check: Callable[[Mapping[str, Any]], object]
) -> list[ChatMessage]:
    """Return the messages with a note in place of each attachment for which `check` raises an error.

    An earlier model may have read it. In the newest message of the user it is an error.
    """
    users = [place for place, message in enumerate(messages) if message.get("role") == "user"]
    newest = users[-1] if users else None
    return [_settle(message, check, may_fail=place == newest) for place, message in enumerate(messages)]


def _settle(
    message: ChatMessage, check: Callable[[Mapping[str, Any]], object], *, may_fail: bool
) -> ChatMessage:
    if not is_parts(message.get("content")):
        return message
    settled: list[Mapping[str, Any]] = []
    for part in message["content"]:
        try:
            if part["type"] != "text":
                check(part)
            settled.append(part)
        except DovetailError:
            if may_fail:
                raise
            settled.append({"type": "text", "text": _write_note(part)})
    return {**message, "content": settled}


def _write_note(part: Mapping[str, Any]) -> str:
    try:
        media = read_media(part)
    except ConfigError:
        media = None
    kind = (media.media_type if media else "") or part["type"]
    return f"(An attachment of type {kind} was here; this model cannot read it.)"


def build_part(part: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a part in OpenAI's shape; images, files and audio have `data` and `media_type`, or a `url`."""
    kind = part["type"]
    if kind == "image_url" and isinstance(part.get("image_url"), str):
        return {**part, "image_url": {"url": part["image_url"]}}
    media = read_media(part) if kind in ("image", "file", "audio") and part.keys() & {"data", "url"} else None
    if media is None:
        return part
    is_audio = kind == "audio" or (media.kind == "audio" and media.data)
    return _build_audio(media) if is_audio else _build_file(media)


def read_text(content: Any) -> str:
    """Return the text of a content; of parts, only text parts."""
    if isinstance(content, str):
        return content
    if is_parts(content):
        return "\n".join(part["text"] for part in content if isinstance(part.get("text"), str))
    return "" if content is None else dump(content)


def is_parts(content: Any) -> bool:
    """Return whether a content is a list of parts, each with a type, and not just any list."""
    return is_list(content) and all(
        is_mapping(part) and isinstance(part.get("type"), str) for part in content
    )


def dump(value: Any) -> str:
    """Return data as text for a model: containers as YAML, anything else as plain text."""
    plain = to_json_data(value)
    return yaml.safe_dump(plain, allow_unicode=True) if is_mapping(plain) or is_list(plain) else str(plain)


def _build_message(message: ChatMessage) -> dict[str, Any]:
    built = {key: value for key, value in message.items() if key != "provider_parts"}
    content = built.get("content")
    if is_parts(content):
        built["content"] = [build_part(part) for part in built["content"]]
    elif content is not None and not isinstance(content, str):
        built["content"] = dump(content)
    if calls := built.get("tool_calls"):
        built["tool_calls"] = [_build_call(call) for call in calls]
    return built


def _build_call(call: Mapping[str, Any]) -> Mapping[str, Any]:
    function = call["function"]
    given = function.get("arguments")
    if isinstance(given, str) and _is_object(given):
        return call
    # Servers that read the history reject other arguments, and with them every later message.
    arguments = json.dumps(read_arguments(given), ensure_ascii=False)
    return {**call, "function": {**function, "arguments": arguments}}


def _is_object(text: str) -> bool:
    try:
        return is_mapping(json.loads(text, parse_constant=_reject_constant))
    except (ValueError, RecursionError):
        return False


def read_arguments(arguments: Any) -> dict[str, Any]:
    """Return the arguments of a call as an object, whatever the model wrote."""
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments or "{}", strict=False, parse_constant=_reject_constant)
        except (ValueError, RecursionError):
            return {"value": arguments}
    if arguments is None:
        return {}
    return dict(arguments) if is_mapping(arguments) else {"value": arguments}


def _reject_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON.")


def _build_audio(media: Media) -> Mapping[str, Any]:
    if not media.data:
        raise ConfigError("Audio parts must be inlined in `data`; models do not fetch audio URLs.")
    form = AUDIO_FORMATS.get(media.media_type) or media.media_type.partition("/")[2]
    sound = {"data": media.data, "format": form}
    return {"type": "input_audio", "input_audio": sound}


def _build_file(media: Media) -> Mapping[str, Any]:
    address = media.url or f"data:{media.media_type};base64,{media.data}"
    if media.kind == "image":
        return {"type": "image_url", "image_url": {"url": address}}
    return {"type": "file", "file": {"filename": media.filename or "attachment", "file_data": address}}
