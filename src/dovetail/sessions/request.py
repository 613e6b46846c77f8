"""What is asked of a chat, and what is known when its answer begins."""

import base64
import binascii
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias
from urllib.parse import unquote_to_bytes

from dovetail.data.clean import clean_data
from dovetail.data.shapes import is_mapping
from dovetail.data.text import shorten
from dovetail.events.call import ChatMessage
from dovetail.events.model_events import ModelRequestEvent
from dovetail.loop.request_log import show_messages
from dovetail.runs.run import RunHandle
from dovetail.sessions.message import LOCAL_OWNER, Message, MessageTree, Part, Session
from dovetail.skills.injection import PART as SKILL_PART
from dovetail.skills.injection import render_skill

_ADDRESSES = ("data:", "https://", "http://")
LONGEST_TEXT = 100_000
"""Characters of a text file that a model is given."""


def check_file(part: Part) -> str | None:
    """What is wrong with a file part, if anything."""
    media_type, url = part.get("mediaType"), part.get("url")
    if media_type and not (isinstance(media_type, str) and "/" in media_type):
        return f"`mediaType` of a file looks like text/plain, and is {shorten(media_type)}"
    if not isinstance(url, str) or not url.startswith(_ADDRESSES):
        return f"`url` of a file begins with data:, https:// or http://, and is {shorten(url)}"
    head, comma, body = url.partition(",")
    if not head.startswith("data:"):
        return None
    if not comma:
        return f"`url` of a file looks like data:text/plain;base64,SGVsbG8=, and is {shorten(url)}"
    try:
        base64.b64decode(unquote_to_bytes(body) if head.endswith(";base64") else b"", validate=True)
    except binascii.Error as error:
        return f"`url` of a file is no base64: {error}"
    return None


def to_piece(part: Part) -> dict[str, Any]:
    """One file as a piece of a message's content."""
    url = str(part.get("url") or "")
    media_type = str(part.get("mediaType") or "") or _read_type(url)
    if media_type.startswith("image/"):
        return {"type": "image_url", "image_url": {"url": url}}
    name = str(part.get("filename") or "attachment")
    text = _read_text(url) if url else "[this file is gone]"
    if text is None:
        return {"type": "file", "url": url, "media_type": media_type, "filename": name}
    return {"type": "text", "text": f'<file name="{name}">\n{_shorten(text)}\n</file>'}


def _read_type(url: str) -> str:
    """The type that a data address names: browsers know none for many files."""
    if not url.startswith("data:"):
        return ""
    return url[len("data:") :].partition(",")[0].partition(";")[0]


def _read_text(url: str) -> str | None:
    """What a data address holds, if it is text."""
    head, comma, body = url.partition(",")
    if not head.startswith("data:") or not comma:
        return None
    raw = unquote_to_bytes(body)
    try:
        text = (base64.b64decode(raw) if head.endswith(";base64") else raw).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None
    return None if "\0" in text else text


def _shorten(text: str) -> str:
    left = len(text) - LONGEST_TEXT
    return text if left <= 0 else f"{text[:LONGEST_TEXT]}\n[{left} more characters were left out]"


Trigger: TypeAlias = Literal["submit", "regenerate"]


class _Head:
    """Told apart from None, which means a new root."""


AT_HEAD = _Head()
"""The parent of a new message when none is named: the session's head."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    """One message to a chat, or the wish for another answer (`regenerate`) to the message `message_id`.

    `parent_id` is where a new message goes: after that message, None for a new root, or `AT_HEAD`. `mode` is
    one of the policy's that the settings allow; None is the settings' own.
    """

    parts: Sequence[Part] = ()
    session_id: str | None = None
    owner: str = LOCAL_OWNER
    trigger: Trigger = "submit"
    message_id: str | None = None
    parent_id: "str | _Head | None" = AT_HEAD
    agent: str = "master"
    model: str | None = None
    tab_id: str | None = None
    skills: Sequence[str] = ()
    mode: str | None = None

    def __post_init__(self) -> None:
        """Clean what a person or a program says: not every chat comes over HTTP."""
        for name in ("parts", "session_id", "message_id", "parent_id", "tab_id", "skills"):
            object.__setattr__(self, name, clean_data(getattr(self, name)))


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatTurn:
    """What an answer begins with: `history` leads from the root to the user's message.

    `options` go to the model over those of the agent; where nobody `can_ask`, what asks is denied.
    """

    session: Session
    history: Sequence[Message]
    agent: str
    model: str | None
    tab_id: str | None
    owner: str
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    can_ask: bool = True
    mode: str | None = None

    @property
    def is_stored(self) -> bool:
        """Whether the conversation is one of ours; otherwise nothing but the run is stored."""
        return bool(self.session.id)

    @property
    def messages(self) -> list[ChatMessage]:
        """The history as a model reads it."""
        return read_history(self.history)


@dataclass(frozen=True, slots=True, kw_only=True)
class StartedChat:
    """An answer under way: its run, the message it becomes, and the message it answers."""

    handle: RunHandle
    session_id: str
    run_id: str
    message_id: str


def read_history(history: Sequence[Message]) -> list[ChatMessage]:
    """Messages of a conversation as a model reads them."""
    return [content for message in history for content in message.content]


def to_chat_messages(parts: Sequence[Part]) -> list[ChatMessage]:
    """A user's parts as a model reads them: plain text, or a list when there are files."""
    content = [piece for part in parts if (piece := _read_part(part)) is not None]
    if all(piece["type"] == "text" for piece in content):
        return [{"role": "user", "content": "\n\n".join(piece["text"] for piece in content)}]
    return [{"role": "user", "content": content}]


def _read_part(part: Part) -> dict[str, Any] | None:
    if part.get("type") == "text":
        return {"type": "text", "text": str(part.get("text", ""))}
    if part.get("type") == "file":
        return to_piece(part)
    data = part.get("data")
    if part.get("type") == SKILL_PART and is_mapping(data):
        return {"type": "text", "text": render_skill(data)}
    return None


_GONE = {"role": "system", "content": "(What was said before has been deleted from the session.)"}


class AskedMessages:
    """Puts the messages of a session back into the requests of its runs."""

    def __init__(self, tree: MessageTree) -> None:
        self._tree = tree

    def complete(self, event: ModelRequestEvent) -> ModelRequestEvent:
        """The request as it was sent."""
        if not any("stored" in message for message in event.messages):
            return event
        return replace(
            event, messages=tuple(one for message in event.messages for one in self._read(message))
        )

    def _read(self, message: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
        name = message.get("stored")
        if name is None:
            return [message]
        return show_messages(read_history(self._tree.path(name))) if name in self._tree else [_GONE]
