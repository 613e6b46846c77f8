"""Measure a loop in any environment, without importing Dovetail."""

import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable

from benchmarks.tools.server import ANSWER, load

ROUNDS = 12


def main(make: Callable[[str], Callable[[], Awaitable[str]]]) -> None:
    """Print the CPU seconds of the best of several loops as JSON."""
    url = sys.argv[1]
    json.dump(asyncio.run(measure(url, make(url))), sys.stdout)


async def measure(url: str, run: Callable[[], Awaitable[str]]) -> float:
    """Return the CPU seconds of the best of several loops."""
    best = float("inf")
    for _ in range(ROUNDS):
        load(url, 1)
        begin = time.process_time()
        answer = await run()
        best = min(best, time.process_time() - begin)
        if answer != ANSWER:
            raise SystemExit(f"Unexpected answer: {answer!r}")
    return best
