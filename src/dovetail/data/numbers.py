"""Numbers from outside: settings, files, HTTP headers, models, clients.

A NaN passes every `<` and `>` check, and one NaN in the event loop's timers stops all of them. So each number
from outside is checked for finiteness once, where it comes in.
"""

import math
from typing import TypeGuard

LARGEST_COUNT = 10**12
"""Larger than any real count of tokens, bytes or items; databases and metrics hold it without loss."""


def is_number(value: object) -> TypeGuard[int | float]:
    """Return whether the value is a number that can be compared and added: finite, and not a bool."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer with hundreds of digits
        return False


def read_number(text: str) -> float | None:
    """Return the finite number in a text, if any."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def read_count(value: object) -> int:
    """Return a count of tokens, bytes or items; 0 for anything else."""
    if not is_number(value) or value < 0:
        return 0
    return min(int(value), LARGEST_COUNT)
