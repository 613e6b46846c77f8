"""Ports for programs that must be given one before they start."""

import random
import socket

_CHANCE = random.SystemRandom()
_FIRST, _LAST = 20_000, 32_000
"""Below the range from which the system gives ports away by itself, to servers and to connections alike."""


def find_port() -> int:
    """Return a port that is free, and that no connection of another test is given meanwhile."""
    while True:
        port = _CHANCE.randrange(_FIRST, _LAST)
        try:
            with socket.create_server(("127.0.0.1", port)):
                return port
        except OSError:
            continue
