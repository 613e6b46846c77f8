"""A conversation: who it belongs to, what it is called and where its head stands."""

from dataclasses import dataclass

from dovetail.messages.delta import Usage

LOCAL_OWNER = "local"
"""The owner of everything when nobody has to say who they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A conversation without its messages; `version` grows with every change."""

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


def make_title(text: str, limit: int = 60) -> str:
    """A title from the first words of a first message."""
    words = "".join(letter if letter.isprintable() else " " for letter in text).split()
    title = " ".join(words)
    if len(title) <= limit:
        return title
    cut = title[:limit]
    return (cut.rsplit(" ", 1)[0] if " " in cut[limit // 2 :] else cut).rstrip(" ,.;:") + "…"
