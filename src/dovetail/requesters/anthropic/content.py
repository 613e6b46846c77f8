"""Write messages the way the Messages API takes them: alternating roles, and blocks of content."""

import base64
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
"""A block of content, such as `{"type": "text", "text": "Hello"}`."""

THINKING = ("thinking", "redacted_thinking")
"""The types of blocks that hold thinking."""

_START = "(The conversation continues.)"
_BAD_ID = re.compile(r"[^a-zA-Z0-9_-]")
_TEXTS = ("application/json", "application/xml", "application/yaml", "application/x-yaml")


@dataclass(slots=True)
class Conversation:
    """The system prompt and the messages of a body."""

    system: list[Block] = field(default_factory=list[Block])
    messages: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    def add(self, role: str, blocks: Iterable[Block]) -> None:
        """Append blocks to the last message if it has this role, else to a new one; never an empty one."""
        filled = [block for block in blocks if block["type"] != "text" or block["text"].strip()]
        if not filled:
            return
        if self.messages and self.messages[-1]["role"] == role:
            self.messages[-1]["content"].extend(filled)
        else:
            self.messages.append({"role": role, "content": filled})


def write_conversation(messages: Sequence[ChatMessage], source: str, *, thinks: bool = True) -> Conversation:
    """Return the messages as the API takes them; `source` names the parts that go back to it.

    Without `thinks`, earlier thinking is left out.
    """
    conversation = Conversation()
    for message in messages:
        role = message["role"]
        if role in ("system", "developer"):
            blocks = write_content(message.get("content"))
            conversation.system += [block for block in blocks if str(block.get("text") or "").strip()]
        elif role == "assistant":
            blocks = write_answer(message, source)
            conversation.add(
                "assistant", (block for block in blocks if thinks or block["type"] not in THINKING)
            )
        elif role == "tool":
            conversation.add("user", [write_result(message)])
        else:
            conversation.add("user", write_content(message.get("content")))
    _complete(conversation)
    return conversation


def _complete(conversation: Conversation) -> None:
    messages = conversation.messages
    if not messages:  # a system prompt alone is no request
        conversation.add("user", conversation.system or [_write_text(_START)])
        conversation.system = []
    elif messages[0]["role"] == "assistant":
        messages.insert(0, {"role": "user", "content": [_write_text(_START)]})
    last = messages[-1]["content"][-1]
    if messages[-1]["role"] == "assistant" and last["type"] == "text":
        messages[-1]["content"][-1] = {**last, "text": last["text"].rstrip()}


def write_answer(message: ChatMessage, source: str) -> list[Block]:
    """Return the blocks of an assistant's message, in the order in which they came."""
    blocks: list[Block] = []
    for piece in arrange(message, source):
        if isinstance(piece, TextPiece):
            blocks.append(_write_text(piece.text))
        elif isinstance(piece, CallPiece):
            blocks.append(_write_call(piece))
        else:
            _add_own(piece, blocks)
    while blocks and blocks[-1]["type"] in THINKING:
        blocks.pop()  # the API rejects thinking that leads to nothing, as in an interrupted answer
    return blocks


def _write_call(piece: CallPiece) -> Block:
    return {
        "type": "tool_use",
        "id": write_id(piece.call_id),
        "name": piece.name,
        "input": dict(piece.arguments),
    }


def _add_own(piece: OwnPiece, blocks: list[Block]) -> None:
    """Add a block as it came; one of text with citations replaces the same text without them."""
    block = dict(piece.data)
    if block["type"] == "text":
        said = blocks.pop() if blocks and blocks[-1]["type"] == "text" else _write_text("")
        if not said["text"].endswith(block["text"]):
            blocks.append(said)
            return
        before = said["text"].removesuffix(block["text"])
        blocks.append(_write_text(before))
    blocks.append(block)


def write_result(message: ChatMessage) -> Block:
    """Return the result of a call as a block."""
    result: Block = {"type": "tool_result", "tool_use_id": write_id(str(message["tool_call_id"]))}
    content = [
        block
        for block in write_content(message.get("content"))
        if block["type"] != "text" or block["text"].strip()
    ]
    if content:
        result["content"] = content
    if message.get("is_error"):
        result["is_error"] = True
    return result


def write_id(call_id: str) -> str:
    """Return a call's id in the characters that the API allows; other providers allow more."""
    return _BAD_ID.sub(lambda match: f"_{ord(match[0]):x}_", call_id) or "call"


def write_content(content: Any) -> list[Block]:
    """Return the blocks of a content: a text, a list of parts, or any data, which becomes text."""
    if isinstance(content, str):
        return [_write_text(content)]
    if content is None:
        return []
    if is_parts(content):
        return [write_part(part) for part in content]
    return [_write_text(dump(content))]


def write_part(part: Mapping[str, Any]) -> Block:
    """Return a part as a block; blocks of the API itself stay as they are."""
    media = read_media(part)
    if media is None:
        return dict(part)
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
    kind = media.media_type
    if kind.startswith("text/") or kind in _TEXTS:
        text = base64.b64decode(media.data).decode("utf-8", "replace")
        return {"type": "text", "media_type": "text/plain", "data": text}
    if media.kind != "image" and kind != "application/pdf":
        raise ConfigError(
            f"Anthropic's models do not accept files of type {kind!r}.",
            hint="Send an image, a PDF or text.",
        )
    return {"type": "base64", "media_type": kind, "data": media.data}


def _write_text(text: str) -> Block:
    return {"type": "text", "text": text}


def name_called_tools(messages: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the names of the tools that were called, each once."""
    calls = (
        block["name"] for message in messages for block in message["content"] if block["type"] == "tool_use"
    )
    return list(dict.fromkeys(calls))
