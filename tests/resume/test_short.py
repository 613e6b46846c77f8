"""A short part of the resume matrix: a few faults, each at another point."""

from pathlib import Path

import pytest

from resume.cell import Cell, run_cell
from resume.machine import Maker
from resume.world import Makers

pytestmark = pytest.mark.slow
CELLS = [
    Cell(engine="local/SQLite", fault="SIGKILL", point="inside it"),
    Cell(engine="local/SQLite", fault="database away", point="after its result"),
    Cell(engine="local/SQLite", fault="double resume", point="in a child"),
    Cell(engine="local/SQLite", fault="SIGKILL", point="in a steering message"),
    Cell(engine="local/PostgreSQL", fault="k answers at once", point="in an approval"),
]


@pytest.mark.parametrize("cell", CELLS, ids=str)
async def test_a_cell_of_the_matrix_has_all_six_properties(tmp_path: Path, cell: Cell) -> None:
    async with Maker() as maker:
        outcome = await run_cell(cell, tmp_path, Makers(maker, maker))
    assert outcome.problems == [], outcome.log
