"""A plain AI SDK client answers an ask by sending its message again; this reads the answers out of it."""

from collections.abc import Mapping
from typing import Any

from dovetail.app import Dovetail
from dovetail.data.shapes import is_mapping
from dovetail.errors import ConflictError, NotFoundError
from dovetail.messages.event import AskRequest
from dovetail.runs.run import RunRecord
from dovetail.server.routes.bodies import ClientMessage


async def continue_answer(
    app: Dovetail, message: ClientMessage, session_id: str | None, owner: str
) -> tuple[RunRecord, int]:
    """Deliver the answers in the message; gives its run and the number up to which the client knows it."""
    record = await _find_run(app, message, session_id, owner)
    answered = [ask for part in message.parts if (ask := await _answer_part(app, part, record)) is not None]
    number = (message.metadata or {}).get("number")
    if isinstance(number, int):
        return record, number
    return record, await _find_asks(app, record, answered)


async def _find_run(app: Dovetail, message: ClientMessage, session_id: str | None, owner: str) -> RunRecord:
    run_id = (message.metadata or {}).get("run_id")
    if isinstance(run_id, str):
        return await app.runs.get(run_id, owner=owner)
    record = await app.runs.find_running(session_id or "")
    if record is None or record.spec.owner != owner:
        raise NotFoundError("there is no running answer to go on with", hint="Send a new message.")
    return record


async def _answer_part(app: Dovetail, part: Mapping[str, Any], record: RunRecord) -> str | None:
    """Answer the ask that a part speaks of; an ask that has its answer already is left alone."""
    state, call_id = part.get("state"), str(part.get("toolCallId", ""))
    approval, owner = part.get("approval"), record.spec.owner
    try:
        if state == "approval-responded" and is_mapping(approval):
            value = {name: approval[name] for name in ("approved", "reason") if name in approval}
            await app.runs.asks.answer(str(approval.get("id")), value, owner=owner)
            return call_id
        if state in ("output-available", "output-error") and not part.get("providerExecuted"):
            succeeded = state == "output-available"
            said = {"output": part.get("output")} if succeeded else {"errorText": part.get("errorText")}
            value = {"status": "success" if succeeded else "failed", **said}
            told = await app.runs.asks.acknowledge(call_id, value, owner=owner, run_id=record.id)
            if told == "resolved":
                return call_id
    except (ConflictError, NotFoundError):
        pass
    return None


async def _find_asks(app: Dovetail, record: RunRecord, call_ids: list[str]) -> int:
    numbers = [
        entry.number
        for entry in await app.runs.history(record.id)
        if isinstance(entry.event, AskRequest) and entry.event.call_id in call_ids
    ]
    return max(numbers, default=0)
