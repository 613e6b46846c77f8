"""Ids that sort by their creation time."""

import os
import time

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"


def new_id(prefix: str) -> str:
    """Return a new id: the prefix, ten characters of time, ten random ones."""
    random = int.from_bytes(os.urandom(7))  # the module `secrets` would load hashing on every start
    return f"{prefix}_{_encode(time.time_ns() // 1_000_000, 10)}{_encode(random, 10)}"


def _encode(number: int, length: int) -> str:
    return "".join(_ALPHABET[(number >> 5 * place) & 31] for place in reversed(range(length)))
