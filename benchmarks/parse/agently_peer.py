"""The peer `agently`: its parser completes and parses the whole text again for each delta.

Its cost grows with the length, so only short answers are timed.
"""

import asyncio
import json
import sys
import time

from agently.utils import StreamingJSONParser

from benchmarks.parse.cases import CASES, SCHEMA, SIZES, cut

LONGEST = 2_000


def main() -> None:
    """Print seconds per delta, by document and size."""
    times: dict[str, float] = {}
    for case, make in CASES.items():
        for size, length in SIZES.items():
            if length <= LONGEST:
                times[f"agently: {case}, {size}"] = asyncio.run(_time(cut(make(length))))
    json.dump(times, sys.stdout)


async def _time(deltas: list[str]) -> float:
    parser = StreamingJSONParser(SCHEMA)
    begin = time.process_time()
    for delta in deltas:
        async for _ in parser.parse_chunk(delta):
            pass
    return (time.process_time() - begin) / len(deltas)


if __name__ == "__main__":
    main()
