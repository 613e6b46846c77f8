"""Events as stored JSON and back."""

import dataclasses
from typing import Any, get_args

from dovetail.messages.delta import Usage
from dovetail.messages.event import Event, RunStart
from dovetail.messages.model_event import (
    ModelRequested,
    ReasoningEnd,
    ReasoningMore,
    ReasoningStart,
    TextEnd,
    TextMore,
    TextStart,
)
from dovetail.runs.block import Block

_PLAIN: dict[type, tuple[str, ...]] = {
    kind: tuple(field.name for field in dataclasses.fields(kind))
    for kind in (
        ModelRequested,
        RunStart,
        TextStart,
        TextMore,
        TextEnd,
        ReasoningStart,
        ReasoningMore,
        ReasoningEnd,
    )
}
"""Events that hold nothing but JSON, and their fields; what may hold objects is taken apart with care."""

EVENTS: dict[str, Any] = {kind.type: kind for kind in get_args(Event)}
"""Every event by the type that it is stored under."""


def encode_block(block: Block) -> dict[str, Any]:
    """The block as the values of one row, without its run."""
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
    """The block that a row was made of."""
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
    """The call an event is about, unique within the root run: children may use the same ids."""
    call_id = body.get("call_id")
    return "/".join((*block.path[1:], call_id)) if call_id else None
