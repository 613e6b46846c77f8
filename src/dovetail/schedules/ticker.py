"""The ticker: each working process looks at the schedules every few seconds and starts what is due.

Promises: a tick starts at most one run, over all processes and engines, because its record, the move to the
next tick and the run are one transaction; a tick that starts none is recorded with the reason. Of ticks that
no process was there for, the newest runs and the others are recorded as skipped (`missed: latest`), or all of
them are skipped (`missed: skip`).
"""

import asyncio
import logging
import random
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace

from dovetail.errors import ConfigError, ConflictError, DovetailError, StoreError
from dovetail.ids import new_id
from dovetail.runs.inbox import InboxMessage, store_message
from dovetail.schedules.schedule import Schedule, Tick, TickState
from dovetail.schedules.store import ScheduleStore, claim
from dovetail.sessions.chat import Chat
from dovetail.sessions.request import ChatRequest, to_chat_messages
from dovetail.store.database import Transaction

logger = logging.getLogger(__name__)

LOOK_SECONDS = 2.0
"""The longest pause between two looks: a schedule that another process has added is noticed by then."""
GRACE_SECONDS = 60.0
"""How late a tick may be before it counts as missed."""
MOST_RECORDED = 100
"""Missed ticks that are recorded one by one; earlier ones are not listed."""
_MISSED = "No process was running at that time."
_STILL_WAITING = "The message of an earlier tick still waits in the session."
_REPLACED = "Missed; a newer tick runs instead."


@dataclass(frozen=True, slots=True, kw_only=True)
class _Due:
    """A tick to be started, the older ones that are skipped with it, and the time of the next."""

    schedule: Schedule
    tick_at: float
    skipped: tuple[Tick, ...]
    next_at: float | None

    def claim(self, transaction: Transaction, tick: Tick) -> None:
        """Take the tick in a transaction."""
        claim(transaction, self.schedule, self.next_at, *self.skipped, tick)


class Ticker:
    """Starts the runs of schedules; `clock` returns seconds since 1970."""

    def __init__(self, chat: Chat, store: ScheduleStore, clock: Callable[[], float] = time.time) -> None:
        self._chat = chat
        self._store = store
        self._clock = clock
        self._last_look: float | None = None

    async def run(self) -> None:
        """Start what is due, until cancelled."""
        while True:
            pause = LOOK_SECONDS
            try:
                pause = await self.look()
            except StoreError as error:
                logger.warning("cannot look at the schedules: %s", error.message)
            except Exception:
                logger.exception("cannot look at the schedules")
            await asyncio.sleep(pause)

    async def look(self) -> float:
        """Start what is due; return the seconds until the next look."""
        now = self._clock()
        if self._last_look is None or now < self._last_look:
            await self._realign(now)
        self._last_look = now
        coming = await self._store.find_next(now + LOOK_SECONDS)
        due = [schedule for schedule in coming if (schedule.next_at or 0.0) <= now]
        if not due:
            return min([LOOK_SECONDS, *((each.next_at or now) - now for each in coming[:1])])
        random.SystemRandom().shuffle(due)  # processes that look at the same moment share the work
        ended = await asyncio.gather(*(self._fire(schedule, now) for schedule in due), return_exceptions=True)
        for error in ended:
            if error is not None:
                raise error
        return 0.0

    async def _realign(self, now: float) -> None:
        """Move ticks that the clock has put too far into the future back; it may have been wrong."""
        for schedule in await self._store.find():
            with suppress(ConfigError):  # its time zone is gone: recorded when it is due
                next_at = schedule.cron.next_after(now)
                if schedule.next_at is not None and next_at is not None and next_at < schedule.next_at:
                    await self._store.record(schedule, next_at)

    async def _fire(self, schedule: Schedule, now: float) -> None:
        """Start or record the ticks of one schedule that are due."""
        first = schedule.next_at or now
        try:
            next_at = schedule.cron.next_after(now)
            times = schedule.cron.list_between(first, now, MOST_RECORDED)
        except ConfigError as error:  # this machine does not know its time zone
            await self._store.record(schedule, None, self._note(schedule, first, "failed", error.message))
            return
        if times:
            known = await self._store.find_recorded(schedule, times)
            times = [each for each in times if each not in known]
        if not times:  # the clock was set back, or the rules of the time zone have changed
            await self._store.record(schedule, next_at)
            return
        *older, newest = times
        runs = schedule.missed == "latest" or now - newest <= GRACE_SECONDS
        skipped = tuple(
            self._note(schedule, each, "skipped", _REPLACED if runs else _MISSED) for each in older
        )
        if runs:
            await self._start(_Due(schedule=schedule, tick_at=newest, skipped=skipped, next_at=next_at))
        else:
            last = self._note(schedule, newest, "skipped", _MISSED)
            await self._store.record(schedule, next_at, *skipped, last)

    async def _start(self, due: _Due) -> None:
        schedule = due.schedule
        request = make_request(schedule, due.tick_at)
        tick = Tick(
            schedule_id=schedule.id,
            tick_at=due.tick_at,
            state="started",
            run_id=new_id("run"),
            session_id=request.session_id,
            created_at=self._clock(),
        )
        try:
            await self._chat.send(
                request, run_id=tick.run_id, also=lambda transaction: due.claim(transaction, tick)
            )
        except StoreError:
            raise
        except ConflictError as error:
            await self._settle(due, error)
        except DovetailError as error:
            await self._fail(due, error.message)
        except Exception:
            logger.exception("schedule %s: its tick failed", schedule.id)
            await self._fail(due, "Internal error. See the server log.")

    async def _settle(self, due: _Due, error: ConflictError) -> None:
        """Leave a tick that another process has taken; queue the message of one whose session is busy."""
        schedule, session_id, inbox = due.schedule, due.schedule.session_id, self._chat.runs.inbox
        if session_id is None:
            return
        if any(each.request.get("schedule_id") == schedule.id for each in await inbox.list(session_id)):
            waiting = self._note(schedule, due.tick_at, "skipped", _STILL_WAITING)
            await self._store.record(schedule, due.next_at, *due.skipped, waiting)
            return
        message = _make_message(schedule, session_id)
        queued = replace(self._note(schedule, due.tick_at, "queued", error.message), session_id=session_id)

        def store(transaction: Transaction) -> str | None:
            due.claim(transaction, queued)
            return store_message(transaction, message)[1]

        try:
            running = await self._chat.runs.database.write(store)
        except ConflictError as refused:
            await self._fail(due, refused.message)  # unless another process has taken it
            return
        if running is not None:
            inbox.tell(running)
        else:
            await self._chat.mail.answer_next(session_id)

    async def _fail(self, due: _Due, reason: str) -> None:
        schedule = due.schedule
        failed = self._note(schedule, due.tick_at, "failed", reason)
        if await self._store.record(schedule, due.next_at, *due.skipped, failed):
            logger.warning("schedule %s: its tick started no run: %s", schedule.id, reason)

    def _note(self, schedule: Schedule, tick_at: float, state: TickState, detail: str) -> Tick:
        return Tick(
            schedule_id=schedule.id, tick_at=tick_at, state=state, detail=detail, created_at=self._clock()
        )


def make_request(schedule: Schedule, tick_at: float) -> ChatRequest:
    """Return what a tick asks, in the session of the schedule or in a new one."""
    return ChatRequest(
        parts=[{"type": "text", "text": schedule.message}],
        session_id=schedule.session_id or new_id("ses"),
        owner=schedule.owner,
        agent=schedule.agent,
        model=schedule.model,
        mode=schedule.mode,
        title=schedule.title,
        origin={"kind": "schedule", "schedule_id": schedule.id, "tick_at": tick_at},
    )


def _make_message(schedule: Schedule, session_id: str) -> InboxMessage:
    """Return what a tick asks, to be answered after the run in progress."""
    parts = [{"type": "text", "text": schedule.message}]
    return InboxMessage(
        session_id=session_id,
        owner=schedule.owner,
        kind="queue",
        parts=parts,
        content=to_chat_messages(parts),
        request={
            "agent": schedule.agent,
            "model": schedule.model,
            "mode": schedule.mode,
            "schedule_id": schedule.id,
        },
    )
