"""Runs and events as rows of the database, and back."""

import dataclasses
from typing import Any, get_args

from dovetail.events.delta import Usage
from dovetail.events.model_events import (
    ModelRequestEvent,
    ProviderPartEvent,
    ReasoningDeltaEvent,
    ReasoningEnd,
    ReasoningStart,
    TextDeltaEvent,
    TextEnd,
    TextStart,
)
from dovetail.events.run_events import Event, RunStart
from dovetail.events.run_result import RunResult
from dovetail.runs.journal import Block
from dovetail.runs.run import RunRecord, RunSpec

_PLAIN: dict[type, tuple[str, ...]] = {
    kind: tuple(field.name for field in dataclasses.fields(kind))
    for kind in (
        ModelRequestEvent,
        RunStart,
        TextStart,
        TextDeltaEvent,
        TextEnd,
        ReasoningStart,
        ReasoningDeltaEvent,
        ReasoningEnd,
        ProviderPartEvent,
    )
}
"""Events that hold only JSON, with their fields; the others are converted with `asdict`."""

EVENTS: dict[str, Any] = {kind.type: kind for kind in get_args(Event)}
"""Every event class by the type it is stored under."""


def read_record(row: Any) -> RunRecord:
    """Return the run that a row holds."""
    spec = {name: row[name] for name in RunSpec.__dataclass_fields__}
    result = None
    if row["state"] == "ended":
        result = RunResult(
            reason=row["reason"],
            data=row["result"],
            usage=Usage.read(row["usage"]),
            duration=max(row["ended_at"] - row["created_at"], 0.0),
            error=row["error"],
            limit=row["limit"],
            notice=row["notice"],
        )
    return RunRecord(
        id=row["id"],
        spec=RunSpec(**spec),
        state=row["state"],
        result=result,
        last_number=row["last_number"],
        created_at=row["created_at"],
        ended_at=row["ended_at"],
        process_id=row["process_id"],
        cancel_mode=row["cancel_mode"],
        phase=row["phase"],
        attempts=row["attempts"],
    )


def encode_block(block: Block) -> dict[str, Any]:
    """Return the block as the values of one row, without its run."""
    names = _PLAIN.get(type(block.event))
    body = {name: getattr(block.event, name) for name in names} if names else dataclasses.asdict(block.event)
    if block.pieces:
        body["delta"] = "".join(block.pieces)
        body["sizes"] = [len(piece) for piece in block.pieces]
    return {
        "first": block.first,
        "last": block.last,
        "path": list(block.path),
        "time": block.time,
        "type": block.event.type,
        "call_id": _call_key(block, body),
        "body": body,
    }


def decode_block(row: Any) -> Block:
    """Return the block stored in a row."""
    body = dict(row["body"])
    sizes: list[int] = body.pop("sizes", [])
    if "usage" in body:
        body["usage"] = Usage.read(body["usage"])
    kind = EVENTS[row["type"]]
    event = kind(**{name: body[name] for name in kind.__dataclass_fields__ if name in body})
    pieces = _cut(body["delta"], sizes) if sizes else []
    return Block(row["first"], tuple(row["path"]), row["time"], event, pieces, sealed=True)


def _cut(text: str, sizes: list[int]) -> list[str]:
    pieces: list[str] = []
    start = 0
    for size in sizes:
        pieces.append(text[start : start + size])
        start += size
    return pieces


def _call_key(block: Block, body: dict[str, Any]) -> str | None:
    """Return the key of the call of an event, unique within the root run: children may use the same ids."""
    call_id = body.get("call_id")
    return "/".join((*block.path[1:], call_id)) if call_id else None
