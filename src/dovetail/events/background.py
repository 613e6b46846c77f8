"""Tasks in the background of a session: what starts one, what is known of it, and how to reach it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias

from dovetail.events.run_events import EndReason

TaskState: TypeAlias = Literal["queued", "running", "waiting", "ended"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskOrder:
    """A task for an agent, with the rights that it is started with.

    `tools` names those that both the agent and its caller may use, `agent_path` is the path of the caller.
    `limits` are the fields of a `BudgetLimits`: what its caller has left. `model` is that of its caller, if
    the agent inherits it.
    """

    agent: str
    inputs: Mapping[str, Any]
    query: str
    tools: Sequence[str]
    limits: Mapping[str, Any]
    mode: str
    run_path: tuple[str, ...]
    agent_path: tuple[str, ...]
    call_id: str
    model: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A task as it is now; its id is that of the session that it works in, `run_id` its newest run.

    `reason` and `ended_at` are those of an ended run; `call_id` is the call that started the task, if any.
    """

    task_id: str
    run_id: str
    agent: str
    title: str
    state: TaskState
    reason: EndReason | None
    created_at: float
    ended_at: float | None
    call_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskReport:
    """A task with what it said last, and its result if it has ended."""

    task: Task
    text: str
    result: Any = None
    error: Mapping[str, Any] | None = None


class Background(Protocol):
    """The tasks of one session; `dovetail.sessions.background.SessionTasks`.

    An unknown id is a `NotFoundError`: tasks of other sessions cannot be reached.
    """

    async def start(self, order: TaskOrder) -> Task:
        """Start a task."""
        ...

    async def find(self, run_path: Sequence[str], call_id: str) -> Task | None:
        """Return the task that a call of a run has started, if any."""
        ...

    async def count(self, run_id: str) -> int:
        """Return how many tasks a run has started."""
        ...

    async def list(self) -> "Sequence[Task]":
        """Return the tasks of the session, oldest first."""
        ...

    async def read(self, task_id: str) -> TaskReport:
        """Return the task with what it has said."""
        ...

    async def message(self, task_id: str, text: str, limits: Mapping[str, Any]) -> Task:
        """Send a message to a task; one that has ended continues, within `limits`."""
        ...

    async def cancel(self, task_id: str) -> Task:
        """Ask a task to stop."""
        ...
