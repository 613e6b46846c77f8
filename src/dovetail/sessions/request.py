"""What is asked of a chat, and what is known when its answer begins."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from dovetail.data.clean import clean_data
from dovetail.data.shapes import is_mapping
from dovetail.messages.request import ChatMessage
from dovetail.runs.run import RunHandle
from dovetail.sessions.attachment import to_piece
from dovetail.sessions.message import Message, Part
from dovetail.sessions.session import LOCAL_OWNER, Session
from dovetail.skills.injection import PART as SKILL_PART
from dovetail.skills.injection import render_skill

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
