"""Write a conversation as the input items of the Responses API.

Nothing is stored at the server, so each request carries all items. Reasoning comes back encrypted, in its
place before the text or the call that it led to; ids of messages and calls are left out, because the server
would look for what it did not keep.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dovetail.data.shapes import is_list
from dovetail.errors import ConfigError
from dovetail.events.call import ChatMessage
from dovetail.requesters.content import build_part, dump, is_parts
from dovetail.requesters.media import read_media
from dovetail.requesters.parts import CallIds, CallPiece, OwnPiece, TextPiece, arrange

_IDS = CallIds("(?s:.{1,64})")


def build_input(messages: Sequence[ChatMessage], source: str, *, is_stored: bool) -> list[dict[str, Any]]:
    """Return the items of a conversation; `source` names the API whose own parts go back.

    With `is_stored` the server keeps answers, and finds reasoning by its id.
    """
    items: list[dict[str, Any]] = []
    for message in messages:
        if message["role"] == "assistant":
            items.extend(_build_answer(message, source, is_stored=is_stored))
        elif message["role"] == "tool":
            items.append(_build_result(message))
        else:
            items.append({"role": message["role"], "content": _build_content(message.get("content"))})
    return items


def _build_answer(message: ChatMessage, source: str, *, is_stored: bool) -> Iterator[dict[str, Any]]:
    reasoning: list[dict[str, Any]] = []
    phase: dict[str, Any] = {}
    for piece in arrange(message, source):
        data: Mapping[str, Any] = piece.data if isinstance(piece, OwnPiece) else {"type": ""}
        kind = data.get("type")
        if kind == "reasoning":
            reasoning.extend(_build_reasoning(data, is_stored=is_stored))
            continue
        if kind == "message":
            named = data.get("phase")
            phase = {"phase": named} if isinstance(named, str) else {}
            continue
        if not isinstance(kind, str):
            continue  # not an item of this API
        # The server refuses reasoning that no item follows, as in an answer that was cut off.
        yield from reasoning
        reasoning = []
        if isinstance(piece, TextPiece):
            yield {"role": "assistant", "content": piece.text, **phase}
            phase = {}
        elif isinstance(piece, CallPiece):
            yield _build_call(piece)
        else:
            yield dict(data)


def _build_call(call: CallPiece) -> dict[str, Any]:
    arguments = json.dumps(call.arguments, ensure_ascii=False)
    return {
        "type": "function_call",
        "call_id": _IDS.fit(call.call_id),
        "name": call.name,
        "arguments": arguments,
    }


def _build_reasoning(item: Mapping[str, Any], *, is_stored: bool) -> Iterator[dict[str, Any]]:
    """Yield the item as the server takes it back; nothing if it could not read it."""
    kept = {name: value for name, value in item.items() if name != "status"}
    kept["summary"] = summary if is_list(summary := kept.get("summary")) else []
    if isinstance(encrypted := kept.get("encrypted_content"), str) and encrypted:
        kept.pop("content", None)  # OpenAI takes either, never both
        yield kept
    elif kept.get("content") or is_stored:
        kept.pop("encrypted_content", None)
        yield kept


def _build_result(message: ChatMessage) -> dict[str, Any]:
    output = _build_content(message.get("content"))
    call_id = _IDS.fit(str(message["tool_call_id"]))
    return {"type": "function_call_output", "call_id": call_id, "output": output}


def _build_content(content: Any) -> str | list[dict[str, Any]]:
    if content is None or isinstance(content, str):
        return content or ""
    return [build_input_part(part) for part in content] if is_parts(content) else dump(content)


def build_input_part(part: Mapping[str, Any]) -> dict[str, Any]:
    """Return a part of a message; raise a ConfigError if the API does not take it."""
    media = read_media(part)
    if media is not None and media.kind in ("audio", "video"):
        raise ConfigError(
            f"The Responses API does not take {media.kind}.",
            hint="Send a transcript, or use a model that accepts it; for audio, set model.api to 'chat'.",
        )
    built = build_part(part)
    kind = built["type"]
    if kind == "text":
        return {"type": "input_text", "text": built["text"]}
    if kind == "image_url":
        image = built["image_url"]
        return {"type": "input_image", "image_url": image["url"], "detail": image.get("detail", "auto")}
    if kind == "file":
        return {"type": "input_file", **_build_file(built["file"])}
    return dict(built)


def _build_file(file: Mapping[str, Any]) -> dict[str, Any]:
    address = str(file.get("file_data", ""))
    if address.startswith(("http://", "https://")):
        return {"file_url": address}
    return dict(file)
