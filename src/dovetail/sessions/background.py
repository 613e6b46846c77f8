"""Tasks in the background of a session: each is a session below it, in which an agent answers.

Promises: a task is a stored run like any other and survives restarts; a call is stored before its task and
starts at most one; its end puts a notice into the inbox of the session above it, in the transaction that ends
its run. Cancelling the run that has started a task does not cancel the task; deleting the session does.
"""

import hashlib
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Protocol

from dovetail.errors import ConflictError, NotFoundError
from dovetail.events.background import Task, TaskOrder, TaskReport
from dovetail.events.run_events import Entry
from dovetail.ids import new_id
from dovetail.runs.run import RunHandle, RunRecord
from dovetail.sessions.message import BACKGROUND, Message, Part, Session, make_session
from dovetail.sessions.options import merge_options
from dovetail.sessions.parts import fold_parts
from dovetail.sessions.request import ChatRequest, ChatTurn, StartedChat, to_chat_messages
from dovetail.sessions.store import SessionStore
from dovetail.store.persist import persist


class TaskRuns(Protocol):
    """The runs, as far as tasks need them."""

    async def get(self, run_id: str, *, owner: str | None = None) -> RunRecord: ...

    async def history(self, run_id: str, until: int | None = None) -> list[Entry]: ...


class TaskMail(Protocol):
    """The messages to runs, as far as tasks need them."""

    async def cancel(self, run_id: str) -> None: ...


class TaskHost(Protocol):
    """The chat, as far as tasks need it."""

    sessions: SessionStore

    @property
    def runs(self) -> TaskRuns: ...

    @property
    def mail(self) -> TaskMail: ...

    async def begin(self, turn: ChatTurn, new: Message | None) -> RunHandle:
        """Store a message and start its answer."""
        ...

    async def send(self, request: ChatRequest) -> StartedChat:
        """Store a message and start its answer."""
        ...

    async def send_to_run(self, run_id: str, parts: Sequence[Part], *, owner: str) -> Any:
        """Send a message to an answer in progress; if it has ended, as a new question."""
        ...


@dataclass(frozen=True, slots=True)
class SessionTasks:
    """The tasks of one session; the `Background` of its runs."""

    chat: TaskHost
    session_id: str
    owner: str

    async def start(self, order: TaskOrder) -> Task:
        """Start a task; raise `NotFoundError` if the session has been deleted."""
        session = self._make_session(order)
        parts = [{"type": "text", "text": order.query}]
        message = Message(
            id=new_id("msg"), parts=parts, content=to_chat_messages(parts), created_at=time.time()
        )
        turn = ChatTurn(
            session=session,
            history=[message],
            agent=order.agent,
            model=None,
            tab_id=None,
            owner=self.owner,
            mode=order.mode,
            limits=order.limits,
        )
        await self.chat.begin(turn, message)
        return await persist(lambda: self._get(session.id))  # it works by now, whether or not it can be read

    async def find(self, run_path: Sequence[str], call_id: str) -> Task | None:
        """Return the task that a call of a run has started, if any."""
        return await self.chat.sessions.find_task(_name_task(run_path, call_id), owner=self.owner)

    async def count(self, run_id: str) -> int:
        """Return how many tasks a run has started; wait while the database is away."""
        return await persist(lambda: self.chat.sessions.count_tasks(self.session_id, run_id))

    async def list(self) -> "list[Task]":
        """Return the tasks of the session, oldest first."""
        return await self.chat.sessions.list_tasks(self.session_id, owner=self.owner)

    async def read(self, task_id: str) -> TaskReport:
        """Return the task with its last text, and its result if it has ended."""
        task = await self._get(task_id)
        record = await self.chat.runs.get(task.run_id, owner=self.owner)
        texts = [
            str(part["text"])
            for part in fold_parts(await self.chat.runs.history(task.run_id))
            if part.get("type") == "text"
        ]
        result = record.result
        return TaskReport(
            task=task,
            text=texts[-1] if texts else "",
            result=result.value if result else None,
            error=result.error if result else None,
        )

    async def message(self, task_id: str, text: str, limits: Mapping[str, Any]) -> Task:
        """Send a message to a task; one that has ended continues, within `limits`."""
        task = await self._get(task_id)
        parts = [{"type": "text", "text": text}]
        if task.state == "ended":
            request = ChatRequest(parts=parts, session_id=task_id, owner=self.owner, limits=limits)
            with suppress(ConflictError):  # another message was faster: this one follows it
                await self.chat.send(request)
                return await self._get(task_id)
        await self.chat.send_to_run(task.run_id, parts, owner=self.owner)
        return await self._get(task_id)

    async def cancel(self, task_id: str) -> Task:
        """Ask a task to stop, with all that waits for it; raise `ConflictError` if it has ended."""
        task = await self._get(task_id)
        await self.chat.mail.cancel(task.run_id)
        return task

    async def _get(self, task_id: str) -> Task:
        task = await self.chat.sessions.find_task(task_id, owner=self.owner, parent_id=self.session_id)
        if task is None:
            raise NotFoundError(f"Task {task_id!r} not found in this session.")
        return task

    def _make_session(self, order: TaskOrder) -> Session:
        origin = {
            "kind": BACKGROUND,
            "agent": order.agent,
            "run_id": order.run_path[0],
            "call_id": order.call_id,
            "grant": {
                "inputs": dict(order.inputs),
                "tools": list(order.tools),
                "mode": order.mode,
                "agent_path": list(order.agent_path),
                **({} if order.model is None else {"model": order.model}),
            },
        }
        session = make_session(self.owner, _name_task(order.run_path, order.call_id), version=0)
        return replace(session, agent=order.agent, parent_id=self.session_id, origin=origin)


def open_below(parent: Session | None, request: ChatRequest) -> Session:
    """Return the new session of a message that is answered in the background of `parent`, if any."""
    agent = request.agent or "master"
    origin = {"kind": BACKGROUND, "agent": agent, "run_id": None, "call_id": None}
    return replace(
        make_session(request.owner, version=0),
        agent=agent,
        parent_id=parent.id if parent else None,
        origin=origin,
        options=merge_options(None, request.options),
    )


def _name_task(run_path: Sequence[str], call_id: str) -> str:
    """Return the id of the one task of a call; ids of calls are unique within a run."""
    digest = hashlib.sha256("/".join((*run_path, call_id)).encode()).hexdigest()
    return f"ses_{digest[:24]}"
