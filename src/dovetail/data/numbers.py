"""Numbers from outside: settings, files, HTTP headers, models, clients.

A NaN passes every `<` and `>` check, and one NaN in the event loop's timers stops all of them. So each number
from outside is checked for finiteness once, where it comes in.
"""

import math
from typing import TypeGuard

LARGEST_COUNT = 10**12
"""More tokens, bytes or items than anything counts; databases and metrics hold it without loss."""


def is_number(value: object) -> TypeGuard[int | float]:
    """Whether the value is a number that can be compared and added: finite, and not a bool."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer with hundreds of digits
        return False


def read_number(text: str) -> float | None:
    """The finite number that a text holds, if any."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def read_count(value: object) -> int:
    """A count of tokens, bytes or items; 0 for anything that is not a count."""
    if not is_number(value) or value < 0:
        return 0
    return min(int(value), LARGEST_COUNT)
