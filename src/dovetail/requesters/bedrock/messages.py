"""Write messages the way the Converse API takes them: alternating roles, and blocks of content."""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dovetail.errors import ConfigError
from dovetail.events.call import ChatMessage
from dovetail.requesters.content import dump, is_parts
from dovetail.requesters.media import Media, read_media
from dovetail.requesters.parts import CallPiece, OwnPiece, TextPiece, arrange

Block = dict[str, Any]
"""A block of content, such as `{"text": "Hello"}`."""

LONGEST_ID = 64
LONGEST_NAME = 200
START = "(The conversation continues.)"
SEE_DOCUMENT = "(See the attached document.)"
_BAD_ID = re.compile(r"[^a-zA-Z0-9_-]")
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
_TEXTS = ("application/json", "application/xml", "application/yaml", "application/x-yaml")


@dataclass(slots=True)
class Conversation:
    """The system prompt and the messages of a body."""

    system: list[Block] = field(default_factory=list[Block])
    messages: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    def add(self, role: str, blocks: Iterable[Block]) -> None:
        """Append blocks to the last message if it has this role, else to a new one; never an empty one."""
        filled = [block for block in blocks if "text" not in block or block["text"].strip()]
        if not filled:
            return
        if self.messages and self.messages[-1]["role"] == role:
            self.messages[-1]["content"].extend(filled)
        else:
            self.messages.append({"role": role, "content": filled})


def write_conversation(messages: Sequence[ChatMessage], source: str) -> Conversation:
    """Return the messages as the API takes them; `source` names the parts that go back to it."""
    conversation = Conversation()
    for message in messages:
        role = message["role"]
        if role in ("system", "developer"):
            texts = write_content(message.get("content"))
            conversation.system += [block for block in texts if block.get("text", "").strip()]
        elif role == "assistant":
            conversation.add("assistant", _write_answer(message, source))
        elif role == "tool":
            conversation.add("user", [_write_result(message)])
        else:
            conversation.add("user", write_content(message.get("content")))
    _complete(conversation)
    return conversation


def _complete(conversation: Conversation) -> None:
    messages = conversation.messages
    if not messages:  # the API wants a message of the user
        messages.append({"role": "user", "content": conversation.system or [{"text": START}]})
        conversation.system = []
    elif messages[0]["role"] == "assistant":
        messages.insert(0, {"role": "user", "content": [{"text": START}]})
    last = messages[-1]
    if last["role"] == "assistant" and "text" in last["content"][-1]:
        last["content"][-1] = {"text": last["content"][-1]["text"].rstrip()}
    names: set[str] = set()
    for message in messages:
        _complete_documents(message["content"], names)


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


def _write_answer(message: ChatMessage, source: str) -> list[Block]:
    blocks: list[Block] = []
    for piece in arrange(message, source):
        if isinstance(piece, TextPiece):
            blocks.append({"text": piece.text})
        elif isinstance(piece, OwnPiece):
            blocks.append({"reasoningContent": dict(piece.data)})
        else:
            blocks.append(_write_call(piece))
    return blocks


def _write_call(piece: CallPiece) -> Block:
    call = {"toolUseId": _write_id(piece.call_id), "name": piece.name, "input": piece.arguments}
    return {"toolUse": call}


def _write_result(message: ChatMessage) -> Block:
    content = [
        block for block in write_content(message.get("content")) if "text" not in block or block["text"]
    ]
    identifier = _write_id(str(message.get("tool_call_id", "")))
    return {"toolResult": {"toolUseId": identifier, "content": content or [{"text": "(empty)"}]}}


def _write_id(call_id: str) -> str:
    """Return an id that the API accepts; another provider's may be too long or have other characters."""
    written = _BAD_ID.sub("_", call_id)
    if written == call_id and 0 < len(call_id) <= LONGEST_ID:
        return call_id
    return f"call_{hashlib.sha256(call_id.encode('utf-8', 'replace')).hexdigest()[:32]}"


def write_content(content: Any) -> list[Block]:
    """Return the blocks of a content: a text, a list of parts, or any data, which becomes text."""
    if isinstance(content, str):
        return [{"text": content}]
    if content is None:
        return []
    if is_parts(content):
        return [_write_part(part) for part in content]
    return [{"text": dump(content)}]


def _write_part(part: Mapping[str, Any]) -> Block:
    media = read_media(part)
    if media is not None:
        return _write_media(media)
    if part["type"] == "text":
        return {"text": str(part.get("text", ""))}
    return {name: value for name, value in part.items() if name != "type"}  # a block of the API itself


def _write_media(media: Media) -> Block:
    kind = "document" if media.kind == "file" else media.kind
    form = FORMATS[kind].get(media.media_type)
    if form is None and kind == "document":
        is_text = media.media_type.startswith("text/") or media.media_type in _TEXTS
        form = "txt" if is_text else None
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


def name_called_tools(messages: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the names of the tools that were called, each once."""
    blocks = (block for message in messages for block in message["content"])
    return list(dict.fromkeys(block["toolUse"]["name"] for block in blocks if "toolUse" in block))
