"""Write messages the way the Converse API takes them."""

import re
from collections.abc import Mapping
from typing import Any

from dovetail.data.shapes import is_mapping
from dovetail.errors import ConfigError
from dovetail.events.call import ChatMessage
from dovetail.requesters.blocks import Block, BlockWriter, drop_empty
from dovetail.requesters.media import Media, read_media
from dovetail.requesters.parts import CallIds, CallPiece, OwnPiece

LONGEST_NAME = 200
SEE_DOCUMENT = "(See the attached document.)"
_IDS = CallIds()
_BAD_NAME = re.compile(r"[^a-zA-Z0-9()\[\]-]+")
FORMATS = {
    "image": {"image/png": "png", "image/jpeg": "jpeg", "image/gif": "gif", "image/webp": "webp"},
    "document": {
        "application/pdf": "pdf",
        "text/csv": "csv",
        "text/html": "html",
        "text/markdown": "md",
        "application/msword": "doc",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
        "application/vnd.ms-excel": "xls",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
    },
    "audio": {"audio/mpeg": "mp3", "audio/wav": "wav", "audio/flac": "flac", "audio/ogg": "ogg"},
    "video": {"video/mp4": "mp4", "video/quicktime": "mov", "video/webm": "webm", "video/x-matroska": "mkv"},
}
"""The API's words for media types; any other text is a document of format `txt`."""


class ConverseWriter(BlockWriter):
    """Writer of a conversation for the Converse API."""

    def _complete(self) -> None:
        super()._complete()
        names: set[str] = set()
        for message in self.messages:
            _complete_documents(message["content"], names)

    def _write_text(self, text: str) -> Block:
        return {"text": text}

    def _write_part(self, part: Mapping[str, Any]) -> Block:
        media = read_media(part)
        if media is not None:
            return _write_media(media)
        if part["type"] == "text":
            return {"text": str(part.get("text", ""))}
        return {name: value for name, value in part.items() if name != "type"}

    def _write_call(self, piece: CallPiece) -> Block:
        call = {"toolUseId": _IDS.fit(piece.call_id), "name": piece.name, "input": piece.arguments}
        return {"toolUse": call}

    def _write_result(self, message: ChatMessage) -> Block:
        content = drop_empty(self.write_content(message.get("content"))) or [{"text": "(empty)"}]
        identifier = _IDS.fit(str(message.get("tool_call_id", "")))
        return {"toolResult": {"toolUseId": identifier, "content": content}}

    def _add_own(self, piece: OwnPiece, blocks: list[Block]) -> None:
        data = piece.data
        if is_mapping(data.get("reasoningText")) or isinstance(data.get("redactedContent"), str):
            blocks.append({"reasoningContent": dict(data)})

    def _is_thinking(self, block: Block) -> bool:
        return "reasoningContent" in block

    def _is_result(self, block: Block) -> bool:
        return "toolResult" in block

    def _find_call(self, block: Block) -> str | None:
        return block["toolUse"]["name"] if "toolUse" in block else None


def _complete_documents(blocks: list[Block], names: set[str]) -> None:
    """Give each document a name of its own, and a message with documents a text: the API wants both."""
    documents = [block["document"] for block in blocks if "document" in block]
    for document in documents:
        base, number = document["name"], 1
        while document["name"] in names:
            number += 1
            document["name"] = f"{base} {number}"
        names.add(document["name"])
    if documents and not any("text" in block for block in blocks):
        blocks.append({"text": SEE_DOCUMENT})


def _write_media(media: Media) -> Block:
    kind = "document" if media.kind == "file" else media.kind
    form = FORMATS[kind].get(media.media_type)
    if form is None and kind == "document":
        form = "txt" if media.is_text else None
    if form is None:
        raise ConfigError(
            f"Amazon Bedrock does not accept attachments of type {media.media_type!r}.",
            hint=f"Send one of: {', '.join(FORMATS[kind])}.",
        )
    block: Block = {"format": form, "source": _write_source(media)}
    if kind == "document":
        block["name"] = _BAD_NAME.sub(" ", media.filename).strip()[:LONGEST_NAME] or "document"
    return {kind: block}


def _write_source(media: Media) -> Block:
    if media.data:
        return {"bytes": media.data}
    if media.url.startswith("s3://"):
        return {"s3Location": {"uri": media.url}}
    raise ConfigError(
        f"Amazon Bedrock does not fetch {media.url[:200]!r}.",
        hint="Inline the attachment in `data`, or use an s3:// address.",
    )
