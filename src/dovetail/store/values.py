"""Records as the values of a row."""

from typing import Any


def to_values(record: Any) -> dict[str, Any]:
    """The fields of a dataclass by name, as they are: `asdict` would copy all that is in them."""
    return {name: getattr(record, name) for name in record.__dataclass_fields__}
