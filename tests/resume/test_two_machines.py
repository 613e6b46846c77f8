"""Two machines, each with an address of its own, lose one: every user gets their whole answer."""

import asyncio
import signal
from collections import Counter
from pathlib import Path

import pytest

from dovetail.testing import Gate
from patience import PATIENCE
from resume.engines import ENGINES
from resume.machine import PACKAGES, Maker
from resume.model import make_call, say
from resume.reader import Reader
from resume.world import Makers, World

pytestmark = pytest.mark.slow
USERS = [f"user-{number}" for number in range(8)]


@pytest.mark.parametrize("engine", ["local/PostgreSQL", "dbos", "temporal"])
async def test_a_machine_is_lost_and_no_user_notices(tmp_path: Path, engine: str) -> None:
    chosen = ENGINES[engine]
    async with (
        Maker(packages=(*PACKAGES, *chosen.packages)) as maker,
        World(chosen, tmp_path, Makers(maker, maker)) as world,
        asyncio.timeout(PATIENCE),
    ):
        lost = await world.start_machine("127.0.0.1")
        await world.start_machine("127.0.0.2")
        gates = [prepare(world, user) for user in USERS]
        readers = [await send(world, user, place) for place, user in enumerate(USERS)]
        await asyncio.gather(*(gate.reached.async_wait() for gate in gates))
        world.forget(lost)
        await asyncio.gather(*(machine.end(signal.SIGKILL) for machine in lost))
        for gate in gates:
            gate.open()
        ends = await asyncio.gather(*(reader.wait_for_end() for reader in readers))
        for reader in readers:
            await reader.close()
        texts = [await read_answer(world, user) for user in USERS]
        effects = Counter(effect.key for effect in world.workspace.read_effects())
    assert [end["reason"] for end in ends] == ["goal"] * len(USERS)
    assert texts == ["\n\n".join(say(f"job {user}", turn) for turn in range(3)) for user in USERS]
    assert effects == Counter(f"{user} {step}" for user in USERS for step in "ab")
    assert world.model.complaints == []


def prepare(world: World, user: str) -> Gate:
    """Plan a job with two effects; its answer stops between them."""
    job = f"job {user}"
    world.model.plans[job] = [[make_call("note", f"{user} a")], [make_call("note", f"{user} b")]]
    return world.model.hold(job, 1)


async def send(world: World, user: str, place: int) -> Reader:
    """Send the job to one of the two machines, and read its events."""
    body = {"message": f"job {user}", "session_id": user, "tab_id": user}
    address = world.web[place % 2].address
    async with world.client.stream("POST", f"{address}/api/v1/chat", json=body) as response:
        assert response.status_code == 200
    view = await world.get(f"/api/v1/sessions/{user}")
    return Reader(world, view["run_id"])


async def read_answer(world: World, user: str) -> str:
    """Return the text of the stored answer."""
    view = await world.get(f"/api/v1/sessions/{user}")
    return "\n\n".join(part["text"] for part in view["path"][-1]["parts"] if part["type"] == "text")
