"""Run the resume matrix: `make resume` calls `python -m resume`.

Every cell drives real processes to a point, lets a fault happen there, and checks six properties. With
`--results`, results are kept in a file and cells that were not run now keep theirs; `--page` writes the page
from all of them.
"""

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path

from resume.cell import Cell, Outcome, add_outcome, read_outcomes, run_cell
from resume.engines import ENGINES
from resume.machine import PACKAGES, Maker, copy_newer
from resume.page import write_page, write_table
from resume.peer_cells import PEERS, find_reason, run_peer_cell
from resume.points import POINTS
from resume.strikes import FAULTS, can_strike
from resume.world import Makers

AT_ONCE = 2
RunCell = Callable[[Cell, Path], Awaitable[Outcome]]


def main() -> int:
    """Return 0 if all cells of ours pass."""
    arguments = _read_arguments()
    peers = [name for name in _choose(PEERS, arguments.engine) if arguments.peers]
    cells = [
        Cell(engine=engine, fault=fault, point=point)
        for engine in (*_choose(ENGINES, arguments.engine), *peers)
        for point in _choose(POINTS, arguments.point)
        for fault in _choose(FAULTS, arguments.fault)
        if can_strike(engine, fault) and (engine in ENGINES or find_reason(PEERS[engine], point) is None)
    ]
    began = time.monotonic()
    outcomes = asyncio.run(run_cells(cells, arguments))
    _show_tables(outcomes)
    failed = [outcome for outcome in outcomes if outcome.problems and outcome.cell.engine in ENGINES]
    sys.stdout.write(f"\n{len(outcomes)} cells, {time.monotonic() - began:.0f} s; {len(failed)} failed\n")
    if arguments.page is not None and arguments.results is not None:
        arguments.page.write_text(write_page(read_outcomes(arguments.results)))
    return 1 if failed else 0


def _read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="resume", description=__doc__)
    parser.add_argument("--engine", default="", help=f"only these: {', '.join((*ENGINES, *PEERS))}")
    parser.add_argument("--fault", default="", help=f"only these: {', '.join(FAULTS)}")
    parser.add_argument("--point", default="", help=f"only these: {', '.join(POINTS)}")
    parser.add_argument(
        "--peers", help="the Python that has the other runtimes; without it, only ours are run"
    )
    parser.add_argument("--results", type=Path, help="the file that keeps results from run to run")
    parser.add_argument("--page", type=Path, help="the page to write from these results")
    parser.add_argument("--show", action="store_true", help="show what the processes wrote in failed cells")
    return parser.parse_args()


def _choose(known: Iterable[str], wanted: str) -> list[str]:
    """Return the names that contain one of the wanted words."""
    words = [word.strip().casefold() for word in wanted.split(",")]
    return [name for name in known if any(word in name.casefold() for word in words)]


async def run_cells(cells: list[Cell], arguments: argparse.Namespace) -> list[Outcome]:
    """Run the cells, two at once, and report each."""
    with tempfile.TemporaryDirectory(prefix="dovetail-resume-") as folder:
        root = Path(folder)
        newer = copy_newer(root / "newer")
        own = [cell for cell in cells if cell.engine in ENGINES]
        packages = (*PACKAGES, *{name for cell in own for name in ENGINES[cell.engine].packages})
        async with (
            Maker(packages=packages) as maker,
            Maker(sources=newer, packages=packages) as newer_maker,
        ):
            makers = Makers(maker, newer_maker)

            async def run(cell: Cell, place: Path) -> Outcome:
                if cell.engine in ENGINES:
                    return await run_cell(cell, place, makers)
                return await run_peer_cell(cell, place, arguments.peers)

            return await _run_all(cells, root, run, arguments)


async def _run_all(
    cells: list[Cell], root: Path, run: RunCell, arguments: argparse.Namespace
) -> list[Outcome]:
    outcomes: list[Outcome] = []
    waiting = list(enumerate(cells))

    async def work() -> None:
        while waiting:
            number, cell = waiting.pop(0)
            place = root / f"cell-{number}"
            place.mkdir()
            outcome = await run(cell, place)
            outcomes.append(outcome)
            _report(outcome, len(outcomes), len(cells), arguments.show)
            if arguments.results is not None:
                add_outcome(arguments.results, outcome)

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


def _show_tables(outcomes: list[Outcome]) -> None:
    known = {outcome.cell: outcome for outcome in outcomes}
    for engine in dict.fromkeys(outcome.cell.engine for outcome in outcomes):
        sys.stdout.write(f"\n{engine}\n{write_table(known, engine)}\n")


if __name__ == "__main__":
    sys.exit(main())
