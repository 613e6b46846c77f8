"""The former place of `dovetail.events.call`; re-exports only."""

from dovetail.events.call import CallStatus, ToolCall, new_call_id

__all__ = ["CallStatus", "ToolCall", "new_call_id"]
