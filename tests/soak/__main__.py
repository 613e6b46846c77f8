"""Let machines fail at random moments under people who use everything at once: `make soak`.

On each engine people chat, edit, ask again, steer, queue, approve, cancel and plan, and start agents in the
background, in the foreground and side by side, while processes are killed (often right after an effect),
stopped, frozen and cut from their database, clocks are wrong and tools change. In the last third of the time
nothing fails, and what the processes use must stay flat. Then everything is checked: no effect twice, no
answer lost, every question answered by the answer that follows it. What has not ended by then is reported.
"""

import argparse
import asyncio
import random
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from patience import PATIENCE
from resume.engines import ENGINES
from resume.machine import PACKAGES, Maker
from resume.world import Makers, World
from soak.brain import SoakBrain
from soak.checks import find_damage
from soak.ending import describe_open, read_log, wait_for_end
from soak.gauge import Gauge
from soak.people import Conversation, Talker, answer_everything
from soak.planner import Planner
from soak.strikes import strike
from soak.workspace import get_ledger, write_workspace

PEOPLE = 4
CALM = 1 / 3
"""The part of the time in which nothing fails."""
READING = 3.0
"""Seconds between two readings of the processes."""
LONGEST = 8000
"""Characters of one problem in the report: what a person saw, and what is stored."""


@dataclass
class Report:
    """What a soak of one engine did and found."""

    engine: str
    strikes: "Counter[str]" = field(default_factory=Counter)
    questions: int = 0
    effects: int = 0
    damage: list[str] = field(default_factory=list[str])
    logs: list[str] = field(default_factory=list[str])
    """What the processes that are left have logged, if there is damage: it may tell why."""
    gauge: Gauge = field(default_factory=Gauge)

    def write(self) -> str:
        """Return the report as text."""
        struck = ", ".join(f"{times} x {name}" for name, times in self.strikes.most_common())
        lines = [
            f"{self.engine}: {self.questions} questions, {self.effects} effects, {struck or 'no strikes'}"
        ]
        lines += [self.gauge.describe(), *(f"  PROBLEM {problem[:LONGEST]}" for problem in self.damage)]
        lines += [f"  LOG of {log}" for log in self.logs]
        return "\n".join(line for line in lines if line)


async def soak(engine: str, seconds: float, seed: int, folder: Path) -> Report:
    """Soak one engine in an empty folder."""
    report, chance = Report(engine), random.Random(seed)
    maker = Maker(packages=(*PACKAGES, *ENGINES[engine].packages))
    async with maker, World(ENGINES[engine], folder, Makers(maker, maker)) as world:
        write_workspace(folder)
        brain = world.play(SoakBrain(seed))
        await world.start(web=2 if world.engine.can_share else 1, workers=2)
        try:
            talks = await _live(world, seconds, chance, report)
        except ExceptionGroup as group:
            report.damage += [repr(error) for error in group.exceptions]
            report.damage += await describe_open(world)
            report.logs += map(read_log, world.machines)
            return report
        report.questions = sum(len(talk.accepted) for talk in talks)
        report.effects = get_ledger(folder).count().total()
        report.damage += report.gauge.find_growth() + await find_damage(world, talks, brain)
        if report.damage:
            report.logs += map(read_log, world.machines)
    return report


async def _live(world: World, seconds: float, chance: random.Random, report: Report) -> list[Conversation]:
    """Let people talk while processes fail; return what they said once all is answered."""
    stop, done = asyncio.Event(), asyncio.Event()
    talkers = [Talker(world, f"p{each}", random.Random(chance.random()), stop) for each in range(PEOPLE)]
    async with asyncio.TaskGroup() as group:
        clerk = group.create_task(answer_everything(world, done))
        talking = [group.create_task(talker.talk()) for talker in talkers]
        planner = Planner(world, random.Random(chance.random()), stop)
        talking.append(group.create_task(planner.plan()))
        await _fail_for_a_while(world, seconds * (1 - CALM), chance, report)
        end = time.monotonic() + seconds * CALM
        while time.monotonic() < end:
            report.gauge.read(world.machines)
            await asyncio.sleep(READING)
        stop.set()
        async with asyncio.timeout(PATIENCE):
            await asyncio.gather(*talking)
            await wait_for_end(world)
            done.set()
            await clerk
    return [talk for talker in talkers for talk in talker.conversations]


async def _fail_for_a_while(world: World, seconds: float, chance: random.Random, report: Report) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        await asyncio.sleep(chance.random() * 4)
        report.strikes[await strike(world, chance)] += 1


def main() -> int:
    """Return 0 if nothing was lost, done twice or left to grow."""
    parser = argparse.ArgumentParser(prog="soak", description=__doc__)
    parser.add_argument("--engine", default="", help=f"only these: {', '.join(ENGINES)}")
    parser.add_argument("--minutes", type=float, default=15, help="for all engines together")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="chooses jobs and moments")
    given = parser.parse_args()
    words = [word.strip().casefold() for word in given.engine.split(",")]
    engines = [name for name in ENGINES if any(word in name.casefold() for word in words)]
    sys.stdout.write(f"seed {given.seed}, {given.minutes / len(engines):.1f} minutes on each engine\n")
    failed = False
    for engine in engines:
        with tempfile.TemporaryDirectory(prefix="dovetail-soak-") as folder:
            report = asyncio.run(soak(engine, given.minutes * 60 / len(engines), given.seed, Path(folder)))
        sys.stdout.write(f"{report.write()}\n")
        sys.stdout.flush()
        failed = failed or bool(report.damage)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
