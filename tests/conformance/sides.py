"""Run cases on both sides: the original in a separate process, Dovetail in this one."""

import json
import os
import subprocess
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from conformance import ours
from conformance.comparison import Finding, compare
from conformance.deviations import reduce

Results = list[tuple[int, dict[str, Any], list[Finding]]]
"""A case's number, the original's results, and the differences."""

Removed = Mapping[int, Collection[str]]
"""The deviations whose cause was taken out of a case, by its number."""

BATCH = 100
_NONE: Removed = {}
TESTS = Path(__file__).parent.parent


class Oracle:
    """The process with the original package; it runs one batch while the next is prepared."""

    def __init__(self, python: str) -> None:
        # One seed for the order of sets on both sides: the items of a set have no order of their own.
        environment = {**os.environ, "PYTHONPATH": str(TESTS), "PYTHONHASHSEED": "0"}
        self._process = subprocess.Popen(
            [python, "-m", "conformance.oracle"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            env=environment,
        )

    def __enter__(self) -> "Oracle":
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.stdin:
            self._process.stdin.close()
        self._process.wait(timeout=30)
        if self._process.stdout:
            self._process.stdout.close()

    def send(self, cases: Mapping[int, Any]) -> None:
        """Send a batch."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(list(cases.items())) + "\n")
        self._process.stdin.flush()

    def receive(self) -> dict[int, Any]:
        """Return the results of the batch that was sent first."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the original's process ended early, with {self._process.wait(timeout=30)}")
        return dict(json.loads(line))


def run_twice(python: str, cases: Mapping[int, Any]) -> Iterator[tuple[Mapping[int, Any], Removed, Results]]:
    """Yield the results of all cases, then those of cases without the causes of intended differences.

    A batch comes with its cases, and with the deviations that can explain nothing in them.
    """
    smaller: dict[int, Any] = {}
    removed: dict[int, list[str]] = {}
    for results in run_batches(python, cases):
        yield cases, {}, results
        for number, _, findings in results:
            names = {name for finding in findings for name in finding.settled_by}
            case, taken = reduce(cases[number], names)
            if taken:
                smaller[number], removed[number] = case, taken
    for results in run_batches(python, smaller, removed):
        yield smaller, removed, results


def run_batches(python: str, cases: Mapping[int, Any], removed: Removed = _NONE) -> Iterator[Results]:
    """Yield the results of all cases, one batch at a time."""
    numbers = list(cases)
    batches = [
        {n: cases[n] for n in numbers[start : start + BATCH]} for start in range(0, len(numbers), BATCH)
    ]
    with Oracle(python) as oracle:
        if batches:
            oracle.send(batches[0])
        for position, batch in enumerate(batches):
            own = {number: run_ours(case) for number, case in batch.items()}
            theirs = oracle.receive()
            if position + 1 < len(batches):
                oracle.send(batches[position + 1])
            yield [
                (n, theirs[n], compare(case, theirs[n], own[n], removed.get(n, ())))
                for n, case in batch.items()
            ]


def run_ours(case: dict[str, Any]) -> dict[str, Any]:
    """Return Dovetail's results in the same form as the original's."""
    return json.loads(json.dumps(ours.run(case)))
