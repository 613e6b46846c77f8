"""A short part of the resume matrix: a few faults, each at another point."""

from pathlib import Path

import pytest

from resume.cell import Cell, run_cell
from resume.engines import ENGINES
from resume.machine import PACKAGES, Maker
from resume.world import Makers

pytestmark = pytest.mark.slow
CELLS = [
    Cell(engine="local/SQLite", fault="SIGKILL", point="inside it"),
    Cell(engine="local/SQLite", fault="database away", point="after its result"),
    Cell(engine="local/SQLite", fault="double resume", point="in a child"),
    Cell(engine="local/SQLite", fault="SIGKILL", point="in a steering message"),
    Cell(engine="local/SQLite", fault="SIGKILL", point="in a background child"),
    Cell(engine="local/SQLite", fault="SIGKILL", point="after a task is stored"),
    Cell(engine="local/PostgreSQL", fault="database away", point="after a task is stored"),
    Cell(engine="local/PostgreSQL", fault="k answers at once", point="in an approval"),
    Cell(engine="local/SQLite", fault="clock jumps", point="in an approval"),
]
FROZEN = [
    Cell(engine="local/SQLite", fault="SIGSTOP, SIGCONT", point="inside it"),
    Cell(engine="local/PostgreSQL", fault="FREEZE", point="in a child"),
    Cell(engine="local/PostgreSQL", fault="SIGSTOP, SIGCONT", point="before a call"),
    Cell(engine="local/PostgreSQL", fault="cut off", point="inside it"),
    Cell(engine="dbos", fault="FREEZE", point="inside it"),
    Cell(engine="temporal", fault="FREEZE", point="inside it"),
]
TAKEOVER = 5.0
"""Seconds; the default would let each of these cells stand still for longer."""


@pytest.mark.parametrize("cell", CELLS, ids=str)
async def test_a_cell_of_the_matrix_has_all_six_properties(tmp_path: Path, cell: Cell) -> None:
    async with Maker() as maker:
        outcome = await run_cell(cell, tmp_path, Makers(maker, maker))
    assert outcome.problems == [], outcome.log


@pytest.mark.parametrize("cell", FROZEN, ids=str)
async def test_a_process_that_stands_still_loses_its_runs_and_repeats_nothing(
    tmp_path: Path, cell: Cell
) -> None:
    async with Maker(packages=(*PACKAGES, *ENGINES[cell.engine].packages)) as maker:
        outcome = await run_cell(cell, tmp_path, Makers(maker, maker), TAKEOVER)
    assert outcome.problems == [], outcome.log
