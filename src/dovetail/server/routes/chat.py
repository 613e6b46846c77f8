"""The chat routes: a message in, its answer out, and the way back to a running answer."""

import time
from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Header, Request
from starlette.responses import Response

from dovetail.app import Dovetail
from dovetail.runs.run import RunRecord
from dovetail.server.ai_sdk import AiSdkEncoder
from dovetail.server.failures import RUN_STATUSES, error_response
from dovetail.server.routes.bodies import ChatBody
from dovetail.server.routes.caller import App, Owner
from dovetail.server.routes.clock import to_iso
from dovetail.server.routes.continuation import Continuation, continue_answer
from dovetail.server.sse import JsonAnswer, read_event_id
from dovetail.server.stream import EventStream
from dovetail.sessions.request import AT_HEAD, ChatRequest, StartedChat

router = APIRouter(prefix="/api/v1", tags=["chat"])


@router.post("/chat", response_class=Response)
async def post_chat(body: ChatBody, request: Request, app: App, owner: Owner) -> Response:
    """Send a message and read its answer: a stream, or plain JSON with `Accept: application/json`."""
    if body.goes_on and body.last is not None:
        continued = await continue_answer(app, body.last, body.id or body.session_id, owner)
        return await _attach(
            app, continued.record, after=continued.after, is_plain=body.tab_id is None, continued=continued
        )
    started = await app.chat.send(_read_request(body, owner))
    if _wants_json(request):
        return await _answer_json(started, request.url.path)
    record = await app.runs.get(started.run_id)
    return await _attach(app, record, is_plain=body.messages is not None and body.tab_id is None)


@router.get("/chat/{session_id}/stream", response_class=Response)
async def get_stream(
    session_id: str, app: App, owner: Owner, last_event_id: Annotated[str | None, Header()] = None
) -> Response:
    """The running answer of a session again, from its start or after `Last-Event-ID`; 204 when none runs.

    After a crash the number may be that of an event which was never stored: then all begins anew.
    """
    record = await app.runs.find_running(session_id)
    if record is None or record.spec.owner != owner:
        return Response(status_code=204)
    after = read_event_id(last_event_id)
    if after and not await app.runs.holds(record.id, after):
        after = 0
    return await _attach(app, record, after=after)


def _read_request(body: ChatBody, owner: str) -> ChatRequest:
    is_new = body.trigger == "submit-message"
    own_id = body.last.id if body.last is not None and is_new else None
    return ChatRequest(
        parts=body.parts,
        session_id=body.session_id or body.id,
        owner=owner,
        trigger="submit" if is_new else "regenerate",
        message_id=own_id or body.message_id,
        parent_id=body.parent_id if "parent_id" in body.model_fields_set else AT_HEAD,
        agent=body.agent,
        model=body.model,
        skills=body.skills,
        mode=body.mode,
        tab_id=body.tab_id or ("client" if body.messages is not None else None),
    )


def _wants_json(request: Request) -> bool:
    accept = request.headers.get("accept", "")
    return "application/json" in accept and "text/event-stream" not in accept


async def _answer_json(started: StartedChat, path: str) -> Response:
    outcome = await started.handle.done
    if outcome.error is not None:
        status = RUN_STATUSES.get(outcome.error["type"], 500)
        return error_response(status, {**outcome.error, "details": {"run_id": started.run_id}}, path)
    return JsonAnswer(
        {
            "session_id": started.session_id,
            "run_id": started.run_id,
            "message_id": started.message_id,
            "response": outcome.result,
            "reason": outcome.reason,
            "created_at": to_iso(time.time()),
        }
    )


async def _attach(
    app: Dovetail,
    record: RunRecord,
    *,
    after: int = 0,
    is_plain: bool = False,
    continued: Continuation | None = None,
) -> EventStream:
    """A stream of a run's answer after a number."""
    encoder = AiSdkEncoder(
        message_id=record.spec.message_id,
        metadata={
            "session_id": record.spec.session_id,
            "run_id": record.id,
            "parent_id": record.spec.input.get("parent_id"),
            "agent": record.spec.agent,
            "model": record.spec.model,
        },
        describe=lambda name: describe_tool(app, name),
        ends_at_asks=is_plain,
    )
    if after:  # what the client has seen already is not sent again, but the encoder must know of it
        encoder.encode(await app.runs.history(record.id, until=after))
        if is_plain:
            asks = await app.runs.asks.store.list_open(record.spec.owner, record.id)
            encoder.keep_open({ask.id for ask in asks})
    reader = await app.runs.read(record.id, after)
    if continued is None:
        return EventStream(reader, encoder)
    return EventStream(reader, encoder, opening=encoder.start(), hold=continued.hold)


def describe_tool(app: Dovetail, name: str) -> Mapping[str, Any]:
    """What a stream tells of a tool beforehand."""
    tool = app.tools.snapshot().get(name)
    if tool is None:
        return {}
    return {"title": tool.title, "kind": tool.kind.value, "needs_tab": tool.needs_tab}
