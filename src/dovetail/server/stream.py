"""The former place of `dovetail.server.streams.event_stream`; re-exports only."""

from dovetail.server.streams.event_stream import EventStream

__all__ = ["EventStream"]
