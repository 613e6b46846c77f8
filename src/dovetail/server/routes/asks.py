"""Open questions of runs, and their answers."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from fastapi import APIRouter

from dovetail.data.shapes import is_list, is_mapping
from dovetail.data.shown_arguments import find_edit_problem
from dovetail.errors import NotFoundError
from dovetail.runs.ask_store import AskRecord
from dovetail.server.errors import InvalidRequest
from dovetail.server.responses import JsonResponse
from dovetail.server.schemas import AckBody, AnswerBody, App, ClaimBody, Owner, to_iso

router = APIRouter(tags=["asks"])
_NOWHERE: Mapping[str, Any] = dict.fromkeys(("session_id", "parent_session_id", "session_title", "agent"))


@router.get("/api/v1/asks")
async def list_asks(app: App, owner: Owner, run_id: str | None = None) -> dict[str, Any]:
    """List the caller's open questions, oldest first.

    `session_id` is the session that asks, with its `session_title` and the `agent` that answers there;
    `parent_session_id` is the one in whose background it works, if any, and `ancestors` are all above it.
    """
    asks = await app.runs.asks.store.list_open(owner, run_id)
    places = await app.sessions.find_places([ask.run_id for ask in asks]) if asks else {}
    below = {place["session_id"] for place in places.values() if place["parent_session_id"] is not None}
    ancestors = await app.sessions.find_ancestors(sorted(below)) if below else {}
    described: list[dict[str, Any]] = []
    for ask in asks:
        place = places.get(ask.run_id, _NOWHERE)
        above = ancestors.get(place["session_id"], [])
        described.append({**_describe(ask), **place, "ancestors": above})
    return {"asks": described}


@router.post("/api/v1/asks/{ask_id}")
async def answer_ask(ask_id: str, body: AnswerBody, app: App, owner: Owner) -> dict[str, Any]:
    """Answer a question, once: with `approved` for an approval, with `value` for any other."""
    _check_fits(await app.runs.asks.store.get(ask_id, owner), body)
    value = body.model_dump(exclude_unset=True)
    ask = await app.runs.asks.answer(ask_id, value, owner=owner)
    return {"id": ask.id, "state": "answered"}


@router.post("/api/v1/asks/{ask_id}/claim")
async def claim_ask(ask_id: str, body: ClaimBody, app: App, owner: Owner) -> dict[str, Any]:
    """Claim a browser question for one tab for a while; claim again to extend it."""
    until = await app.runs.asks.claim(ask_id, body.tab_id, owner=owner, seconds=body.seconds)
    return {"id": ask_id, "tab_id": body.tab_id, "until": to_iso(until)}


@router.post("/ai/tools/ack")
async def acknowledge(body: AckBody, app: App, owner: Owner) -> JsonResponse:
    """Report the result of a browser tool (rule C90)."""
    fields = {"status": body.status, "output": body.output, "errorText": body.error_text}
    value = {name: field for name, field in fields.items() if field is not None}
    result = await app.runs.asks.acknowledge(body.call_id, value, owner=owner, tab_id=body.tab_id)
    if result == "missing":
        raise NotFoundError(f"Call {body.call_id!r} has ended or was already answered.")
    return JsonResponse({"result": result}, 200 if result == "resolved" else 202)


def _check_fits(ask: AskRecord, body: AnswerBody) -> None:
    """Raise if an answer does not fit its question: each question takes only one."""
    if ask.kind == "approval":
        if body.approved is None:
            raise InvalidRequest(
                f"Ask {ask.id!r} is an approval; the answer requires `approved`.",
                hint='Send {"approved": true} or {"approved": false}.',
            )
        _check_edit(ask.payload.get("args"), body.edited_args)
    elif "value" not in body.model_fields_set and body.approved is not False:
        raise InvalidRequest(
            f"Ask {ask.id!r} has kind {ask.kind!r}; the answer requires `value`.",
            hint='Send {"value": …}, or {"approved": false} to decline; browser tools report '
            "to POST /ai/tools/ack.",
        )
    elif ask.kind == "question" and body.approved is not False:
        _check_answers(ask, body.value)


def _check_edit(shown: Any, edited: Mapping[str, Any] | None) -> None:
    """Raise if a masked value of an edited call cannot be restored: the question stays open."""
    if edited is None or not is_mapping(shown):
        return
    if problem := find_edit_problem(edited, shown):
        raise InvalidRequest(problem)


def _check_answers(ask: AskRecord, value: Any) -> None:
    """Raise if the answers do not belong to the questions; a question may stay without one."""
    questions = ask.payload.get("questions")
    if not is_list(questions):
        return
    known = {str(each.get("id")) for each in questions if is_mapping(each)}
    answers = value.get("answers") if is_mapping(value) else None
    hint = f'Send {{"value": {{"answers": {{…}}}}}} with answers to: {", ".join(sorted(known))}.'
    if not is_mapping(answers):
        raise InvalidRequest(f"Ask {ask.id!r} has questions; the answer requires `value.answers`.", hint=hint)
    for name, answer in answers.items():
        if name not in known:
            raise InvalidRequest(f"Ask {ask.id!r} has no question {name!r}.", hint=hint)
        texts = answer if is_list(answer) else [answer]
        if not all(isinstance(text, str) for text in texts):
            raise InvalidRequest(f"The answer to {name!r} must be a text or a list of texts.", hint=hint)


def _describe(ask: AskRecord) -> dict[str, Any]:
    described = asdict(ask)
    for name in ("owner", "value"):
        del described[name]
    times = {name: to_iso(described[name]) for name in ("created_at", "claimed_until")}
    return {**described, "ask_id": ask.id, **times}
