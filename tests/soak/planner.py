"""Somebody who adds schedules while machines fail, and has them due at once, some of them again."""

import asyncio
import random
import sqlite3
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from resume.world import World

NEW_YEAR = "0 0 1 1 *"
LAST = datetime(datetime.now(UTC).year, 1, 1, tzinfo=UTC).timestamp()
"""The last New Year: a tick that is due at once."""
PAUSE = 2.0
"""The longest time between two schedules."""
MOST = 60
"""How many schedules there are at last; each look at them takes time."""


@dataclass
class Planner:
    """Adds schedules until `stop` is set; a schedule whose reply is lost may be there twice."""

    world: World
    chance: random.Random
    stop: asyncio.Event

    async def plan(self) -> None:
        """Add one schedule after the other."""
        for number in range(MOST):
            if self.stop.is_set():
                return
            body = {"schedule": NEW_YEAR, "message": f"job s.{number}"}
            await self.world.request("POST", "/api/v1/schedules", json=body)
            schedules = (await self.world.get("/api/v1/schedules"))["schedules"]
            await make_due(self.world, [each for each in schedules if each["last"] is None])
            await make_due(self.world, self.chance.sample(schedules, min(1, len(schedules))))
            await asyncio.sleep(self.chance.random() * PAUSE)


async def make_due(world: World, schedules: Sequence[dict[str, Any]]) -> None:
    """Have schedules wait for a tick that has passed, one transaction each; some have run it already."""
    for schedule in schedules:
        with suppress(sqlite3.OperationalError):  # a frozen process holds the lock: the next time will do
            statement = f"UPDATE schedules SET next_at = {LAST} WHERE id = '{schedule['id']}'"
            await world.storage.execute(statement)


async def list_schedules(world: World) -> list[dict[str, Any]]:
    """Return all schedules with their ticks."""
    found = (await world.get("/api/v1/schedules"))["schedules"]
    return [await world.get(f"/api/v1/schedules/{schedule['id']}") for schedule in found]
