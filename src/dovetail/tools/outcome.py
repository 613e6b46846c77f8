"""How a call ended."""

from dataclasses import dataclass

from dovetail.messages.call import CallStatus, ToolCall
from dovetail.tools.tool import ToolResult


@dataclass(frozen=True, slots=True, kw_only=True)
class CallOutcome:
    """The one outcome of one call; `duration` is in seconds."""

    call: ToolCall
    status: CallStatus
    result: ToolResult
    duration: float = 0.0
