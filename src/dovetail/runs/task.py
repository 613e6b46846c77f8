"""The task of a run, from its first event to its end: whatever happens, it ends exactly once."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Collection, Generator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from dovetail.data.text import report_error
from dovetail.errors import CancelledRunError, ConflictError, DovetailError, InvalidDataError
from dovetail.events.asks import OpenAsk, adopt, normalize_timeout
from dovetail.events.cancel import CancelSignal
from dovetail.events.run_context import RunContext, RunInbox, current_context, current_run, entered
from dovetail.events.run_events import AskKind, Emit, Entry, Event, RunEnd, RunStart
from dovetail.events.run_result import RunResult
from dovetail.runs.ask_store import AskRecord
from dovetail.runs.asks import Asks
from dovetail.runs.earlier_asks import EarlierAsks
from dovetail.runs.engine import AttemptEnd
from dovetail.runs.inbox import Inbox
from dovetail.runs.journal import Journal
from dovetail.runs.reader import Load
from dovetail.runs.run import RunRecord, RunSpec, RunWork
from dovetail.runs.writer import JournalWriter
from dovetail.store.persist import persist

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunServices:
    """The services that all runs of a process share."""

    writer: JournalWriter
    asks: Asks
    inbox: Inbox
    load: Load
    process_id: str
    on_ask: "Callable[[LiveRun], None]" = lambda live: None
    """Called when a run begins to wait for an answer."""
    confirm: "Callable[[LiveRun], Awaitable[None]] | None" = None
    """Raises `ConflictError` if another process has taken a run over."""
    get_life: Callable[[], int | None] = lambda: None
    """Returns the number of the life of this process; None while it may count as dead."""


@dataclass(slots=True, kw_only=True)
class LiveRun:
    """A run in progress in this process."""

    run_id: str
    spec: RunSpec
    journal: Journal
    services: RunServices
    created_at: float = field(default_factory=lambda: time.time())
    started_at: float | None = None
    cancel: CancelSignal = field(default_factory=CancelSignal)
    done: "asyncio.Future[RunResult]" = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )
    task: "asyncio.Task[None] | None" = None
    failure: InvalidDataError | None = None  # why the run cannot continue, whatever its work does
    since: float = field(default_factory=time.monotonic)
    asking: dict[str, OpenAsk] = field(default_factory=dict[str, OpenAsk])
    scope: RunContext | None = None
    """The context that its work runs in; what is logged about it belongs there."""
    leaves: Literal["", "left", "waiting"] = ""
    """Set when this process stops working on a run that has not ended: how the attempt ends."""
    parked: asyncio.Event | None = None  # set once it is stored that the run waits
    children: dict[str, CancelSignal] = field(default_factory=dict[str, CancelSignal])
    """The children in progress that can be reached by the ids of their runs."""
    life: int | None = None
    """The life of this process in which the run belonged to it for certain."""
    earlier: EarlierAsks = field(init=False)

    def __post_init__(self) -> None:
        self.life = self.services.get_life()
        self.earlier = EarlierAsks(self._load_earlier)

    @property
    def end(self) -> AttemptEnd:
        """How the attempt of this process ended."""
        return self.leaves or ("left" if self.done.cancelled() else "ended")

    @property
    def record(self) -> RunRecord:
        """The run as it is stored, or will be in a moment."""
        return RunRecord(
            id=self.run_id,
            spec=self.spec,
            state="running",
            result=None,
            last_number=self.journal.last,
            created_at=self.created_at,
            started_at=self.started_at,
            ended_at=None,
            process_id=self.services.process_id,
            cancel_mode=self.cancel.mode,
        )

    @property
    def waited(self) -> float:
        """How many seconds passed until a process began to work on the run."""
        return max((self.started_at or time.time()) - self.created_at, 0.0)

    def begin(self) -> None:
        """Write the first event."""
        spec = self.spec
        self.started_at = time.time()
        event = RunStart(spec.agent, spec.model, spec.generation, spec.session_id)
        self.journal.append(event, (self.run_id,))

    @property
    def context(self) -> RunContext:
        """The context of this run, which its children derive theirs from."""
        path = (self.run_id,)
        return RunContext(
            request_id=current_context().request_id,
            owner=self.spec.owner,
            session_id=self.spec.session_id,
            run_path=path,
            agent_path=(self.spec.agent,),
            emit=self._emitter(path),
            ask=self.ask,
            cancel=self.cancel,
            journal=self,
            inbox=self.services.inbox.open(self.run_id, self.spec.session_id),
        )

    async def ask(
        self, kind: AskKind, call_id: str, payload: Mapping[str, Any], time_limit: float | None, /
    ) -> Mapping[str, Any]:
        """Ask outside, for this run or a child of it, and wait for the answer.

        The call that it is about is stored first: a question without its call would be lost in a crash.
        """
        adopted, asking = adopt(kind, call_id), self._find_asking()
        waiting = adopted or OpenAsk(kind=kind, call_id=call_id, payload=payload)
        ask = AskRecord(
            id=waiting.ask_id,
            run_id=self.run_id,
            owner=self.spec.owner,
            path=asking,
            kind=kind,
            call_id=call_id,
            payload=payload,
            timeout=None if time_limit is None else normalize_timeout(time_limit),
        )
        self.asking[ask.id] = waiting
        self.services.on_ask(self)
        try:
            await persist(self.flush)
            await self.confirm()
            return await self.services.asks.ask(ask, self._emitter(asking), waiting, self.earlier)
        finally:
            del self.asking[ask.id]

    async def _load_earlier(self, ask: AskRecord) -> list[AskRecord]:
        return await self.services.asks.store.find_earlier(ask) if self.journal.is_resumed else []

    def _find_asking(self) -> tuple[str, ...]:
        """Return the path of the run that asks: a child asks through its root."""
        root, run = (self.run_id,), current_run()
        return run.run_path if run is not None and run.run_path[:1] == root else root

    def _emitter(self, path: tuple[str, ...]) -> Emit:
        journal, mark = self.journal, self.services.writer.mark

        def emit(event: Event, /) -> None:
            if not self.leaves:
                journal.append(event, path)
                mark(journal)

        return emit

    @property
    def is_abandoned(self) -> bool:
        """Whether the run was left to another process, or to a later start of this one."""
        return self.journal.frozen or bool(self.leaves)

    async def flush(self) -> None:
        """Wait until everything that happened so far is stored."""
        if self.leaves:
            raise ConflictError(f"Run {self.run_id!r} has been left by this process.")
        await self.services.writer.flush(self.journal)

    async def confirm(self) -> None:
        """Make sure that the run still belongs to this process; raise `ConflictError` if it does not."""
        if self.services.confirm is not None:
            await self.services.confirm(self)

    @property
    def is_resumed(self) -> bool:
        """Whether the run had begun before this process took it up."""
        return self.journal.is_resumed

    async def close_children(self, path: tuple[str, ...], keep: Collection[str]) -> None:
        """End children of the run at `path` that cannot continue, and cancel the asks of ended calls."""
        self.journal.close_children(path, keep)
        self.services.writer.mark(self.journal)
        await persist(lambda: self.services.asks.store.close_ended(self.run_id, self.journal.is_over))

    @contextmanager
    def attend(self, run_id: str, cancel: CancelSignal) -> Generator[RunInbox | None]:
        """Let a child be stopped, and sent messages, by the id of its run while it is in progress."""
        self.children[run_id] = cancel
        box = self.services.inbox.open(self.run_id, self.spec.session_id)
        try:
            with nullcontext() if box is None else box.opening(run_id, has_mail=self.is_resumed) as inbox:
                yield inbox
        finally:
            del self.children[run_id]

    async def history(self) -> list[Entry]:
        """Return all events so far; those no longer in memory are read from the store."""
        entries: list[Entry] = []
        number = 0
        while number < self.journal.dropped:
            blocks = await self.services.load(self.run_id, number)
            entries += [block.entry(self.run_id, number) for block in blocks]
            number = blocks[-1].last
        return entries + self.journal.after(number)


async def perform(live: LiveRun, work: RunWork) -> None:
    """Do the work of a run and end it; a run that was left to another process does not end here."""
    context = live.scope = live.context
    try:
        with entered(context):
            await _perform(live, work, context)
    except asyncio.CancelledError:
        live.done.cancel()
        raise
    except Exception:
        # Not even its end could be stored: the next process to take the run up finds it as it was.
        logger.exception("run %s could not be ended", live.run_id)
        live.done.cancel()
    finally:
        live.services.inbox.close(live.run_id, has_ended=not live.done.cancelled())


async def _perform(live: LiveRun, work: RunWork, context: RunContext) -> None:
    result = await _work(context, work)
    if result is None:
        live.done.cancel()
        return
    result = replace(_check(live, result), duration=max(time.time() - live.created_at, 0.0))
    live.journal.close_calls()
    save = await persist(lambda: work.end(context, result))
    usage = live.journal.tally.total
    event = RunEnd(result.reason, result.value, usage, result.error, result.limit, result.notice)
    follower = await persist(lambda: live.services.inbox.find_follower(live.run_id))
    await persist(lambda: live.services.writer.end(live.journal, event, save, follower))
    live.done.set_result(_check(live, result))


async def _work(context: RunContext, work: RunWork) -> RunResult | None:
    """Return how the work ended; None if the run was left to another process."""
    try:
        return await work.work(context)
    except asyncio.CancelledError:
        if context.is_abandoned:
            raise
        return RunResult(reason="cancelled")
    except CancelledRunError:
        return RunResult(reason="cancelled")
    except Exception as error:
        if context.is_abandoned:
            return None
        if not isinstance(error, DovetailError):
            logger.exception("run %s failed", context.run_id)
        return RunResult(reason="error", error=report_error(error))


def _check(live: LiveRun, result: RunResult) -> RunResult:
    """Return the result, or the error if something of the run could not be stored."""
    if live.failure is None:
        return result
    return RunResult(reason="error", usage=result.usage, error=report_error(live.failure))
