"""The schedules of an app: add, change and remove them, run one now, and follow the agent files."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from dovetail.agents.definition import AgentDefinition
from dovetail.errors import ConflictError, NotFoundError
from dovetail.ids import new_id
from dovetail.policy.mode import choose_mode
from dovetail.schedules.schedule import Schedule, Tick
from dovetail.schedules.store import ScheduleStore, record_ticks
from dovetail.schedules.ticker import Ticker, make_request
from dovetail.sessions.chat import Chat
from dovetail.sessions.chat_run import ChatHost
from dovetail.sessions.request import StartedChat

MOST_SHOWN = 100
"""Ticks of a schedule that are listed."""
TICKING = "schedules"
"""The name of the task that starts what is due."""
_TIMING = ("cron", "enabled")


class Schedules:
    """All schedules in the database of an app; `clock` returns seconds since 1970."""

    def __init__(self, host: ChatHost, chat: Chat, clock: Callable[[], float] = time.time) -> None:
        self.store = ScheduleStore(chat.runs.database)
        self.ticker = Ticker(chat, self.store, clock)
        self._host = host
        self._chat = chat
        self._clock = clock

    @asynccontextmanager
    async def ticking(self) -> AsyncGenerator[None]:
        """Start runs when they are due, inside the block."""
        task = asyncio.create_task(self.ticker.run(), name=TICKING)
        try:
            yield
        finally:
            task.cancel()
            await asyncio.wait([task])

    async def add(self, schedule: Schedule) -> Schedule:
        """Store a new schedule; its id and times are set here.

        Raises:
            ConfigError: the agent or the mode is unknown.
            NotFoundError: the session belongs to another owner.
        """
        await self._check(schedule)
        now = self._clock()
        new = replace(schedule, id=new_id("sch"), created_at=now, source="api")
        return await self.store.add(self._plan(new, now))

    async def change(self, schedule_id: str, changes: Mapping[str, Any], *, owner: str | None) -> Schedule:
        """Change fields of a schedule; one of a file can only be paused and resumed.

        Its next tick is computed again if its times have changed or it is resumed.
        """
        before = await self.store.get(schedule_id, owner=owner)
        if before.source == "file" and set(changes) - {"enabled"}:
            raise ConflictError(
                f"Schedule {schedule_id!r} comes from the file of agent {before.agent!r}.",
                hint="Change it there; here it can only be paused and resumed.",
            )
        await self._check(replace(before, **changes))

        def edit(stored: Schedule) -> Schedule:
            changed = replace(stored, **changes)
            return changed if changes.keys().isdisjoint(_TIMING) else self._plan(changed, self._clock())

        await self.store.change(schedule_id, edit, owner=owner)
        return await self.store.get(schedule_id, owner=owner)

    async def remove(self, schedule_id: str, *, owner: str | None) -> None:
        """Delete a schedule and the record of its ticks; its sessions stay."""
        schedule = await self.store.get(schedule_id, owner=owner)
        if schedule.source == "file":
            raise ConflictError(
                f"Schedule {schedule_id!r} comes from the file of agent {schedule.agent!r}.",
                hint="Remove it there, or pause it.",
            )
        await self.store.remove(schedule_id)

    async def run_now(self, schedule_id: str, *, owner: str | None) -> tuple[Tick, StartedChat]:
        """Start a run of a schedule now, also of a paused one; its next tick stays as it is.

        Raises:
            ConflictError: its session is busy.
        """
        schedule = await self.store.get(schedule_id, owner=owner)
        now = self._clock()
        request = make_request(schedule, now)
        tick = Tick(
            schedule_id=schedule.id,
            tick_at=now,
            state="manual",
            run_id=new_id("run"),
            session_id=request.session_id,
            created_at=now,
        )
        started = await self._chat.send(
            request, run_id=tick.run_id, also=lambda transaction: record_ticks(transaction, tick)
        )
        return tick, started

    async def synchronize(self, definitions: Iterable[AgentDefinition], *, owner: str) -> None:
        """Store the schedules of agent files as they are now; `owner` has those that name none."""
        now = self._clock()
        wanted = [each for definition in definitions for each in _read_definition(definition, owner)]
        planned = [self._plan(replace(each, created_at=now), now) for each in wanted]
        try:
            await self.store.synchronize(planned)
        except ConflictError:  # another process has stored the same ones in this moment
            await self.store.synchronize(planned)

    async def _check(self, schedule: Schedule) -> None:
        self._host.get_agent_registry().get_definition(schedule.agent)
        choose_mode(self._host.settings, schedule.mode)
        session_id = schedule.session_id
        if session_id is not None and await self.store.is_taken(session_id, schedule.owner):
            raise NotFoundError(f"Session {session_id!r} not found.")

    def _plan(self, schedule: Schedule, now: float) -> Schedule:
        """Return the schedule with its next tick."""
        return replace(schedule, next_at=schedule.cron.next_after(now) if schedule.enabled else None)


def _read_definition(definition: AgentDefinition, owner: str) -> list[Schedule]:
    """Return the schedules of an agent, with ids that stay the same as long as their order does."""
    return [
        Schedule(
            id=f"{definition.name}.{number}",
            owner=each.owner or owner,
            agent=definition.name,
            cron=each.cron,
            message=each.message,
            title=each.title,
            model=each.model,
            mode=each.mode,
            session_id=each.session_id,
            missed=each.missed,
            source="file",
        )
        for number, each in enumerate(definition.schedules, 1)
    ]
