"""Messages, the tree that they form, and the session that holds it."""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from dovetail.data.text import brief_repr
from dovetail.errors import ConfigError, ConflictError, NotFoundError
from dovetail.events.call import ChatMessage
from dovetail.events.delta import Usage
from dovetail.ids import new_id

Role: TypeAlias = Literal["user", "assistant", "system"]
Part: TypeAlias = Mapping[str, Any]
"""A piece of a message as people see it in the AI SDK (`text`, `reasoning`, `dynamic-tool`, …)."""

BACKGROUND = "background"
"""The kind of origin of a session that works in the background of another one."""
USER_MESSAGE = "data-user-message"
"""The type of a part with a message that reached a run in progress: its `data` has `kind` and `parts`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A node of the tree: people see its `parts`, a model reads its `content`."""

    id: str
    parent_id: str | None = None
    role: Role = "user"
    parts: Sequence[Part] = ()
    content: Sequence[ChatMessage] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])
    created_at: float = 0.0

    __repr__ = brief_repr

    @property
    def text(self) -> str:
        """The text of the message, without tools and reasoning."""
        return "\n\n".join(str(part.get("text", "")) for part in self.parts if part.get("type") == "text")


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A conversation without its messages; `version` grows with every change and is 0 before it is stored.

    `agent` answers here unless a request names another one. A session may be below another one (`parent_id`);
    `origin` names what started it if that was not a person. `options` are the model, mode, instructions and
    parameters of its answers. `has_children`: there are sessions below it.
    """

    id: str
    owner: str
    title: str
    head_id: str | None
    version: int
    usage: Usage
    created_at: float
    updated_at: float
    agent: str | None = None
    parent_id: str | None = None
    origin: Mapping[str, Any] | None = None
    options: Mapping[str, Any] | None = None
    pinned: bool = False
    folder: str | None = None
    has_children: bool = False

    __repr__ = brief_repr

    @property
    def grant(self) -> Mapping[str, Any]:
        """The `inputs` of a task that an agent started, its `tools`, its `mode`, and its caller's path."""
        return (self.origin or {}).get("grant") or {}

    @property
    def callers(self) -> tuple[str, ...]:
        """The agents above the one of a task in the background, from the root."""
        return tuple(self.grant.get("agent_path", ()))

    @property
    def is_task(self) -> bool:
        """Whether its answers are made in the background of another session, which hears of their end."""
        return self.parent_id is not None and (self.origin or {}).get("kind") == BACKGROUND


@dataclass(frozen=True, slots=True)
class Place:
    """A message that contains what was searched; `text` is the neighbourhood of the first place in it."""

    message_id: str
    role: str
    text: str


@dataclass(frozen=True, slots=True)
class SessionPage:
    """Some sessions, newest first; `cursor` leads to the next page, if any.

    `places` are the messages that contain what was searched, by session.
    """

    sessions: list[Session]
    cursor: str | None
    places: Mapping[str, Sequence[Place]] = field(default_factory=dict[str, Sequence[Place]])


def walk_parts(path: Iterable[Message]) -> Iterator[Part]:
    """Yield the parts of messages, and those of the messages that reached answers in progress."""
    for message in path:
        for part in message.parts:
            yield part
            yield from read_user_message(part)


def read_user_message(part: Part) -> Sequence[Part]:
    """Return the parts of the message that a part of an answer holds, if any."""
    return part["data"]["parts"] if part.get("type") == USER_MESSAGE else ()


def make_session(owner: str, session_id: str | None = None, *, title: str = "", version: int = 1) -> Session:
    """Return a session that begins now; the caller stores it."""
    now = time.time()
    return Session(
        id=session_id or new_id("ses"),
        owner=owner,
        title=title,
        head_id=None,
        version=version,
        usage=Usage(),
        created_at=now,
        updated_at=now,
    )


def make_title(text: str, limit: int = 60) -> str:
    """Return a title made of the first words of a first message."""
    words = "".join(letter if letter.isprintable() else " " for letter in text).split()
    title = " ".join(words)
    if len(title) <= limit:
        return title
    cut = title[:limit]
    return (cut.rsplit(" ", 1)[0] if " " in cut[limit // 2 :] else cut).rstrip(" ,.;:") + "…"


@dataclass(frozen=True, slots=True)
class Stretch:
    """The wanted part of a path: the newest messages, those in front of a message, or all since one.

    A message that is not on the path is ignored, as the path may have changed since it was shown.
    """

    limit: int | None = None
    before: str | None = None
    since: str | None = None

    def cut(self, path: Sequence[Message]) -> tuple[int, Sequence[Message]]:
        """Return how many messages of the path are older, and those that are wanted."""
        places = {message.id: place for place, message in enumerate(path)}
        end = places.get(self.before or "", len(path))
        start = max(0, end - self.limit) if self.limit is not None else 0
        if self.since in places:
            start = min(start, places[self.since]) if self.limit is not None else places[self.since]
        return start, path[start:end]


class MessageTree:
    """Messages by parent; the head is the message where the conversation continues."""

    def __init__(self, messages: Iterable[Message] = (), head: str | None = None) -> None:
        self._messages: dict[str, Message] = {}
        self._children: dict[str | None, list[str]] = {None: []}
        self.head: str | None = None
        for message in messages:
            self.add(message)
        if head in self._messages:
            self.head = head

    def __len__(self) -> int:
        return len(self._messages)

    def __iter__(self) -> Iterator[Message]:
        return iter(self._messages.values())

    def __contains__(self, message_id: object) -> bool:
        return message_id in self._messages

    def get(self, message_id: str) -> Message:
        """Return the message with this id."""
        try:
            return self._messages[message_id]
        except KeyError:
            raise NotFoundError(f"Message {message_id!r} not found in this session.") from None

    def add(self, message: Message) -> None:
        """Add a message under its parent and move the head to it."""
        if message.id in self._messages:
            raise ConflictError(f"Message {message.id!r} already exists in this session.")
        self._messages[message.id] = message
        self._children[message.id] = []
        self._children[self._parent(message.id)].append(message.id)
        self.head = message.id

    def path(self, message_id: str | None = None) -> list[Message]:
        """Return the messages from the root to this one, by default to the head."""
        current = self.get(message_id).id if message_id is not None else self.head
        path: list[Message] = []
        while current is not None:
            path.append(self._messages[current])
            current = self._parent(current)
        return path[::-1]

    def siblings(self, message_id: str) -> list[Message]:
        """Return the messages with the same parent, including this one, oldest first."""
        self.get(message_id)
        return [self._messages[sibling] for sibling in self._children[self._parent(message_id)]]

    def switch(self, message_id: str) -> str:
        """Move the head to the newest leaf below this message, and return it."""
        self.head = self.find_leaf(message_id)
        return self.head

    def find_leaf(self, message_id: str) -> str:
        """Return the newest leaf below this message."""
        below = set(self._subtree(message_id))
        leaves = [
            candidate for candidate in self._messages if candidate in below and self._is_leaf(candidate)
        ]
        return leaves[-1]

    def remove(self, message_id: str) -> list[str]:
        """Remove a message and all below it; a head in there moves to a sibling's leaf or to the parent."""
        removed = self._subtree(message_id)
        parent = self._parent(message_id)
        siblings = self._children[parent]
        place = siblings.index(message_id)
        siblings.pop(place)
        for gone in removed:
            del self._messages[gone], self._children[gone]
        if self.head not in self._messages:
            self.head = parent
            if siblings:
                self.switch(siblings[max(place - 1, 0)])
        return removed

    def _parent(self, message_id: str) -> str | None:
        parent = self._messages[message_id].parent_id
        return parent if parent in self._messages and parent != message_id else None

    def _is_leaf(self, message_id: str) -> bool:
        return not self._children[message_id]

    def _subtree(self, message_id: str) -> list[str]:
        """This message and all below it, parents first."""
        found = [self.get(message_id).id]
        for current in found:
            found += self._children[current]
        return found


def check_tree(messages: Sequence[Message], head: str | None) -> None:
    """Raise if ids repeat, a parent does not precede its children, or the head is not one of the messages."""
    seen: set[str] = set()
    for message in messages:
        if message.id in seen:
            raise ConfigError(f"Two messages have the id {message.id!r}.")
        if message.parent_id is not None and message.parent_id not in seen:
            raise ConfigError(
                f"Message {message.id!r} names a parent {message.parent_id!r} that does not precede it.",
                hint="Send the messages in the order of the export, parents first.",
            )
        seen.add(message.id)
    if head is not None and head not in seen:
        raise ConfigError(
            f"The head {head!r} is not one of the messages.", hint="Leave it out to use the last message."
        )
