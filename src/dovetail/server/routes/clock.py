"""Times as they are told outside."""

from datetime import UTC, datetime


def to_iso(seconds: float | None) -> str | None:
    """Seconds since 1970 as ISO 8601 in UTC."""
    if seconds is None:
        return None
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
