"""The former place of `dovetail.events.call`; re-exports only."""

from dovetail.events.call import CallStatus, ToolCall

__all__ = ["CallStatus", "ToolCall"]
