"""One cell of the matrix: a point, a fault and an engine, run once."""

import asyncio
import json
import time
import traceback
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from patience import PATIENCE
from resume.engines import ENGINES
from resume.points import POINTS, Point
from resume.properties import Problems, find_problems
from resume.story import Story
from resume.strikes import FAULTS, Fault
from resume.world import Makers, World


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A place in the matrix."""

    engine: str
    fault: str
    point: str

    def __str__(self) -> str:
        return f"{self.engine}, {self.fault}, {self.point}"


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What was found in a cell; `problems` by the number of the property, 0 if the cell did not end."""

    cell: Cell
    problems: Problems
    seconds: float
    log: str = ""

    @property
    def failed(self) -> set[int]:
        """The numbers of the properties that do not hold."""
        return {number for number, _ in self.problems}


def add_outcome(path: Path, outcome: Outcome) -> None:
    """Keep a result in a file, instead of the earlier one of the same cell."""
    known = read_outcomes(path) | {outcome.cell: outcome}
    rows = [
        {**asdict(one.cell), "problems": one.problems, "seconds": round(one.seconds, 1)}
        for one in known.values()
    ]
    path.write_text("[\n" + ",\n".join(map(json.dumps, rows)) + "\n]\n")


def read_outcomes(path: Path) -> dict[Cell, Outcome]:
    """Return the results that a file keeps, if there is one."""
    found: dict[Cell, Outcome] = {}
    for row in json.loads(path.read_text()) if path.exists() else []:
        cell = Cell(engine=row["engine"], fault=row["fault"], point=row["point"])
        problems = [(number, text) for number, text in row["problems"]]
        found[cell] = Outcome(cell=cell, problems=problems, seconds=row["seconds"])
    return found


async def run_cell(cell: Cell, folder: Path, makers: Makers, takeover: float | None = None) -> Outcome:
    """Run a cell in an empty folder; `takeover` is the setting, if it is not the default."""
    began = time.monotonic()
    engine = ENGINES[cell.engine]
    if takeover is not None:
        engine = replace(engine, settings={**engine.settings, "takeover": takeover})
    fault, point = FAULTS[cell.fault](), POINTS[cell.point]()
    problems: Problems = []
    log = ""
    async with World(engine, folder, makers) as world:
        story = Story(world, with_answers=fault.asks, is_killed=fault.kills)
        try:
            async with asyncio.timeout(PATIENCE):
                problems = await _play(story, fault, point)
        except Exception as error:
            problems = [(0, f"{type(error).__name__}: {error}")]
            log = traceback.format_exc()
        if problems:
            log += "\n".join(f"--- {machine.words}\n{machine.text[-3000:]}" for machine in world.machines)
    return Outcome(cell=cell, problems=problems, seconds=time.monotonic() - began, log=log)


async def _play(story: Story, fault: Fault, point: Point) -> Problems:
    world = story.world
    point.prepare(story)
    await world.start(web=fault.web if world.engine.can_share else 1)
    try:
        await point.start(story)
        await point.reach(story)
        await story.mark()
        await fault.strike(story, point)
        await point.proceed(story)
        await story.finish()
        return await point.find_problems(story) + await find_problems(story)
    finally:
        await story.close()
