"""Requests to a chat, and how the messages of a conversation are read by a model."""

import base64
import binascii
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias
from urllib.parse import unquote_to_bytes

from dovetail.data.clean import clean_data
from dovetail.data.shapes import is_mapping
from dovetail.events.call import ChatMessage
from dovetail.events.model_events import ModelRequestEvent
from dovetail.loop.request_log import show_messages
from dovetail.requesters.media import is_text_type
from dovetail.runs.run import RunHandle
from dovetail.sessions.message import Message, MessageTree, Part, Session, walk_parts
from dovetail.settings import LOCAL_OWNER
from dovetail.skills.injection import PART as SKILL_PART
from dovetail.skills.injection import find_seen_skills, make_skill_parts, render_skill
from dovetail.skills.library import SkillLibrary

LONGEST_TEXT = 100_000
"""The most characters of a text file that a model reads."""
_UNSURE = ("", "application/octet-stream", "application/vnd.ms-excel", "video/mp2t")
"""Types that browsers also name for texts: for unknown ones, for CSV on Windows and for TypeScript."""
_GONE = {"role": "system", "content": "(What was said before has been deleted from the session.)"}
Trigger: TypeAlias = Literal["submit", "regenerate"]


class _Head:
    """Distinct from None, which means a new root."""


AT_HEAD = _Head()
"""The default parent of a new message: the head of its session."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    """One message to a chat, or the request for another answer (`regenerate`) to the message `message_id`.

    A new message follows `parent_id`: a message, None for a new root, or `AT_HEAD`; there one that was sent
    during the answer `after` stays below it. `mode` is a policy mode
    that the settings allow, by default the one they choose. Without an `agent` it is the one of the session.
    With `background` the message goes to a new session below `session_id`, and `limits` are the highest that
    its run may have. A new session gets `title`, `origin`, `agent` and `options`.
    """

    parts: Sequence[Part] = ()
    session_id: str | None = None
    owner: str = LOCAL_OWNER
    trigger: Trigger = "submit"
    message_id: str | None = None
    parent_id: "str | _Head | None" = AT_HEAD
    after: str | None = None
    agent: str | None = None
    model: str | None = None
    tab_id: str | None = None
    background: bool = False
    limits: Mapping[str, Any] | None = None
    skills: Sequence[str] = ()
    mode: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    title: str = ""
    origin: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        """Clean the input of a person or a program: not every chat comes over HTTP."""
        for name in ("parts", "session_id", "message_id", "parent_id", "tab_id", "skills", "options"):
            object.__setattr__(self, name, clean_data(getattr(self, name)))


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatTurn:
    """The start of an answer: `history` leads from the root to the user's message.

    `options` are those of the chat; `model` and `mode` are named by the request and override them. Without
    `can_ask`, calls that need an approval are denied. `limits` are fields of a `BudgetLimits` that the run
    must not exceed. `parameters` of the model override those of the chat.
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
    limits: Mapping[str, Any] | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def chosen_model(self) -> str | None:
        """The model of the request or of the chat; None means that of the agent."""
        return self.model or self.options.get("model")

    @property
    def chosen_mode(self) -> str | None:
        """The mode of the request, of the chat, or of what started it; None means that of the settings."""
        return self.mode or self.options.get("mode") or self.session.grant.get("mode")

    @property
    def is_stored(self) -> bool:
        """Whether the conversation is one of ours; otherwise nothing but the run is stored."""
        return bool(self.session.id)

    @property
    def inputs(self) -> Mapping[str, Any] | None:
        """The inputs of a task in the background; None in any other conversation."""
        return self.session.grant.get("inputs") if self.session.agent == self.agent else None

    @property
    def messages(self) -> list[ChatMessage]:
        """The history as a model reads it."""
        return read_history(self.history)


@dataclass(frozen=True, slots=True, kw_only=True)
class StartedChat:
    """An answer in progress: its session, its run, and the message that it becomes."""

    handle: RunHandle
    session_id: str
    run_id: str
    message_id: str


def read_history(history: Sequence[Message]) -> list[ChatMessage]:
    """Return the messages of a conversation as a model reads them."""
    return [content for message in history for content in message.content]


def to_chat_messages(parts: Sequence[Part]) -> list[ChatMessage]:
    """Return a user's parts as a model reads them: plain text, or a list if there are files."""
    content = [piece for part in parts if (piece := _read_part(part)) is not None]
    if all(piece["type"] == "text" for piece in content):
        return [{"role": "user", "content": "\n\n".join(piece["text"] for piece in content)}]
    return [{"role": "user", "content": content}]


def add_skills(
    parts: Sequence[Part], names: Iterable[str], library: SkillLibrary, earlier: Sequence[Message]
) -> list[Part]:
    """Return a user's parts after the skills that they name, without those of earlier messages."""
    own = [part for part in parts if part.get("type") != SKILL_PART]  # only what the library says now counts
    text = "\n".join(str(part.get("text", "")) for part in own if part.get("type") == "text")
    return [*make_skill_parts(text, library, names=names, seen=find_seen_skills(walk_parts(earlier))), *own]


def complete_request(tree: MessageTree, event: ModelRequestEvent) -> ModelRequestEvent:
    """Return the request as it was sent, with the messages of its session in place of their ids."""
    if not any("stored" in message for message in event.messages):
        return event
    messages = (sent for message in event.messages for sent in _restore(tree, message))
    return replace(event, messages=tuple(messages))


def _restore(tree: MessageTree, message: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    name = message.get("stored")
    if name is None:
        return [message]
    return show_messages(read_history(tree.path(name))) if name in tree else [_GONE]


def _read_part(part: Part) -> dict[str, Any] | None:
    if part.get("type") == "text":
        return {"type": "text", "text": str(part.get("text", ""))}
    if part.get("type") == "file":
        return _read_file(part)
    data = part.get("data")
    if part.get("type") == SKILL_PART and is_mapping(data):
        return {"type": "text", "text": render_skill(data)}
    return None


def _read_file(part: Part) -> dict[str, Any]:
    """Return one file as a piece of a message's content."""
    url = str(part.get("url") or "")
    media_type = str(part.get("mediaType") or "") or _read_type(url)
    if media_type.startswith("image/"):
        return {"type": "image_url", "image_url": {"url": url}}
    name = str(part.get("filename") or "attachment")
    may_be_text = media_type in _UNSURE or is_text_type(media_type)
    text = "[this file is gone]" if not url else _read_text(url) if may_be_text else None
    if text is None:
        return {"type": "file", "url": url, "media_type": media_type, "filename": name}
    return {"type": "text", "text": f'<file name="{name}">\n{_shorten(text)}\n</file>'}


def _read_type(url: str) -> str:
    """Return the type that a data URL names: browsers know none for many files."""
    if not url.startswith("data:"):
        return ""
    return url[len("data:") :].partition(",")[0].partition(";")[0]


def _read_text(url: str) -> str | None:
    """Return the content of a data URL if it is text."""
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
