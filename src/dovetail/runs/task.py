"""One run from its work to its end: whatever happens, it ends exactly once."""

import asyncio
import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dovetail.errors import CancelledRunError, DovetailError, InvalidDataError
from dovetail.events.context import CancelSignal, within
from dovetail.events.run_events import AskKind, Emit, Entry, Event, RunEnd, RunStart
from dovetail.ids import new_id
from dovetail.loop.scope import current_run
from dovetail.policy.pending import normalize_timeout
from dovetail.runs.ask_store import AskRecord
from dovetail.runs.asks import AskDesk, persist
from dovetail.runs.failure import describe_error
from dovetail.runs.journal import Journal
from dovetail.runs.reader import Load
from dovetail.runs.replay import Replay
from dovetail.runs.run import Job, RunContext, RunOutcome, RunRecord, RunSpec
from dovetail.runs.writer import JournalWriter
from dovetail.store.database import Keep


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """What all runs of a process share."""

    writer: JournalWriter
    asks: AskDesk
    load: Load
    process_id: str


@dataclass(slots=True, kw_only=True)
class LiveRun:
    """One running run."""

    run_id: str
    spec: RunSpec
    journal: Journal
    desk: Desk
    created_at: float = field(default_factory=time.time)
    cancel: CancelSignal = field(default_factory=CancelSignal)
    done: "asyncio.Future[RunOutcome]" = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )
    task: "asyncio.Task[None] | None" = None
    failure: InvalidDataError | None = None  # why the run cannot continue, whatever its work does
    since: float = field(default_factory=time.monotonic)

    @property
    def record(self) -> RunRecord:
        """The run as it is stored, or will be in a moment."""
        return RunRecord(
            id=self.run_id,
            spec=self.spec,
            state="running",
            outcome=None,
            last_number=self.journal.last,
            created_at=self.created_at,
            ended_at=None,
            process_id=self.desk.process_id,
            cancel_mode=self.cancel.mode,
        )

    def begin(self) -> None:
        """Write the first event."""
        spec = self.spec
        event = RunStart(spec.agent, spec.model, spec.generation, spec.session_id)
        self.journal.append(event, (self.run_id,))

    def context(self, replay: Replay, path: tuple[str, ...] | None = None) -> RunContext:
        """What the work of this run, or of a child of it, is given."""
        place = path or (self.run_id,)

        async def ask(
            kind: AskKind, call_id: str, payload: Mapping[str, Any], time_limit: float | None = None, /
        ) -> Any:
            asking = _find_asking(place)
            ask = AskRecord(
                id=new_id("ask"),
                run_id=self.run_id,
                owner=self.spec.owner,
                path=asking,
                kind=kind,
                call_id=call_id,
                payload=payload,
                timeout=None if time_limit is None else normalize_timeout(time_limit),
            )
            return await self.desk.asks.ask(ask, self._emitter(asking))

        def answer(call_id: str, value: Mapping[str, Any]) -> bool:
            return self.desk.asks.answer_here(_find_asking(place), call_id, value)

        return RunContext(
            run_id=place[-1],
            spec=self.spec,
            path=place,
            emit=self._emitter(place),
            ask=ask,
            answer=answer,
            cancel=self.cancel,
            settle=self.settle,
            replay=replay,
            history=self.history,
            is_abandoned=lambda: self.journal.frozen,
            child=lambda child_id: self.context(Replay(), (*place, child_id)),
        )

    def _emitter(self, path: tuple[str, ...]) -> Emit:
        journal, mark = self.journal, self.desk.writer.mark

        def emit(event: Event) -> None:
            journal.append(event, path)
            mark(journal)

        return emit

    async def settle(self) -> None:
        """Wait until everything that happened so far is stored."""
        await self.desk.writer.settle(self.journal)

    async def history(self) -> list[Entry]:
        """All events so far; what has left memory is read from the store."""
        entries: list[Entry] = []
        number = 0
        while number < self.journal.dropped:
            blocks = await self.desk.load(self.run_id, number)
            entries += [block.entry(self.run_id, number) for block in blocks]
            number = blocks[-1].last
        return entries + self.journal.after(number)


def _find_asking(place: tuple[str, ...]) -> tuple[str, ...]:
    """The path of the run that asks: a child asks through its root's context."""
    run = current_run()
    asking = run.calls.run_path if run is not None else ()
    return asking if asking[: len(place)] == place else place


logger = logging.getLogger(__name__)


async def conduct(live: LiveRun, job: Job, done: Replay) -> None:
    """Do the work, keep what must be kept, end the run; a run that is left to others ends there."""
    spec = live.spec
    with within(run_id=live.run_id, session_id=spec.session_id, owner=spec.owner, agent=spec.agent):
        await _conduct(live, job, done)


async def _conduct(live: LiveRun, job: Job, done: Replay) -> None:
    context = live.context(done)
    try:
        outcome = await _work(context, job)
        if outcome is None:
            live.done.cancel()
            return
        outcome = _judge(live, outcome)
        live.journal.close_calls()
        await _end(live, outcome, await _keep(context, job, outcome))
    except asyncio.CancelledError:
        live.done.cancel()
        raise
    except Exception:
        # Not even its end could be stored: whoever takes the run up will find it as it was.
        logger.exception("run %s could not be ended", live.run_id)
        live.done.cancel()


async def interrupt(context: RunContext) -> RunOutcome:
    """The work of a run that cannot be continued."""
    told = {"type": "interrupted", "message": "the server was restarted and could not go on with this answer"}
    return RunOutcome(reason="interrupted", error=told)


async def _work(context: RunContext, job: Job) -> RunOutcome | None:
    try:
        return await job.work(context)
    except asyncio.CancelledError:
        if context.is_abandoned():
            raise
        return RunOutcome(reason="cancelled")
    except CancelledRunError:
        return RunOutcome(reason="cancelled")
    except Exception as error:
        if context.is_abandoned():
            return None
        if not isinstance(error, DovetailError):
            logger.exception("run %s failed", context.run_id)
        return RunOutcome(reason="error", error=describe_error(error))


async def _keep(context: RunContext, job: Job, outcome: RunOutcome) -> Keep | None:
    on_end = job.on_end
    return None if on_end is None else await persist(lambda: on_end(context, outcome))


async def _end(live: LiveRun, outcome: RunOutcome, keep: Keep | None) -> None:
    event = RunEnd(outcome.reason, outcome.result, live.journal.usage, outcome.error)
    await persist(lambda: live.desk.writer.end(live.journal, event, keep))
    live.done.set_result(_judge(live, outcome))


def _judge(live: LiveRun, outcome: RunOutcome) -> RunOutcome:
    """The outcome, unless something of the run could not be stored."""
    if live.failure is None:
        return outcome
    return RunOutcome(reason="error", usage=outcome.usage, error=describe_error(live.failure))
