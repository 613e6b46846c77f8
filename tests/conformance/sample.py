"""The stored sample: cases with the original's results, so that they can be replayed without it."""

import gzip
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from conformance.sides import BATCH, Oracle

SAMPLE = Path(__file__).parent / "sample.json.gz"
SEED = 14


def write_sample(python: str, cases: Mapping[int, Any], path: Path) -> None:
    """Record the original's results for these cases."""
    numbers = list(cases)
    recorded: list[Any] = []
    with Oracle(python) as oracle:
        for start in range(0, len(numbers), BATCH):
            batch = {number: cases[number] for number in numbers[start : start + BATCH]}
            oracle.send(batch)
            recorded += [[number, cases[number], result] for number, result in oracle.receive().items()]
    path.write_bytes(gzip.compress(json.dumps(recorded, ensure_ascii=False).encode(), mtime=0))


def read_sample(path: Path = SAMPLE) -> list[tuple[int, dict[str, Any], dict[str, Any]]]:
    """Return the recorded cases: number, case and results."""
    return [tuple(entry) for entry in json.loads(gzip.decompress(path.read_bytes()))]
