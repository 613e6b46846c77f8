"""The former place of `dovetail.events.call`; re-exports only."""

from dovetail.events.call import READ_ONLY, Kind

__all__ = ["READ_ONLY", "Kind"]
