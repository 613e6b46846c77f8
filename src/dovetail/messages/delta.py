"""The former place of `dovetail.events.delta`; re-exports only."""

from dovetail.events.delta import Delta, FinishDelta, ReasoningDelta, TextDelta, ToolCallDelta, Usage

__all__ = ["Delta", "FinishDelta", "ReasoningDelta", "TextDelta", "ToolCallDelta", "Usage"]
