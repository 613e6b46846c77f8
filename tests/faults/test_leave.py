"""A server that is stopped, or dies next to another one, leaves its runs to the next server."""

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from dovetail.testing import ScriptedServer
from faults.brain import HELPER_FILE, Brain
from faults.checks import find_damage
from faults.person import Person
from faults.world import World
from patience import PATIENCE
from postgres import make_database

SEED = 3
pytestmark = pytest.mark.slow


@asynccontextmanager
async def worlds(folder: Path, url: str, count: int) -> AsyncIterator[list[World]]:
    """Servers of the same workspace on the same database."""
    (folder / "agents").mkdir()
    (folder / "agents" / "helper.md").write_text(HELPER_FILE)
    with ScriptedServer() as model:
        model.script = brain = Brain(SEED)
        environment = {"DATABASE_URL": url, "DOVETAIL_MODEL": "openai:x", "DOVETAIL_BASE_URL": model.url}
        made = [World(folder, environment) for _ in range(count)]
        try:
            for world in made:
                await world.__aenter__()
            yield made
        finally:
            for world in made:
                await world.__aexit__()
    assert brain.complaints == []


async def test_runs_continue_after_a_stop_by_signal(tmp_path: Path) -> None:
    async with worlds(tmp_path, f"sqlite:///{tmp_path / 'x.db'}", 1) as (world,):
        people = [Person(world, f"s{number}") for number in range(2)]
        async with asyncio.timeout(PATIENCE), asyncio.TaskGroup() as group:
            await world.start()
            for number, person in enumerate(people):
                group.create_task(person.say(f"job {number}"))
            await world.wait_for_events(20, limit=10)
            await world.end(signal.SIGTERM)
            await world.start()
        assert await find_damage(world, people, SEED) == []


async def test_another_process_takes_up_the_runs_of_one_that_was_killed(tmp_path: Path) -> None:
    async with worlds(tmp_path, await make_database(), 2) as (first, second):
        people = [Person(first, f"s{number}") for number in range(2)]
        async with asyncio.timeout(PATIENCE), asyncio.TaskGroup() as group:
            await first.start()
            await second.start()
            for number, person in enumerate(people):
                group.create_task(person.say(f"job {number}"))
            await first.wait_for_events(20, limit=10)
            await first.end(signal.SIGKILL)
            first.address = second.address  # people come to the one that lives, as a proxy would send them
            first.up.set()
        assert await find_damage(second, people, SEED) == []
