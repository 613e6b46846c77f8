"""The context of everything that works for a request, a run or a call: ids, rights and ways to the outside.

There is one `RunContext` for all of them. The server starts it with a request, a run adds itself, a sub-agent
gets one `for_child`, a tool call one `for_call`. Code that is handed no context asks `current_run()` or
`get_request_context()`, in threads too. Tool authors see it through `ToolContext`.
"""

import asyncio
from collections.abc import Collection, Generator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from dovetail.errors import StoreError
from dovetail.events.asks import Asker, OpenAsk
from dovetail.events.background import Background
from dovetail.events.call import ToolSpec
from dovetail.events.cancel import CancelSignal
from dovetail.events.run_events import AskKind, Emit, Entry, Event, UserMessage
from dovetail.settings.sections import Mode


class Bus(Protocol):
    """Carry asks and audit records to listeners, which may answer; `dovetail.policy.bus.MessageBus`."""

    @property
    def path(self) -> tuple[str, ...]: ...

    @property
    def can_be_asked(self) -> bool: ...

    def has_subscribers(self, topic: str) -> bool: ...

    def publish_audit(self, record: Mapping[str, Any]) -> None: ...

    async def ask(
        self,
        kind: AskKind,
        call_id: str,
        payload: Mapping[str, Any],
        timeout: float | None = None,  # noqa: ASYNC109 - the name that the contract of `ask` gives it
    ) -> Mapping[str, Any]: ...

    def carry(self, ask: OpenAsk) -> AbstractContextManager[int]: ...

    def derive(self, name: str) -> "Bus": ...


class RunJournal(Protocol):
    """Where the events of a run are stored."""

    @property
    def is_abandoned(self) -> bool:
        """Whether another process, or a later start of this one, continues the run."""
        ...

    @property
    def is_resumed(self) -> bool:
        """Whether the run had begun before this process took it up."""
        ...

    async def flush(self) -> None:
        """Wait until all events so far are stored."""
        ...

    async def confirm(self) -> None:
        """Make sure that the run still belongs to this process; raise `ConflictError` if it does not."""
        ...

    async def close_children(self, path: tuple[str, ...], keep: Collection[str]) -> None:
        """End children of the run at `path` as interrupted, but not those to `keep`."""
        ...

    async def history(self) -> list[Entry]:
        """Return all events so far."""
        ...

    def attend(self, run_id: str, cancel: CancelSignal) -> "AbstractContextManager[RunInbox | None]":
        """Let a child be stopped, and sent messages, by the id of its run while it is in progress."""
        ...


class RunInbox(Protocol):
    """Messages that reach a run while it is in progress; `dovetail.runs.inbox`."""

    @property
    def has_mail(self) -> bool:
        """Whether there may be messages to take."""
        ...

    async def take(self) -> list[UserMessage]:
        """Return the messages that were not taken yet, oldest first; the caller emits each as an event."""
        ...


class RunBudget(Protocol):
    """The limits of a run; `dovetail.loop.budget.Budget`."""

    def paused(self) -> AbstractContextManager[None]:
        """Stop the clock."""
        ...


class RunTools(Protocol):
    """The tools of a run; `dovetail.tools.snapshot.ToolSnapshot`."""

    @property
    def specs(self) -> Sequence[ToolSpec]: ...


class RunModel(Protocol):
    """The model of a run; `dovetail.requesters.requester.Requester`."""

    @property
    def model(self) -> str:
        """Its name."""
        ...


def ignore_event(event: Event, /) -> None:
    """Do nothing: these events are not watched."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunContext:
    """What code works for: who asks, in which run and call, with which rights, and how to reach the outside.

    Ids that are not known, or not yet, are None or empty. Setting `cancelled` stops all calls that are made
    with this context.

    >>> RunContext(owner="ann", run_path=("run-1",), mode="plan").run_id
    'run-1'
    """

    request_id: str | None = None
    owner: str | None = None
    session_id: str | None = None
    run_path: tuple[str, ...] = ()
    """The ids of the run and of those above it, from the root."""
    agent_path: tuple[str, ...] = ()
    call_id: str | None = None
    tab_id: str | None = None
    skills: tuple[str, ...] = ()
    """The skills whose texts the conversation holds."""
    mode: Mode = "default"
    time_zone: str | None = None
    """The time zone of the person, if it is known."""
    emit: Emit = ignore_event
    ask: Asker | None = None
    bus: Bus | None = None
    journal: RunJournal | None = None
    inbox: RunInbox | None = None
    """The messages to the run; those to a child are apart from those to its caller."""
    budget: RunBudget | None = None
    """Set from the turn loop on: below it code is inside of a run."""
    tools: RunTools | None = None
    model: RunModel | None = None
    """The model of the run that makes the call, for agents that inherit it."""
    cancel: CancelSignal = field(default_factory=CancelSignal, compare=False)
    background: Background | None = None
    """The tasks in the background of the session; None if nothing can be started there."""
    largest_result: int | None = None
    """Characters that a result may have before it is kept as an artifact; None: the pipeline's own limit."""

    @property
    def run_id(self) -> str | None:
        """The id of the run, if any."""
        return self.run_path[-1] if self.run_path else None

    @property
    def agent(self) -> str | None:
        """The name of the agent at work, if any."""
        return self.agent_path[-1] if self.agent_path else None

    @property
    def cancelled(self) -> asyncio.Event:
        """The event that stops all calls."""
        return self.cancel.now

    @property
    def is_abandoned(self) -> bool:
        """Whether the run continues elsewhere, or later: calls that have not begun will begin there."""
        return self.journal is not None and self.journal.is_abandoned

    async def flush(self) -> None:
        """Wait until all events so far are stored; to be awaited before anything that must not run twice."""
        if self.journal is not None:
            await self.journal.flush()

    async def confirm(self) -> None:
        """Raise `ConflictError` if the run was taken over while this process stood still.

        To be awaited before anything with an effect outside; it costs nothing unless the process stood still.
        """
        if self.journal is not None:
            await self.journal.confirm()

    async def settle(self) -> None:
        """Wait until all events so far are stored, unless the database is away for long."""
        with suppress(StoreError):
            await self.flush()

    async def history(self) -> list[Entry]:
        """Return all events of the run so far; none if they are not stored."""
        return [] if self.journal is None else await self.journal.history()

    def paused(self) -> AbstractContextManager[None]:
        """Stop the clock of the run while a person is asked."""
        return nullcontext() if self.budget is None else self.budget.paused()

    def for_request(self, *, request_id: str | None = None, owner: str | None = None) -> "RunContext":
        """Return the context of a request; an id that is None stays as it is."""
        return replace(
            self, request_id=request_id or self.request_id, owner=owner or self.owner, cancel=CancelSignal()
        )

    def for_child(self, run_id: str, agent: str, *, emit: Emit, budget: RunBudget) -> "RunContext":
        """Return the context of a run below this one: the same rights, events and limits of its own."""
        return replace(
            self,
            run_path=(*self.run_path, run_id),
            agent_path=(*self.agent_path, agent),
            call_id=None,
            emit=emit,
            bus=self.bus.derive(agent) if self.bus else None,
            inbox=None,
            budget=budget,
            tools=None,
            model=None,
            cancel=CancelSignal(),
            largest_result=None,
        )

    def for_call(self, call_id: str) -> "RunContext":
        """Return the context of one call."""
        return replace(self, call_id=call_id)

    def inside(self, outer: "RunContext") -> "RunContext":
        """Return what code below sees if this context is used inside of `outer`.

        Ids that are not known here are those of `outer`. Calls that are made for no run of their own, such as
        those of a tool that calls tools, belong to the run of `outer`.
        """
        if outer is self or outer is _NOTHING:
            return self
        is_own_run = self.budget is not None or outer.budget is None
        base = self if is_own_run else outer
        return replace(
            base,
            request_id=self.request_id or outer.request_id,
            owner=self.owner or outer.owner,
            session_id=self.session_id or outer.session_id,
            run_path=base.run_path or outer.run_path,
            agent_path=base.agent_path or outer.agent_path,
            tab_id=self.tab_id or outer.tab_id,
            skills=self.skills or outer.skills,
        )


_NOTHING = RunContext()
_current: ContextVar[RunContext] = ContextVar("dovetail_context", default=_NOTHING)


def current_context() -> RunContext:
    """Return the current context; an empty one outside of any request, run and call."""
    return _current.get()


def get_request_context() -> RunContext | None:
    """Return the current context, or None outside of any request, run and call (rules C107 and C108).

    >>> get_request_context() is None  # inside of a tool it is the context of the call
    True
    """
    context = _current.get()
    return None if context is _NOTHING else context


def current_run() -> RunContext | None:
    """Return the context of the run that this code is inside of, or None outside of one."""
    context = _current.get()
    return None if context.budget is None else context


@contextmanager
def entered(context: RunContext) -> Generator[None]:
    """Make `context` the current one."""
    token = _current.set(context)
    try:
        yield
    finally:
        _current.reset(token)


CallScope = RequestContext = RunContext
"""Former names that programs may import from `dovetail.tools`."""
