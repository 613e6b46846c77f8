"""The chat: send a message, read the answer as a stream, resume a stream."""

import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Header, Request
from starlette.responses import Response

from dovetail.app import Dovetail
from dovetail.data.shapes import is_mapping
from dovetail.errors import ConflictError, NotFoundError
from dovetail.events.run_events import AskRequest, ToolEnd
from dovetail.runs.run import RunRecord
from dovetail.server.chat_options import check_choice, refuse_model
from dovetail.server.errors import RUN_STATUSES, error_response
from dovetail.server.responses import LATEST, JsonResponse, read_event_id
from dovetail.server.schemas import App, ChatBody, ClientMessage, Owner, to_iso
from dovetail.server.streams.ai_sdk import AiSdkEncoder
from dovetail.server.streams.event_stream import EventStream
from dovetail.sessions.chunks import ChunkEncoder
from dovetail.sessions.request import AT_HEAD, ChatRequest, StartedChat

PLAIN_CLIENT = "client"
"""The tab of clients that name none: they answer by sending their message again."""
HOLD_SECONDS = 1.0
"""Seconds for which the stream of a message without answers stays open: clients may send again at its end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Continuation:
    """A message that was sent again: its run, the last event of its client, and whether it has answers."""

    record: RunRecord
    after: int
    has_answers: bool

    @property
    def hold(self) -> float:
        """Seconds for which its stream stays open even if the run waits only for the client."""
        return 0.0 if self.has_answers else HOLD_SECONDS


async def continue_answer(
    app: Dovetail, message: ClientMessage, session_id: str | None, owner: str
) -> Continuation:
    """Deliver the answers in the message to its run."""
    record = await _find_run(app, message, session_id, owner)
    answered = [ask for part in message.parts if (ask := await _answer_part(app, part, record)) is not None]
    number = (message.metadata or {}).get("number")
    if not isinstance(number, int) or isinstance(number, bool):
        number = await _find_asks(app, record, answered)
    number = min(max(number, 0), LATEST)
    return Continuation(record=record, after=number, has_answers=bool(answered))


async def _find_run(app: Dovetail, message: ClientMessage, session_id: str | None, owner: str) -> RunRecord:
    run_id = (message.metadata or {}).get("run_id")
    if isinstance(run_id, str):
        return await app.runs.get(run_id, owner=owner)
    record = await app.runs.find_running(session_id or "")
    if record is None or record.spec.owner != owner:
        raise NotFoundError("No response in progress to resume.", hint="Send a new message.")
    return record


async def _answer_part(app: Dovetail, part: Mapping[str, Any], record: RunRecord) -> str | None:
    """Answer the ask of a part, if any; an ask that has an answer is not changed."""
    call_id, owner = str(part.get("toolCallId", "")), record.spec.owner
    approval, output = _read_approval(part), _read_output(part)
    try:
        if approval is not None:
            await app.runs.asks.answer(approval[0], approval[1], owner=owner)
            return call_id
        if output is not None:
            result = await app.runs.asks.acknowledge(call_id, output, owner=owner, run_id=record.id)
            return call_id if result == "resolved" else None
    except (ConflictError, NotFoundError):
        pass
    return None


def _read_approval(part: Mapping[str, Any]) -> tuple[str, dict[str, Any]] | None:
    """Return the ask that the client has decided and its decision, if the part holds one."""
    approval = part.get("approval")
    if part.get("state") != "approval-responded" or not is_mapping(approval) or _read_output(part):
        return None
    value = {name: approval[name] for name in ("approved", "reason") if name in approval}
    return str(approval.get("id")), value


def _read_output(part: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the acknowledgement of a browser call that the client has carried out, whatever its state."""
    if part.get("providerExecuted"):
        return None
    if part.get("state") == "output-error" or part.get("errorText") is not None:
        return {"status": "failed", "errorText": part.get("errorText")}
    if part.get("state") == "output-available" or part.get("output") is not None:
        return {"status": "success", "output": part.get("output")}
    return None


async def _find_asks(app: Dovetail, record: RunRecord, call_ids: list[str]) -> int:
    numbers = [
        entry.number
        for entry in await app.runs.history(record.id)
        if isinstance(entry.event, AskRequest) and entry.event.call_id in call_ids
    ]
    return max(numbers, default=0)


router = APIRouter(prefix="/api/v1", tags=["chat"])


@router.post("/chat", response_class=Response)
async def post_chat(body: ChatBody, request: Request, app: App, owner: Owner) -> Response:
    """Send a message and read its answer as a stream, or as JSON with `Accept: application/json`.

    With `background` it is answered in a new session below `session_id`; the response (202) names that.
    A new session keeps `agent` and `options`; an existing one has its own.
    """
    if body.is_continuation and body.last is not None:
        continued = await continue_answer(app, body.last, body.id or body.session_id, owner)
        return await _attach(
            app, continued.record, after=continued.after, is_plain=body.tab_id is None, continued=continued
        )
    refuse_model(body.model, app)
    if body.options is not None:
        await check_choice(app, None, body.options.to_dict())
    started = await app.chat.send(_read_request(body, owner))
    if body.background:
        names = ("session_id", "run_id", "message_id")
        return JsonResponse({name: getattr(started, name) for name in names}, 202)
    if _wants_json(request):
        return await _answer_json(started, request.url.path)
    record = await app.runs.get(started.run_id)
    return await _attach(app, record, is_plain=body.messages is not None and body.tab_id is None)


@router.get("/chat/{session_id}/stream", response_class=Response)
async def get_stream(
    session_id: str,
    app: App,
    owner: Owner,
    tab_id: str | None = None,
    last_event_id: Annotated[str | None, Header()] = None,
) -> Response:
    """Resume the answer in progress, from its start or after `Last-Event-ID`; 204 if there is none.

    After a crash the number may be of an event that was never stored: then the stream starts again. If the
    message was sent without a `tab_id`, and this request has none, the stream ends at questions, too.
    """
    record = await app.runs.find_running(session_id)
    if record is None or record.spec.owner != owner:
        return Response(status_code=204)
    after = read_event_id(last_event_id)
    if after and not await app.runs.holds(record.id, after):
        after = 0
    is_plain = tab_id is None and record.spec.input.get("tab_id") == PLAIN_CLIENT
    ended = await _find_ended_calls(app, record) if is_plain else ()
    return await _attach(app, record, after=after, is_plain=is_plain, ended_calls=ended)


async def _find_ended_calls(app: Dovetail, record: RunRecord) -> Collection[str]:
    history = await app.runs.history(record.id)
    return {entry.event.call_id for entry in history if isinstance(entry.event, ToolEnd)}


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
        options={} if body.options is None else body.options.to_dict(),
        background=body.background,
        tab_id=None if body.background else _find_tab(body),
    )


def _find_tab(body: ChatBody) -> str | None:
    return body.tab_id or (PLAIN_CLIENT if body.messages is not None else None)


def _wants_json(request: Request) -> bool:
    accept = request.headers.get("accept", "")
    return "application/json" in accept and "text/event-stream" not in accept


async def _answer_json(started: StartedChat, path: str) -> Response:
    result = await started.handle.result()
    if result.error is not None:
        status = RUN_STATUSES.get(result.error["type"], 500)
        return error_response(status, {**result.error, "details": {"run_id": started.run_id}}, path)
    return JsonResponse(
        {
            "session_id": started.session_id,
            "run_id": started.run_id,
            "message_id": started.message_id,
            "response": result.value,
            "reason": result.reason,
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
    ended_calls: Collection[str] = (),
) -> EventStream:
    """Return the stream of a run's answer after a number."""
    chunks = ChunkEncoder(
        message_id=record.spec.message_id,
        metadata={
            "session_id": record.spec.session_id,
            "run_id": record.id,
            "parent_id": record.spec.input.get("parent_id"),
            "agent": record.spec.agent,
            "model": record.spec.model,
        },
        describe=lambda name: describe_tool(app, name),
        acts_on_inputs=is_plain,
        ended_calls=ended_calls,
    )
    encoder = AiSdkEncoder(chunks, ends_at_asks=is_plain)
    if after:  # what the client has seen already is not sent again, but the encoder must know of it
        encoder.encode(await app.runs.history(record.id, until=after))
        if is_plain:
            asks = await app.runs.asks.store.list_open(record.spec.owner, record.id)
            encoder.keep_open({ask.id for ask in asks})
    reader = await app.runs.read(record.id, after)
    if continued is None:
        return EventStream(reader, encoder)
    return EventStream(reader, encoder, opening=encoder.resume(), hold=continued.hold)


def describe_tool(app: Dovetail, name: str) -> Mapping[str, Any]:
    """Return what a stream says of a tool when a call begins."""
    tool = app.tools.snapshot().get(name)
    if tool is None:
        return {}
    return {"title": tool.title, "kind": tool.kind.value, "needs_tab": tool.needs_tab}
