"""What the scripts of the other libraries share: they run in their own environments, without ours."""

import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable

from benchmarks.tools.server import ANSWER, load

ROUNDS = 8


def main(make: Callable[[str], Callable[[], Awaitable[str]]]) -> None:
    """Print the CPU seconds of the best of several loops as JSON."""
    url = sys.argv[1]
    json.dump(asyncio.run(_measure(url, make(url))), sys.stdout)


async def _measure(url: str, run: Callable[[], Awaitable[str]]) -> float:
    best = float("inf")
    for _ in range(ROUNDS):
        load(url, 1)
        begin = time.process_time()
        answer = await run()
        best = min(best, time.process_time() - begin)
        if answer != ANSWER:
            raise SystemExit(f"another answer: {answer!r}")
    return best
