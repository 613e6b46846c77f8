"""Write messages the way the Messages API takes them."""

import base64
from collections.abc import Mapping
from typing import Any

from dovetail.errors import ConfigError
from dovetail.events.call import ChatMessage
from dovetail.requesters.blocks import Block, BlockWriter, drop_empty
from dovetail.requesters.media import Media, read_media
from dovetail.requesters.parts import CallIds, CallPiece, OwnPiece

_THINKING = ("thinking", "redacted_thinking")
_TEXTS = {"thinking": ("thinking", "signature"), "redacted_thinking": ("data",), "text": ("text",)}
"""Fields that blocks must have."""

_IMAGES = ("image/png", "image/jpeg", "image/gif", "image/webp")
_SERVER_CALLS = ("server_tool_use", "mcp_tool_use")
_IDS = CallIds("[a-zA-Z0-9_-]+")


class MessagesWriter(BlockWriter):
    """Writer of a conversation for the Messages API."""

    def _write_text(self, text: str) -> Block:
        return {"type": "text", "text": text}

    def _write_part(self, part: Mapping[str, Any]) -> Block:
        media = read_media(part)
        return dict(part) if media is None else _write_media(media)

    def _write_call(self, piece: CallPiece) -> Block:
        call_id = _IDS.fit(piece.call_id)
        return {"type": "tool_use", "id": call_id, "name": piece.name, "input": piece.arguments}

    def _write_result(self, message: ChatMessage) -> Block:
        result: Block = {"type": "tool_result", "tool_use_id": _IDS.fit(str(message["tool_call_id"]))}
        if content := drop_empty(self.write_content(message.get("content"))):
            result["content"] = content
        return result

    def _add_own(self, piece: OwnPiece, blocks: list[Block]) -> None:
        """Add a block as it came; one of text with citations replaces the same text without them."""
        block = dict(piece.data)
        if not _is_block(block):
            return
        if block["type"] == "text":
            said = blocks.pop() if blocks and blocks[-1]["type"] == "text" else self._write_text("")
            if not said["text"].endswith(block["text"]):
                blocks.append(said)
                return
            blocks.append(self._write_text(said["text"].removesuffix(block["text"])))
        blocks.append(block)

    def _complete(self) -> None:
        self._drop_unpaired()
        super()._complete()

    def _drop_unpaired(self) -> None:
        """Drop what an interrupted answer leaves of the provider's own tools: a call or a result alone.

        Calls of the turn in progress still wait for their results.
        """
        blocks = [block for message in self.messages for block in message["content"]]
        calls = {str(block.get("id")) for block in blocks if block["type"] in _SERVER_CALLS}
        answered = {str(block.get("tool_use_id")) for block in blocks if _is_server_result(block)}
        if calls == answered:
            return
        turn = [block for message in self._list_turn() for block in message["content"]]
        waiting = {str(block.get("id")) for block in turn if block["type"] in _SERVER_CALLS}
        unpaired = (calls ^ answered) - waiting
        messages, self.messages = self.messages, []
        for message in messages:
            kept = [block for block in message["content"] if _find_pair(block) not in unpaired]
            self._add(message["role"], self._strip_thinking(kept))

    def _is_thinking(self, block: Block) -> bool:
        return block["type"] in _THINKING

    def _is_result(self, block: Block) -> bool:
        return block["type"] == "tool_result"

    def _find_call(self, block: Block) -> str | None:
        return block["name"] if block["type"] == "tool_use" else None


def _is_block(data: Mapping[str, Any]) -> bool:
    """Return whether a provider part is a block of this API, and not another one's or damaged."""
    kind = data.get("type")
    if not isinstance(kind, str) or kind in ("tool_use", "tool_result"):
        return False
    return all(isinstance(data.get(name), str) for name in _TEXTS.get(kind, ())) and isinstance(
        data.get("text", ""), str
    )


def _is_server_result(block: Block) -> bool:
    return block["type"].endswith("_tool_result")


def _find_pair(block: Block) -> str | None:
    """Return the id that a call of the provider's own tools and its result share."""
    if block["type"] in _SERVER_CALLS:
        return str(block.get("id"))
    return str(block.get("tool_use_id")) if _is_server_result(block) else None


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
    if media.media_type not in (_IMAGES if media.kind == "image" else ("application/pdf",)):
        raise ConfigError(
            f"Anthropic's models do not accept files of type {media.media_type!r}.",
            hint="Send an image (PNG, JPEG, GIF or WebP), a PDF or text.",
        )
    return {"type": "base64", "media_type": media.media_type, "data": media.data}
