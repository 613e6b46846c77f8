"""Run the resume matrix: `make resume` calls `python -m resume`.

Every cell drives real processes to a point, lets a fault happen there, and checks six properties.
"""

import argparse
import asyncio
import sys
import tempfile
import time
from pathlib import Path

from resume.cell import Cell, Outcome, run_cell
from resume.engines import ENGINES
from resume.machine import PACKAGES, Maker, copy_newer
from resume.page import write_page, write_table
from resume.points import POINTS
from resume.strikes import FAULTS
from resume.world import Makers

AT_ONCE = 2


def main() -> int:
    """Return 0 if all cells pass."""
    arguments = _read_arguments()
    cells = [
        Cell(engine=engine, fault=fault, point=point)
        for engine in _choose(ENGINES, arguments.engine)
        for point in _choose(POINTS, arguments.point)
        for fault in _choose(FAULTS, arguments.fault)
    ]
    began = time.monotonic()
    outcomes = asyncio.run(run_cells(cells, arguments.show))
    seconds = time.monotonic() - began
    known = {outcome.cell: outcome for outcome in outcomes}
    for engine in dict.fromkeys(cell.engine for cell in cells):
        sys.stdout.write(f"\n{write_table(engine, known, engine, {})}\n")
    failed = [outcome for outcome in outcomes if outcome.problems]
    sys.stdout.write(f"\n{len(outcomes)} cells, {len(failed)} failed, {seconds:.0f} s\n")
    if arguments.page is not None and not (arguments.engine or arguments.fault or arguments.point):
        arguments.page.write_text(write_page(outcomes, list(ENGINES), seconds))
    return 1 if failed else 0


def _read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="resume", description=__doc__)
    parser.add_argument("--engine", default="", help=f"only these: {', '.join(ENGINES)}")
    parser.add_argument("--fault", default="", help=f"only these: {', '.join(FAULTS)}")
    parser.add_argument("--point", default="", help=f"only these: {', '.join(POINTS)}")
    parser.add_argument("--page", type=Path, help="write the page to this file, if all cells were run")
    parser.add_argument("--show", action="store_true", help="show what the processes wrote in failed cells")
    return parser.parse_args()


def _choose(known: "dict[str, object]", wanted: str) -> list[str]:
    """Return the names that contain one of the wanted words."""
    words = [word.strip().casefold() for word in wanted.split(",")]
    return [name for name in known if any(word in name.casefold() for word in words)]


async def run_cells(cells: list[Cell], show: bool) -> list[Outcome]:
    """Run the cells, two at once, and report each."""
    with tempfile.TemporaryDirectory(prefix="dovetail-resume-") as folder:
        root = Path(folder)
        newer = copy_newer(root / "newer")
        packages = (*PACKAGES, *{name for cell in cells for name in ENGINES[cell.engine].packages})
        async with (
            Maker(packages=packages) as maker,
            Maker(sources=newer, packages=packages) as newer_maker,
        ):
            return await _run_all(cells, root, Makers(maker, newer_maker), show)


async def _run_all(cells: list[Cell], root: Path, makers: Makers, show: bool) -> list[Outcome]:
    outcomes: list[Outcome] = []
    waiting = list(enumerate(cells))

    async def work() -> None:
        while waiting:
            number, cell = waiting.pop(0)
            place = root / f"cell-{number}"
            place.mkdir()
            outcome = await run_cell(cell, place, makers)
            outcomes.append(outcome)
            _report(outcome, len(outcomes), len(cells), show)

    await asyncio.gather(*(work() for _ in range(AT_ONCE)))
    return outcomes


def _report(outcome: Outcome, number: int, count: int, show: bool) -> None:
    result = "failed" if outcome.problems else "passed"
    sys.stdout.write(f"[{number}/{count}] {outcome.cell}: {result}, {outcome.seconds:.1f} s\n")
    for property_number, problem in outcome.problems:
        sys.stdout.write(f"    property {property_number}: {problem}\n")
    if show and outcome.log:
        sys.stdout.write(f"{outcome.log}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
