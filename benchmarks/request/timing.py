"""Time one client: sequential requests, and many at once. Peers import it, so it has no dependencies."""

import asyncio
import gc
import json
import sys
import time

from benchmarks.request.protocols import MESSAGES, TEXT, find_protocol

__all__ = ["MESSAGES", "PROTOCOL", "time_client"]

PROTOCOL = find_protocol(sys.argv[2])
"""The protocol that is timed; the clients of official packages know only their own."""

AT_ONCE = 50
ROUNDS = 3
WORKS = {
    "one by one, burst": ("0", 1, 20),
    "one by one, paced": ("1", 1, 5),
    "50 at once, burst": ("0", AT_ONCE, 1),
    "50 at once, paced": ("10", AT_ONCE, 1),
}
"""By name: the model (its name is the pause before each chunk in ms), concurrent requests, repetitions."""


def time_client(connect):
    """Print the CPU milliseconds of one request, the best of several rounds, as JSON.

    `connect(url, model)` returns a coroutine function that sends one request and returns its text.
    """
    print(json.dumps(asyncio.run(_time(connect, sys.argv[1]))))


async def _time(connect, url):
    asks = {model: connect(url, model) for model, _, _ in WORKS.values()}
    for ask in asks.values():
        for text in await asyncio.gather(*(ask() for _ in range(AT_ONCE))):
            if text != TEXT:
                raise SystemExit(f"The client received an unexpected text: {text[:80]!r}")
    best = dict.fromkeys(WORKS, float("inf"))
    for _ in range(ROUNDS):
        for work, (model, width, times) in WORKS.items():
            gc.collect()
            begin = time.process_time()
            for _ in range(times):
                await asyncio.gather(*(asks[model]() for _ in range(width)))
            best[work] = min(best[work], (time.process_time() - begin) * 1000 / (times * width))
    return best
