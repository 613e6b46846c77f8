"""The server is killed in the middle of its work, again and again, and nothing is lost or done twice."""

import asyncio
import random
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest

from dovetail.testing import ScriptedServer
from faults.brain import HELPER_FILE, Brain
from faults.checks import find_damage
from faults.person import Person
from faults.world import World
from patience import PATIENCE
from postgres import make_database

KILLS = 5
SEED = 1
PEOPLE = 2
pytestmark = pytest.mark.slow


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
async def test_nothing_is_lost_or_done_twice_however_often_the_server_dies(tmp_path: Path, kind: str) -> None:
    url = f"sqlite:///{tmp_path / 'x.db'}" if kind == "sqlite" else await make_database()
    print(f"seed {SEED}, {KILLS} kills, in {tmp_path}")  # noqa: T201 - shown when it fails
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "helper.md").write_text(HELPER_FILE)
    with ScriptedServer() as model:
        model.script = brain = Brain(SEED)
        environment = {"DATABASE_URL": url, "DOVETAIL_MODEL": "openai:x", "DOVETAIL_BASE_URL": model.url}
        async with World(tmp_path, environment) as world:
            people: list[Person] = []
            if not await _ends(_live_through_kills(world, people), world):
                pytest.fail(f"not all were served: {[person.describe() for person in people]}")
            damage = await find_damage(world, people, SEED)
            assert not damage, f"{damage}\n\n{world.read_log()}"
    assert brain.complaints == []
    assert len(people) == PEOPLE * KILLS


async def _ends(work: Coroutine[Any, Any, None], world: World) -> bool:
    """Whether work ends; it does not if nobody sees an event, and no server starts, for a long time."""
    task = asyncio.create_task(work)
    before = (-1, "")
    while before != (now := (world.seen, world.address)):
        before = now
        if (await asyncio.wait([task], timeout=PATIENCE))[0]:
            await task
            return True
    task.cancel()
    await asyncio.wait([task])
    return False


async def _live_through_kills(world: World, people: list[Person]) -> None:
    """Each life of the server gets new people and is ended among them; the last one serves all to the end."""
    chance = random.Random(SEED)
    async with asyncio.TaskGroup() as group:
        for life in range(KILLS):
            await world.start()
            for number in range(PEOPLE):
                people.append(Person(world, f"s{life}-{number}"))
                group.create_task(_talk(people[-1], f"job {life}.{number}", questions=2 - number % 2))
            await world.wait_for_events(chance.randint(1, 50 * PEOPLE), limit=5)
            await asyncio.sleep(chance.random() * 0.05)  # events alone would miss what happens between two
            await world.end()
        await world.start()


async def _talk(person: Person, job: str, questions: int) -> None:
    for question in range(questions):
        await person.say(f"{job}.{question}")
