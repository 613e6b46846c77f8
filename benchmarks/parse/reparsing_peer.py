"""Parsers that return the document so far: most parse the whole text again for each delta.

For those, a sample of deltas spread over the text is timed, since all of them would take hours.
"""

import json
import sys
import time
from collections.abc import Callable

import ijson
import jiter
import partial_json_parser
import pydantic_core

from benchmarks.parse.cases import CASES, DELTA, SIZES

SAMPLES = 12
LONGEST = 10_000  # for parsers that take minutes for longer texts
AGAIN: dict[str, Callable[[str], object]] = {
    "jiter": lambda text: jiter.from_json(text.encode(), partial_mode="trailing-strings"),
    "pydantic-core": lambda text: pydantic_core.from_json(text, allow_partial="trailing-strings"),
    "partial-json-parser": partial_json_parser.loads,
}


def main() -> None:
    """Print seconds per delta, by parser, document and size."""
    times: dict[str, float] = {}
    for case, make in CASES.items():
        for size, length in SIZES.items():
            text = make(length)
            for name, parse in AGAIN.items():
                if name != "partial-json-parser" or length <= LONGEST:
                    times[f"{name}: {case}, {size}"] = _time_again(parse, text)
            if length <= LONGEST:
                times[f"ijson (no partial strings): {case}, {size}"] = _time_ijson(text)
    json.dump(times, sys.stdout)


def _time_again(parse: Callable[[str], object], text: str) -> float:
    ends = range(DELTA, len(text), max(DELTA, len(text) // SAMPLES))
    begin = time.process_time()
    for end in ends:
        parse(text[:end])
    return (time.process_time() - begin) / len(ends)


def _time_ijson(text: str) -> float:
    events = ijson.sendable_list()
    reader = ijson.parse_coro(events)
    deltas = [text[start : start + DELTA].encode() for start in range(0, len(text), DELTA)]
    begin = time.process_time()
    for delta in deltas:
        reader.send(delta)
        events.clear()
    return (time.process_time() - begin) / len(deltas)


if __name__ == "__main__":
    main()
