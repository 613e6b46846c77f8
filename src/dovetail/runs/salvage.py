"""What is stored in the place of an event that the database cannot hold."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from dovetail.data.clean import clean_text
from dovetail.data.numbers import is_number
from dovetail.data.shapes import is_list, is_mapping, is_tuple
from dovetail.messages.delta import Usage
from dovetail.messages.event import Event, RunEnd, ToolEnd
from dovetail.runs.block import Block, with_delta

_LONGEST = 200


def lighten(block: Block, error: Mapping[str, Any]) -> None:
    """Empty a block in place: its numbers, ids and kind stay, so that each call keeps its one result.

    A call or a run that ends with it ends with this error.
    """
    if block.pieces:
        block.pieces = [""] * len(block.pieces)
        block.event = with_delta(block.event, "")
    block.event = _lighten_event(block.event, error)


def _lighten_event(event: Event, error: Mapping[str, Any]) -> Event:
    if isinstance(event, ToolEnd):
        return ToolEnd(_reduce(event.call_id), "error", None, error, _reduce(event.duration) or 0.0)
    if isinstance(event, RunEnd):
        return RunEnd("error", None, event.usage, error)
    fields = {field.name: getattr(event, field.name) for field in dataclasses.fields(event)}
    return dataclasses.replace(event, **{name: _reduce(value) for name, value in fields.items()})


def _reduce(value: Any) -> Any:
    """The value if it is small and plain, otherwise an empty one of its kind."""
    if isinstance(value, str):
        return clean_text(value)[:_LONGEST]
    if value is None or isinstance(value, bool | Usage) or is_number(value):
        return value
    if is_tuple(value):
        return ()
    return {} if is_mapping(value) else [] if is_list(value) else None
