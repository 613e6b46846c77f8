"""A conversation: who it belongs to, what it is called and where its head stands."""

import time
from dataclasses import dataclass

from dovetail.messages.delta import Usage
from dovetail.store.ids import new_id

LOCAL_OWNER = "local"
"""The owner of everything when nobody has to say who they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A conversation without its messages; `version` grows with every change, 0: it is not stored yet."""

    id: str
    owner: str
    title: str
    head_id: str | None
    version: int
    usage: Usage
    created_at: float
    updated_at: float


@dataclass(frozen=True, slots=True)
class SessionPage:
    """Some sessions, newest first; `cursor` leads to the next page, None when there is none."""

    sessions: list[Session]
    cursor: str | None


def make_session(owner: str, session_id: str | None = None, *, title: str = "", version: int = 1) -> Session:
    """A session that begins now; somebody has to store it."""
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
    """A title from the first words of a first message."""
    words = "".join(letter if letter.isprintable() else " " for letter in text).split()
    title = " ".join(words)
    if len(title) <= limit:
        return title
    cut = title[:limit]
    return (cut.rsplit(" ", 1)[0] if " " in cut[limit // 2 :] else cut).rstrip(" ,.;:") + "…"
