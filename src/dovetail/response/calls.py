"""Puts the pieces of function calls together."""

from collections.abc import Iterable

from dovetail.messages.call import ToolCall, new_call_id
from dovetail.messages.delta import ToolCallDelta


def collect_calls(deltas: Iterable[ToolCallDelta]) -> list[ToolCall]:
    """The calls that the deltas make, in the order of their beginnings."""
    pieces: dict[int, list[ToolCallDelta]] = {}
    for delta in deltas:
        pieces.setdefault(delta.index, []).append(delta)
    return [_join(deltas) for deltas in pieces.values()]


def _join(deltas: list[ToolCallDelta]) -> ToolCall:
    call_id = next((delta.call_id for delta in deltas if delta.call_id), None) or new_call_id()
    name = next((delta.name for delta in deltas if delta.name), "")
    return ToolCall(call_id=call_id, name=name, arguments="".join(delta.arguments for delta in deltas))
