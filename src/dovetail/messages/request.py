"""The former place of `dovetail.events.call`; re-exports only."""

from dovetail.events.call import ChatMessage, ModelRequest, ToolSpec, write_answer, write_result

__all__ = ["ChatMessage", "ModelRequest", "ToolSpec", "write_answer", "write_result"]
