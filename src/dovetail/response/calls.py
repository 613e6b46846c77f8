"""Puts the pieces of function calls together."""

from collections.abc import Iterable

from dovetail.messages.call import ToolCall
from dovetail.messages.delta import ToolCallDelta


def collect_calls(deltas: Iterable[ToolCallDelta]) -> list[ToolCall]:
    """The calls that the deltas make, in the order of their beginnings."""
    pieces: dict[int, list[ToolCallDelta]] = {}
    for delta in deltas:
        pieces.setdefault(delta.index, []).append(delta)
    return [_join(index, deltas) for index, deltas in pieces.items()]


def _join(index: int, deltas: list[ToolCallDelta]) -> ToolCall:
    call_id = next((delta.call_id for delta in deltas if delta.call_id), f"call-{index}")
    name = next((delta.name for delta in deltas if delta.name), "")
    return ToolCall(call_id=call_id, name=name, arguments="".join(delta.arguments for delta in deltas))
