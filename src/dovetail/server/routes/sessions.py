"""Sessions: list, view, change, delete and export."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from pydantic import Field
from starlette.responses import PlainTextResponse, Response

from dovetail.errors import ConflictError, NotFoundError
from dovetail.events.background import Task
from dovetail.server.chat_options import check_choice
from dovetail.server.responses import JsonResponse
from dovetail.server.schemas import (
    App,
    Body,
    GivenId,
    Owner,
    SessionBody,
    SessionChange,
    SessionQuery,
    to_iso,
)
from dovetail.sessions.message import Message, MessageTree, Session, Stretch, make_session
from dovetail.sessions.transfer import collect_provider_parts, to_markdown

router = APIRouter(prefix="/api/v1/sessions", tags=["sessions"])


class ViewQuery(Body):
    """Which messages of a session are shown: all, the newest, those in front of one, or all since one.

    With `missing=empty` a session that does not exist yet is an empty one.
    """

    missing: Literal["error", "empty"] = "error"
    limit: Annotated[int, Field(ge=1, le=1000)] | None = None
    before: GivenId | None = None
    since: GivenId | None = None

    @property
    def stretch(self) -> Stretch:
        """The part of the path that is wanted."""
        return Stretch(self.limit, self.before, self.since)


@router.get("")
async def list_sessions(app: App, owner: Owner, wanted: Annotated[SessionQuery, Query()]) -> dict[str, Any]:
    """List sessions, the last changed first; `q` searches titles and messages.

    Sessions that work in the background of another one are listed only with `parent`, the id of that one.
    """
    page = await app.sessions.page(
        owner=owner,
        cursor=wanted.cursor,
        limit=wanted.limit,
        query=wanted.q,
        parent_id=wanted.parent,
        pinned=wanted.pinned,
        folder=wanted.folder,
    )
    running = await app.runs.find_running_sessions(owner)
    described = [
        {
            **describe_session(session),
            "run_id": running.get(session.id),
            "places": [asdict(place) for place in page.places.get(session.id, ())],
        }
        for session in page.sessions
    ]
    return {"sessions": described, "cursor": page.cursor}


@router.post("", status_code=201)
async def create_session(app: App, owner: Owner, body: SessionBody | None = None) -> dict[str, Any]:
    """Create a session."""
    body = body or SessionBody()
    options = body.options.to_dict()
    await check_choice(app, body.agent, options)
    session = await app.sessions.create(
        owner=owner, session_id=body.id, title=body.title, agent=body.agent, options=options
    )
    return describe_session(session)


@router.get("/{session_id}")
async def view_session(
    session_id: str, app: App, owner: Owner, wanted: Annotated[ViewQuery, Query()]
) -> dict[str, Any]:
    """Return a session with the messages from its root to its head, and the siblings of each.

    `limit` returns the newest messages only, `before` those in front of a message, `since` also all from a
    message on; `older` is the number of messages in front of the first one returned. A message that is not on
    the path is ignored.

    With `missing=empty` a session that does not exist yet is an empty one instead of a 404.
    """
    try:
        await app.sessions.get(session_id, owner=owner)
    except NotFoundError:
        if wanted.missing == "error":
            raise
        described = describe_session(make_session(owner, session_id, version=0))
        return {**described, "run_id": None, "older": 0, "path": []}
    # Before the tree is read: an answer that ends in this moment must be seen in one of the two.
    running = await app.runs.find_running(session_id)
    session = await app.sessions.get(session_id, owner=owner)
    tree, older, path = await app.sessions.stretch(session, wanted.stretch)
    return {
        **describe_session(session),
        "head": tree.head,
        "run_id": running.id if running else None,
        "older": older,
        "path": [
            {**_describe_message(message), "siblings": _describe_siblings(tree, message)} for message in path
        ],
    }


@router.patch("/{session_id}")
async def change_session(session_id: str, body: SessionChange, app: App, owner: Owner) -> dict[str, Any]:
    """Rename a session, change its agent or options, or move its head to the newest message below one.

    Options are merged: one that is null is removed, one that is not named stays.
    """
    await app.sessions.get(session_id, owner=owner)  # before the names of another owner's choice are checked
    changes = body.changes
    await check_choice(app, changes.get("agent"), changes.get("options", {}))
    return describe_session(
        await app.sessions.update(session_id, owner=owner, version=body.version, **changes)
    )


@router.delete("/{session_id}", status_code=204, response_class=Response)
async def delete_session(session_id: str, app: App, owner: Owner) -> None:
    """Delete a session and those below it, with all messages; answers in progress are cancelled."""
    await app.chat.delete(session_id, owner=owner)


@router.get("/{session_id}/children")
async def list_children(session_id: str, app: App, owner: Owner) -> dict[str, Any]:
    """List what works, or has worked, in the background of a session, oldest first."""
    await app.sessions.get(session_id, owner=owner)
    tasks = await app.sessions.list_tasks(session_id, owner=owner)
    return {"children": [_describe_task(task) for task in tasks]}


@router.get("/{session_id}/messages")
async def list_messages(
    session_id: str,
    app: App,
    owner: Owner,
    cursor: str | None = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
) -> dict[str, Any]:
    """List the messages of all branches in the order they were added; `cursor` is the last one of a page."""
    session = await app.sessions.get(session_id, owner=owner)
    messages = list(await app.sessions.tree(session))
    places = {message.id: place for place, message in enumerate(messages)}
    if cursor is not None and cursor not in places:
        raise NotFoundError(f"Invalid cursor {cursor!r}; use the cursor returned with the previous page.")
    start = places[cursor] + 1 if cursor is not None else 0
    page = messages[start : start + limit]
    more = start + limit < len(messages)
    return {
        "messages": [_describe_message(message) for message in page],
        "cursor": page[-1].id if more else None,
    }


@router.delete("/{session_id}/messages/{message_id}")
async def delete_message(session_id: str, message_id: str, app: App, owner: Owner) -> dict[str, Any]:
    """Delete a message and all below it."""
    return describe_session(await app.sessions.remove_message(session_id, message_id, owner=owner))


@router.get("/{session_id}/inbox")
async def list_inbox(session_id: str, app: App, owner: Owner) -> dict[str, Any]:
    """List the messages that wait: for the next turn of the run in progress, or for its end."""
    await app.sessions.get(session_id, owner=owner)
    waiting = await app.runs.inbox.list(session_id)
    described = [
        {
            "id": message.id,
            "kind": message.kind,
            "parts": list(message.parts),
            "created_at": to_iso(message.created_at),
        }
        for message in waiting
    ]
    return {"messages": described}


@router.delete("/{session_id}/inbox/{message_id}", status_code=204, response_class=Response)
async def delete_from_inbox(session_id: str, message_id: str, app: App, owner: Owner) -> None:
    """Delete a message that waits; one that was taken stays."""
    await app.sessions.get(session_id, owner=owner)
    if await app.runs.inbox.remove(session_id, message_id):
        return app.sessions.on_change(owner, session_id, "changed")
    if await app.runs.inbox.was_sent(session_id, message_id):
        raise ConflictError(f"Message {message_id!r} does not wait any more: a run has taken it.")
    raise NotFoundError(f"Message {message_id!r} does not wait in this session.")


@router.get("/{session_id}/export", response_class=Response)
async def export_session(
    session_id: str, app: App, owner: Owner, format: Literal["json", "markdown"] = "json"
) -> Response:
    """Export a session: everything as JSON, or the current branch as Markdown."""
    session = await app.sessions.get(session_id, owner=owner)
    tree = await app.sessions.tree(session)
    name = f'attachment; filename="{session.id}.{"json" if format == "json" else "md"}"'
    headers = {"content-disposition": name}
    if format == "markdown":
        return PlainTextResponse(to_markdown(session, tree.path()), 200, headers, "text/markdown")
    content = {**describe_session(session), "messages": [_export_message(message) for message in tree]}
    return JsonResponse(content, 200, headers)


def describe_session(session: Session) -> dict[str, Any]:
    """Return a session as clients see it, without its messages."""
    return {
        "id": session.id,
        "title": session.title,
        "head": session.head_id,
        "version": session.version,
        "usage": asdict(session.usage),
        "agent": session.agent,
        "options": dict(session.options or {}),
        "pinned": session.pinned,
        "folder": session.folder,
        "parent_id": session.parent_id,
        "origin": _describe_origin(session),
        "created_at": to_iso(session.created_at),
        "updated_at": to_iso(session.updated_at),
    }


def _describe_origin(session: Session) -> dict[str, Any] | None:
    origin = session.origin
    return None if origin is None else {name: origin[name] for name in origin if name != "grant"}


def _describe_task(task: Task) -> dict[str, Any]:
    described = asdict(task)
    times = {name: to_iso(described[name]) for name in ("created_at", "ended_at")}
    return {"session_id": described.pop("task_id"), **described, **times}


def _export_message(message: Message) -> dict[str, Any]:
    provider_parts = collect_provider_parts(message)
    return {**_describe_message(message), **({"provider_parts": provider_parts} if provider_parts else {})}


def _describe_message(message: Message) -> dict[str, Any]:
    return {
        "id": message.id,
        "parent_id": message.parent_id,
        "role": message.role,
        "parts": list(message.parts),
        "metadata": dict(message.metadata),
        "created_at": to_iso(message.created_at),
    }


def _describe_siblings(tree: MessageTree, message: Message) -> dict[str, Any]:
    siblings: Sequence[Message] = tree.siblings(message.id)
    index = next(place for place, sibling in enumerate(siblings) if sibling.id == message.id)
    return {
        "index": index,
        "total": len(siblings),
        "previous": siblings[index - 1].id if index > 0 else None,
        "next": siblings[index + 1].id if index + 1 < len(siblings) else None,
    }
