"""Run random cases on both sides and report every unexplained difference.

`make conformance` calls it: `python -m conformance --oracle .conformance/bin/python --cases 20000 --seed 1`.
"""

import argparse
import collections
import json
import sys
from pathlib import Path
from typing import Any

from conformance.cases import make_case
from conformance.comparison import Finding
from conformance.sample import write_sample
from conformance.shrinking import shrink
from conformance.sides import Results, run_twice


def main() -> int:
    """Return 0 if all differences are intended."""
    arguments = _read_arguments()
    cases = {
        number: make_case(arguments.seed, number)
        for number in range(arguments.first, arguments.first + arguments.cases)
    }
    if arguments.sample:
        write_sample(arguments.oracle, cases, arguments.sample)
        return 0
    report = Report(arguments.oracle)
    for _, _, results in run_twice(arguments.oracle, cases):
        report.add(results)
        if sys.stderr.isatty() or report.cases % 2000 == 0:
            ending = "\r" if sys.stderr.isatty() else "\n"
            sys.stderr.write(f"{report.cases} of {len(cases)} cases, {len(report.open)} unexplained{ending}")
    return report.close()


def _read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="conformance", description=__doc__)
    parser.add_argument("--oracle", required=True, help="the Python that has the original package")
    parser.add_argument("--cases", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="the number of the first case")
    parser.add_argument("--sample", type=Path, help="record the cases in this file instead of comparing them")
    return parser.parse_args()


class Report:
    """Counts the comparisons, and collects unexplained differences."""

    def __init__(self, oracle: str) -> None:
        self._oracle = oracle
        self.cases = self.views = 0
        self.settled: collections.Counter[str] = collections.Counter()
        self.open: list[tuple[int, Finding]] = []

    def add(self, results: Results) -> None:
        """Add the results of some cases."""
        for number, theirs, findings in results:
            self.cases += 1
            self.views += len(theirs)
            for finding in findings:
                self.settled.update(finding.settled_by)
                if not finding.settled_by:
                    self.open.append((number, finding))

    def close(self) -> int:
        """Print the summary."""
        out = sys.stdout
        out.write(f"\n{self.cases} cases, {self.views} views compared\n")
        out.write("intended differences:\n")
        for name, count in self.settled.most_common():
            out.write(f"  {count:7} {name}\n")
        out.write(f"unexplained differences: {len(self.open)}\n")
        if not self.open:
            return 0
        number, finding = min(self.open, key=lambda entry: len(json.dumps(entry[1].difference.case)))
        self._show(number, shrink(self._oracle, finding))
        return 1

    def _show(self, number: int, finding: Finding) -> None:
        difference = finding.difference
        case: Any = difference.case
        sys.stdout.write(
            f"\nthe smallest, from case {number}, in the view {difference.view!r}:\n"
            f"  case     = {case!r}\n"
            f"  original = {difference.their_view!r}\n"
            f"  Dovetail = {difference.our_view!r}\n"
        )


if __name__ == "__main__":
    sys.exit(main())
