"""Runs and events as rows of the database, and back."""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, get_args

from dovetail.events.delta import RequestTiming, Usage
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
from dovetail.events.run_events import Event, RunEnd, RunStart
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


def read_record(row: Any, find_said: Callable[[Sequence[int]], str]) -> RunRecord:
    """Return the run that a row holds, with the body of its `end` if it has no result.

    `find_said` reads a result that is stored as what the run has said between two numbers.
    """
    spec = {name: row[name] for name in RunSpec.__dataclass_fields__}
    result = None
    if row["state"] == "ended":
        said = (row["end"] or dict[str, Any]()).get("said")
        result = RunResult(
            reason=row["reason"],
            data=find_said(said) if said else row["result"],
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
        started_at=row["started_at"],
        process_id=row["process_id"],
        cancel_mode=row["cancel_mode"],
        phase=row["phase"],
        attempts=row["attempts"],
    )


def encode_block(block: Block) -> dict[str, Any]:
    """Return the block as the values of one row, without its run.

    The result of a run is stored once: in the row of the run, or as the deltas of its last answer.
    """
    names = _PLAIN.get(type(block.event))
    body = {name: getattr(block.event, name) for name in names} if names else dataclasses.asdict(block.event)
    if block.pieces:
        body["delta"] = "".join(block.pieces)
        body["sizes"] = [len(piece) for piece in block.pieces]
    if is_run_end(block.event.type, block.path):
        del body["result"]
    return {
        "first": block.first,
        "last": block.last,
        "path": list(block.path),
        "time": block.time,
        "type": block.event.type,
        "call_id": _call_key(block, body),
        "body": body,
    }


def decode_block(row: Any, find_result: Callable[[Sequence[int] | None], Any] = lambda said: None) -> Block:
    """Return the block stored in a row.

    The result of its run is found in the row of the run, or between the two numbers where it was `said`.
    """
    body = dict(row["body"])
    if is_run_end(row["type"], row["path"]) and "result" not in body:  # older versions stored it here too
        body["result"] = find_result(body.get("said"))
    sizes: list[int] = body.pop("sizes", [])
    if "usage" in body:
        body["usage"] = Usage.read(body["usage"])
    if "timing" in body:
        body["timing"] = RequestTiming.read(body["timing"])
    kind = EVENTS[row["type"]]
    event = kind(**{name: body[name] for name in kind.__dataclass_fields__ if name in body})
    pieces = _cut(body["delta"], sizes) if sizes else []
    return Block(row["first"], tuple(row["path"]), row["time"], event, pieces, sealed=True)


def is_run_end(kind: str, path: Sequence[str]) -> bool:
    """Whether an event of this kind and path ends the run itself, and not a child of it."""
    return kind == RunEnd.type and len(path) == 1


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
