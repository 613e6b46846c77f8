"""Parking: a run that only waits for answers leaves memory until one comes.

It keeps no task and no events here; its readers follow it in the store. The answer has it attempted again, as
after a crash, except that nothing was lost.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field

from dovetail.events.asks import OpenAsk
from dovetail.events.model_events import ToolInputEnd
from dovetail.events.run_events import (
    AskAnswer,
    AskRequest,
    Entry,
    Event,
    RunEnd,
    RunStart,
    ToolEnd,
    ToolStart,
    TurnEnd,
    TurnReset,
)
from dovetail.runs.reader import RemoteJournals
from dovetail.runs.store import RunStore
from dovetail.runs.task import LiveRun
from dovetail.store.persist import persist

Path = tuple[str, ...]


class Parking:
    """Take runs out of memory that have only waited for `seconds`; `wake` brings one back."""

    def __init__(
        self,
        store: RunStore,
        remote: RemoteJournals,
        wake: Callable[[str], Awaitable[None]],
        seconds: float | None,
    ) -> None:
        self._store = store
        self._remote = remote
        self._wake = wake
        self._seconds = seconds
        self._considering: dict[str, asyncio.Task[None]] = {}

    def __contains__(self, run_id: object) -> bool:
        """Whether a run may be parked just now: its task may have ended before that is stored."""
        return run_id in self._considering

    def note(self, live: LiveRun) -> None:
        """Look after a while whether a run that begins to wait can be parked."""
        if self._seconds is not None and live.run_id not in self._considering:
            self._considering[live.run_id] = asyncio.create_task(self._consider(live, self._seconds))

    async def close(self) -> None:
        """Park no more runs."""
        for task in self._considering.values():
            task.cancel()
        await asyncio.gather(*self._considering.values(), return_exceptions=True)

    async def _consider(self, live: LiveRun, seconds: float) -> None:
        try:
            while live.asking and not live.leaves:
                await asyncio.sleep(seconds)
                if _may_be_parked(live) and only_waits(await live.history()):
                    await self._park(live)
        finally:
            del self._considering[live.run_id]

    async def _park(self, live: LiveRun) -> None:
        last = live.journal.newest
        await live.flush()
        if live.journal.newest != last or not _may_be_parked(live) or live.task is None:
            return  # it has moved
        waits_for, live.leaves = len(live.asking), "waiting"
        live.parked = asyncio.Event()
        live.task.cancel()
        await asyncio.wait({live.task})
        live.journal.park()
        self._remote.keep(live.journal)
        try:
            is_answered = await persist(lambda: self._store.park(live.run_id, waits_for=waits_for))
        except BaseException:  # this process stops: another one has to take the run up
            live.leaves = "left"
            raise
        finally:
            live.parked.set()
        if is_answered:
            await self._wake(live.run_id)


def _may_be_parked(live: LiveRun) -> bool:
    """Whether all its questions can wait in the store: without a time limit or a listener in this process."""
    questions = live.asking.values()
    can_wait = all(_can_wait(ask) for ask in questions)
    return bool(questions) and can_wait and not live.journal.frozen and live.cancel.mode is None


def _can_wait(ask: OpenAsk) -> bool:
    """Whether its answer was looked for: else a run that was woken by it would be parked again without it."""
    return ask.is_open and ask.asked.is_set() and ask.timeout is None and not ask.has_listeners


@dataclass(slots=True)
class _Open:
    """What is open in one run of a tree."""

    calls: set[str] = field(default_factory=set[str])
    started: set[str] = field(default_factory=set[str])
    once: set[str] = field(default_factory=set[str])  # started, and must not be made again
    asked: dict[str, str] = field(default_factory=dict[str, str])
    parent_call_id: str | None = None


def only_waits(entries: Iterable[Entry]) -> bool:
    """Whether a run and all its children do nothing but wait for answers."""
    runs: dict[Path, _Open] = {}
    for entry in entries:
        if isinstance(entry.event, RunEnd):
            runs.pop(entry.path, None)
        else:
            _take(runs.setdefault(entry.path, _Open()), entry.event)
    return bool(runs) and all(_is_idle(path, run, runs) for path, run in runs.items())


def _take(run: _Open, event: Event) -> None:
    if isinstance(event, RunStart):
        run.parent_call_id = event.parent_call_id
    elif isinstance(event, ToolInputEnd):
        run.calls.add(event.call_id)
    elif isinstance(event, ToolStart):
        (run.started if event.may_repeat else run.once).add(event.call_id)
    elif isinstance(event, ToolEnd):
        run.calls.discard(event.call_id)
    elif isinstance(event, AskRequest):
        run.asked[event.ask_id] = event.call_id
    elif isinstance(event, AskAnswer):
        run.asked.pop(event.ask_id, None)
    elif isinstance(event, TurnEnd | TurnReset):
        run.calls.clear()
        run.started.clear()
        run.once.clear()


def _is_idle(path: Path, run: _Open, runs: dict[Path, _Open]) -> bool:
    """Whether every call of a run waits: for an answer, for a child, or behind one that does.

    A call that asks out of the middle of its work cannot be continued later, unless it may be made again.
    """
    asked = set(run.asked.values())
    children = {
        child.parent_call_id
        for below, child in runs.items()
        if len(below) == len(path) + 1 and below[:-1] == path
    }
    waiting = run.calls & (asked | children)
    busy = (run.calls & run.once) | ((run.calls & run.started) - waiting)
    return bool(waiting) and not busy
