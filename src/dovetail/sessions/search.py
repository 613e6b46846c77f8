"""Lists of sessions: those of a folder, pinned ones, and those that contain a text, and where."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypedDict

import sqlalchemy as sa

from dovetail.data.shapes import read_number
from dovetail.errors import NotFoundError
from dovetail.sessions.message import Place, SessionPage
from dovetail.sessions.rows import read_session
from dovetail.store.tables import messages, sessions

_MOST_PLACES = 3
_BEFORE, _AFTER = 40, 100


class SessionFilter(TypedDict, total=False):
    """Which sessions are wanted: those whose title or messages contain `query`, pinned ones or the others,
    those in a folder (an empty name: in none), those below `parent_id` (by default below no other), those
    with no origin of the kind `without_origin`."""

    query: str
    parent_id: str | None
    pinned: bool | None
    folder: str | None
    without_origin: str | None


def fetch_page(
    connection: sa.Connection, owner: str, wanted: SessionFilter, part: tuple[str | None, int]
) -> SessionPage:
    """Return sessions, the last changed first: `part` is the cursor before them and how many there may be."""
    cursor, limit = part
    query = wanted.get("query", "")
    conditions = [sessions.c.owner == owner, *_read_filter(wanted, connection.dialect.name)]
    if cursor:
        conditions.append(_is_before(cursor))
    statement = sa.select(sessions).where(*conditions)
    statement = statement.order_by(sessions.c.updated_at.desc(), sessions.c.id.desc()).limit(limit + 1)
    rows = connection.execute(statement).mappings().all()
    found = [read_session(row) for row in rows[:limit]]
    places = fetch_places(connection, [each.id for each in found], query) if query and found else {}
    following = f"{found[-1].updated_at!r}/{found[-1].id}" if len(rows) > limit else None
    return SessionPage(found, following, places)


def _read_filter(wanted: SessionFilter, dialect: str) -> Iterator[sa.ColumnElement[bool]]:
    yield sessions.c.parent_id.is_not_distinct_from(wanted.get("parent_id"))
    if (pinned := wanted.get("pinned")) is not None:
        yield sessions.c.pinned.is_(pinned)
    if (folder := wanted.get("folder")) is not None:
        yield sessions.c.folder.is_not_distinct_from(folder or None)
    if kind := wanted.get("without_origin"):
        yield sessions.c.origin["kind"].as_string().is_distinct_from(kind)
    if query := wanted.get("query"):
        yield contains(dialect, query)


def contains(dialect: str, query: str) -> sa.ColumnElement[bool]:
    """Return the condition that a session's title, or the text of one of its messages, contains a text."""
    inside = sa.select(messages.c.id).where(messages.c.session_id == sessions.c.id, _has_text(dialect, query))
    return sessions.c.title.icontains(query, autoescape=True) | inside.exists()


def fetch_places(connection: sa.Connection, session_ids: Sequence[str], query: str) -> dict[str, list[Place]]:
    """Return where sessions contain a text: the first messages of each, in their order."""
    order = sa.func.row_number().over(partition_by=messages.c.session_id, order_by=messages.c.position)
    found = (
        sa.select(
            messages.c.session_id, messages.c.id, messages.c.role, messages.c.parts, order.label("place")
        )
        .where(messages.c.session_id.in_(session_ids), _has_text(connection.dialect.name, query))
        .subquery()
    )
    statement = sa.select(found).where(found.c.place <= _MOST_PLACES).order_by(found.c.place)
    places: dict[str, list[Place]] = {}
    for session_id, message_id, role, parts, _ in connection.execute(statement):
        text = cut_around(_find_text(parts, query), query)
        places.setdefault(session_id, []).append(Place(message_id, role, text))
    return places


def cut_around(text: str, query: str) -> str:
    """Return the neighbourhood of the first place that contains `query`, in one line."""
    place = max(text.lower().find(query.lower()), 0)
    start = max(place - _BEFORE, 0)
    end = place + len(query) + _AFTER
    line = " ".join(text[start:end].split())
    return f"{'…' if start else ''}{line}{'…' if end < len(text) else ''}"


def _find_text(parts: Sequence[Mapping[str, Any]], query: str) -> str:
    texts = [text for part in parts if isinstance(text := part.get("text"), str)]
    return next((text for text in texts if query.lower() in text.lower()), "\n".join(texts))


def _has_text(dialect: str, query: str) -> sa.ColumnElement[bool]:
    """Return the condition that one of a message's parts has `query` in its text (not in its JSON)."""
    text: sa.ColumnElement[str]
    if dialect == "postgresql":
        split = sa.func.json_array_elements(messages.c.parts)
        part = split.table_valued(sa.column("value", sa.JSON), name="part", joins_implicitly=True)
        part = part.render_derived()
        text = part.c.value["text"].as_string()
    else:
        part = sa.func.json_each(messages.c.parts).table_valued("value", name="part", joins_implicitly=True)
        text = sa.cast(sa.func.json_extract(part.c.value, "$.text"), sa.Text)
    return sa.select(sa.literal(1)).select_from(part).where(text.icontains(query, autoescape=True)).exists()


def _is_before(cursor: str) -> sa.ColumnElement[bool]:
    updated, _, session_id = cursor.partition("/")
    moment = read_number(updated)
    if moment is None:
        raise NotFoundError(f"Invalid cursor {cursor!r}; use the cursor returned with the previous page.")
    return sa.tuple_(sessions.c.updated_at, sessions.c.id) < sa.tuple_(sa.literal(moment), session_id)
