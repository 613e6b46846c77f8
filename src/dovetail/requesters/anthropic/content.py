"""Write messages the way the Messages API takes them."""

import base64
import re
from collections.abc import Mapping
from typing import Any

from dovetail.errors import ConfigError
from dovetail.events.call import ChatMessage
from dovetail.requesters.blocks import Block, BlockWriter, drop_empty
from dovetail.requesters.media import Media, read_media
from dovetail.requesters.parts import CallPiece, OwnPiece

_THINKING = ("thinking", "redacted_thinking")
_BAD_ID = re.compile(r"[^a-zA-Z0-9_-]")


class MessagesWriter(BlockWriter):
    """Writer of a conversation for the Messages API."""

    def _write_text(self, text: str) -> Block:
        return {"type": "text", "text": text}

    def _write_part(self, part: Mapping[str, Any]) -> Block:
        media = read_media(part)
        return dict(part) if media is None else _write_media(media)

    def _write_call(self, piece: CallPiece) -> Block:
        call_id = _write_id(piece.call_id)
        return {"type": "tool_use", "id": call_id, "name": piece.name, "input": piece.arguments}

    def _write_result(self, message: ChatMessage) -> Block:
        result: Block = {"type": "tool_result", "tool_use_id": _write_id(str(message["tool_call_id"]))}
        if content := drop_empty(self.write_content(message.get("content"))):
            result["content"] = content
        if message.get("is_error"):
            result["is_error"] = True
        return result

    def _add_own(self, piece: OwnPiece, blocks: list[Block]) -> None:
        """Add a block as it came; one of text with citations replaces the same text without them."""
        block = dict(piece.data)
        if block["type"] == "text":
            said = blocks.pop() if blocks and blocks[-1]["type"] == "text" else self._write_text("")
            if not said["text"].endswith(block["text"]):
                blocks.append(said)
                return
            blocks.append(self._write_text(said["text"].removesuffix(block["text"])))
        blocks.append(block)

    def _is_thinking(self, block: Block) -> bool:
        return block["type"] in _THINKING

    def _is_result(self, block: Block) -> bool:
        return block["type"] == "tool_result"

    def _find_call(self, block: Block) -> str | None:
        return block["name"] if block["type"] == "tool_use" else None


def _write_id(call_id: str) -> str:
    """Return a call's id in the characters that the API allows; other providers allow more."""
    return _BAD_ID.sub(lambda match: f"_{ord(match[0]):x}_", call_id) or "call"


def _write_media(media: Media) -> Block:
    if media.kind in ("audio", "video"):
        raise ConfigError(
            f"Anthropic's models do not accept {media.kind}.",
            hint="Send a transcript as text, or use a model that accepts it.",
        )
    source = _write_data(media) if media.data else {"type": "url", "url": media.url}
    if media.kind == "image":
        return {"type": "image", "source": source}
    return {"type": "document", "source": source, **({"title": media.filename} if media.filename else {})}


def _write_data(media: Media) -> Block:
    if media.is_text:
        text = base64.b64decode(media.data).decode("utf-8", "replace")
        return {"type": "text", "media_type": "text/plain", "data": text}
    if media.kind != "image" and media.media_type != "application/pdf":
        raise ConfigError(
            f"Anthropic's models do not accept files of type {media.media_type!r}.",
            hint="Send an image, a PDF or text.",
        )
    return {"type": "base64", "media_type": media.media_type, "data": media.data}
