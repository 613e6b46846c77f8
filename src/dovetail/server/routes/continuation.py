"""A plain AI SDK client answers an ask by sending its message again; this reads the answers out of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dovetail.app import Dovetail
from dovetail.data.shapes import is_mapping
from dovetail.errors import ConflictError, NotFoundError
from dovetail.messages.event import AskRequest
from dovetail.runs.run import RunRecord
from dovetail.server.routes.bodies import ClientMessage
from dovetail.server.sse import LATEST

HOLD_SECONDS = 1.0
"""How long the stream of a message without answers stays open, for clients that send again at its end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Continuation:
    """A message that was sent again: its run, the last event that its client knows, and its answers."""

    record: RunRecord
    after: int
    has_answers: bool

    @property
    def hold(self) -> float:
        """Seconds for which its stream stays open even if only the client is awaited."""
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
        raise NotFoundError("there is no running answer to go on with", hint="Send a new message.")
    return record


async def _answer_part(app: Dovetail, part: Mapping[str, Any], record: RunRecord) -> str | None:
    """Answer the ask that a part refers to; an ask that already has its answer is left alone."""
    call_id, owner = str(part.get("toolCallId", "")), record.spec.owner
    approval, output = _read_approval(part), _read_output(part)
    try:
        if approval is not None:
            await app.runs.asks.answer(approval[0], approval[1], owner=owner)
            return call_id
        if output is not None:
            told = await app.runs.asks.acknowledge(call_id, output, owner=owner, run_id=record.id)
            return call_id if told == "resolved" else None
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
