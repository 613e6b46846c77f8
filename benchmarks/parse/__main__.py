"""Print the cost of a delta, in units of one `json.loads` of the wire chunk that carried it.

`python -m benchmarks.parse [--no-peer]`
"""

import json
import sys

from benchmarks.harness import Row, find_peer, measure, report, run_peer
from benchmarks.parse.cases import CASES, SCHEMA, SIZES, WIRE_CHUNK, cut
from dovetail.response import InstantParser

TARGET = 0.8
UNIT = "x json.loads"
PEERS = {
    "reparsing": [
        "jiter==0.19.0",
        "partial-json-parser==0.2.1.1.post7",
        "pydantic-core==2.50.4",
        "ijson==3.6.0",
    ],
    "agently": ["agently==4.0.7.1"],
}


def main() -> int:
    """Measure every document and size; return the exit status."""
    rows: list[Row] = []
    base = 0.0
    for case, make in CASES.items():
        for size, length in SIZES.items():
            text = make(length)
            deltas = cut(text)
            _check(text, deltas)
            rounds = 15 if length < 1_000_000 else 3
            times = measure(
                {"ours": lambda deltas=deltas: _parse(deltas), "loads": lambda: json.loads(WIRE_CHUNK)},
                rounds=rounds,
            )
            base = times["loads"]
            per_delta = times["ours"] / len(deltas)
            detail = f"{per_delta * 1e9:.0f} ns a delta"
            rows.append(Row(f"{case}, {size}", per_delta / base, TARGET, UNIT, detail))
    if "--no-peer" not in sys.argv:
        rows += _measure_peers(base)
    return report("Read fields while they arrive, 4 characters a delta", rows)


def _parse(deltas: list[str]) -> InstantParser:
    parser = InstantParser(SCHEMA)
    for delta in deltas:
        parser.feed(delta)
    parser.finish()
    return parser


def _check(text: str, deltas: list[str]) -> None:
    if _parse(deltas).data != json.loads(text):
        raise SystemExit("The parser's result differs from json.loads.")


def _measure_peers(base: float) -> list[Row]:
    rows: list[Row] = []
    for name, requirements in PEERS.items():
        times = run_peer(find_peer(name, requirements), f"benchmarks.parse.{name}_peer")
        for work, seconds in times.items():
            rows.append(Row(work, seconds / base, None, UNIT, f"{seconds * 1e9:.0f} ns a delta"))
    return rows


if __name__ == "__main__":
    raise SystemExit(main())
