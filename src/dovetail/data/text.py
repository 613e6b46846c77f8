"""Values as texts."""

import json
from typing import Any


def to_text(value: Any) -> str:
    """Text as it is, any other value as JSON on one line."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
