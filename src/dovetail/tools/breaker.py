"""Counts equal failures of one run, so that repairing stops when it does not help."""

import re
from collections import Counter, OrderedDict

LIMIT = 3
_MOST_RUNS = 1000
_DIGITS = re.compile(r"\d+")


class Breaker:
    """Remembers, run by run, how often a tool's calls failed in the same way; digits make no difference."""

    def __init__(self) -> None:
        self._runs: OrderedDict[tuple[str, ...], Counter[tuple[str, str]]] = OrderedDict()

    def count(self, run_path: tuple[str, ...], tool: str, failure: str) -> int:
        """How often this failure has been noted in this run."""
        failures = self._runs.get(run_path)
        return failures[tool, _DIGITS.sub("0", failure)] if failures else 0

    def note(self, run_path: tuple[str, ...], tool: str, failure: str) -> int:
        """Note a failure; gives how often it has been seen now. Calls outside of a run are not counted."""
        if not run_path:
            return 1
        failures = self._runs.setdefault(run_path, Counter())
        self._runs.move_to_end(run_path)
        if len(self._runs) > _MOST_RUNS:
            self._runs.popitem(last=False)
        failures[tool, _DIGITS.sub("0", failure)] += 1
        return failures[tool, _DIGITS.sub("0", failure)]
