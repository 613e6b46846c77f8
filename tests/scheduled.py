"""Apps with a clock that a test sets: several of them are processes that share one database."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from dovetail.app import Dovetail
from dovetail.data.cron import parse_cron
from dovetail.runs.run import RunRecord
from dovetail.schedules.schedule import Schedule
from dovetail.schedules.service import Schedules
from dovetail.settings import as_settings
from dovetail.testing import ScriptedRequester
from patience import PATIENCE
from serving import ScriptedRuntime

NINE = datetime(2026, 11, 16, 9, tzinfo=UTC).timestamp()
"""A Monday, nine o'clock in UTC."""


class Clock:
    """A wall clock that a test sets."""

    def __init__(self, now: float = NINE) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


@dataclass(frozen=True)
class Process:
    """One of the processes that share a database."""

    app: Dovetail
    schedules: Schedules
    model: ScriptedRequester

    async def look(self) -> float:
        """Look at the schedules until nothing is due."""
        while (pause := await self.schedules.ticker.look()) == 0.0:
            pass
        return pause

    async def wait_for_runs(self) -> list[RunRecord]:
        """Return all runs, the oldest first, once those of this process have ended."""
        runs = self.app.runs
        async with asyncio.timeout(PATIENCE):
            for record in await runs.store.find(state="running"):
                if runs.is_here(record.id):
                    async with await runs.read(record.id) as reader:
                        while not reader.ended:
                            await reader.next()
                    await runs.find_running(record.spec.session_id or "")  # until its end is stored
        return (await runs.store.find())[::-1]

    async def states(self, schedule_id: str) -> list[str]:
        """Return what became of each tick, the oldest first, as `09:01 started`."""
        ticks = await self.schedules.store.find_ticks(schedule_id, 1000)
        return [f"{datetime.fromtimestamp(tick.tick_at, UTC):%H:%M} {tick.state}" for tick in reversed(ticks)]


def make_schedule(line: str = "* * * * *", **fields: Any) -> Schedule:
    """Return a schedule that is not stored yet."""
    given = {"id": "", "owner": "local", "agent": "master", "message": "What is new?", **fields}
    return Schedule(cron=parse_cron(line), **given)


@asynccontextmanager
async def start_process(
    folder: Path, url: str, clock: Clock, replies: Sequence[Any] = (), settings: dict[str, Any] | None = None
) -> AsyncGenerator[Process]:
    """Open an app whose schedules follow the clock; a test calls `look` itself."""
    model = ScriptedRequester(replies)
    layer = as_settings({"store": {"url": url}, **(settings or {})})
    async with Dovetail(workspace=folder, runtime=ScriptedRuntime(model, layer)) as app:
        chat = await app.open_chat()
        yield Process(app, Schedules(app, chat, clock), model)
