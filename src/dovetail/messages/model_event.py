"""The former place of `dovetail.events.model_events`; re-exports only."""

from dovetail.events.model_events import (
    ModelAnswered,
    ModelRequested,
    ReasoningEnd,
    ReasoningMore,
    ReasoningStart,
    TextEnd,
    TextMore,
    TextStart,
    ToolInputEnd,
    ToolInputMore,
    ToolInputStart,
)

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
