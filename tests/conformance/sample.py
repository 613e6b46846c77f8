"""The stored sample: cases with the original's results, so that they can be replayed without it."""

import gzip
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from conformance.sides import run_twice

SAMPLE = Path(__file__).parent / "sample.json.gz"
SEED = 14


def write_sample(python: str, cases: Mapping[int, Any], path: Path) -> None:
    """Record the original's results for these cases, and for those without the causes of differences."""
    recorded = [
        [number, those[number], theirs, [*removed.get(number, ())]]
        for those, removed, results in run_twice(python, cases)
        for number, theirs, _ in results
    ]
    path.write_bytes(gzip.compress(json.dumps(recorded, ensure_ascii=False).encode(), mtime=0))


def read_sample(path: Path = SAMPLE) -> list[tuple[int, dict[str, Any], dict[str, Any], list[str]]]:
    """Return the recorded cases: number, case, results, and the deviations whose causes were taken out."""
    return [tuple(entry) for entry in json.loads(gzip.decompress(path.read_bytes()))]
