"""The former place of `dovetail.events.model_events`, with the former names of events; re-exports only."""

from dovetail.events.model_events import (
    ModelRequestEvent,
    ModelResponseEvent,
    ReasoningDeltaEvent,
    ReasoningEnd,
    ReasoningStart,
    TextDeltaEvent,
    TextEnd,
    TextStart,
    ToolInputDeltaEvent,
    ToolInputEnd,
    ToolInputStart,
)

ModelRequested = ModelRequestEvent
ModelAnswered = ModelResponseEvent
TextMore = TextDeltaEvent
ReasoningMore = ReasoningDeltaEvent
ToolInputMore = ToolInputDeltaEvent

__all__ = [
    "ModelAnswered",
    "ModelRequested",
    "ReasoningEnd",
    "ReasoningMore",
    "ReasoningStart",
    "TextEnd",
    "TextMore",
    "TextStart",
    "ToolInputEnd",
    "ToolInputMore",
    "ToolInputStart",
]
