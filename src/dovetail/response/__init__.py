"""Answers: deltas in; events, fields and a typed result out; no I/O."""

from dovetail.response.field_event import FieldEvent, Instant
from dovetail.response.parser import InstantParser

__all__ = ["FieldEvent", "Instant", "InstantParser"]
