"""Messages to answers in progress: into the next turn of the run, or answered after it by a run of their own.

Promises: a message that was accepted is read by a model exactly once, also when its run ends, is cancelled or
loses its process in between. Messages that wait are answered one after the other, oldest first.
"""

import logging
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from dovetail.data.clean import clean_data
from dovetail.errors import ConflictError, DovetailError, NotFoundError, StoreError
from dovetail.events.cancel import CancelMode
from dovetail.ids import new_id
from dovetail.runs.inbox import InboxMessage, remove_answered
from dovetail.runs.run import RunRecord
from dovetail.runs.service import Runs
from dovetail.sessions.chat_run import ChatHost
from dovetail.sessions.message import Part
from dovetail.sessions.request import ChatRequest, StartedChat, add_skills, to_chat_messages
from dovetail.sessions.store import SessionStore
from dovetail.store.database import SaveWork

logger = logging.getLogger(__name__)
MailMode: TypeAlias = Literal["steer", "queue"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SentMessage:
    """A message that was accepted: `steer` is read by its run, `queue` becomes a question with this id."""

    message_id: str
    mode: MailMode
    run_id: str
    session_id: str


class Start(Protocol):
    """Start the answer to a message that was accepted before; `also` joins the transaction that stores it."""

    async def __call__(self, request: ChatRequest, /, *, also: SaveWork) -> StartedChat: ...


class ChatMail:
    """Send messages to runs, and have those that wait answered."""

    def __init__(
        self,
        host: ChatHost,
        sessions: SessionStore,
        runs: Runs,
        start: Start,
    ) -> None:
        self._host = host
        self._sessions = sessions
        self._runs = runs
        self._start = start
        runs.inbox.answer_next = self.answer_next

    async def send(
        self, run_id: str, parts: Sequence[Part], mode: MailMode, owner: str, message_id: str | None = None
    ) -> SentMessage:
        """Store a message to a run; if no run is in progress in its session, start its answer."""
        record = await self._runs.get(run_id, owner=owner)
        session_id = record.spec.session_id
        if record.path and (mode == "queue" or record.result is not None):
            what = "has ended" if record.result is not None else "is the run of an agent that was called"
            raise ConflictError(
                f"Run {run_id!r} takes no such message: it {what}.",
                hint=f"Send it to run {record.root_id!r}, which it belongs to.",
            )
        if session_id is None:
            raise ConflictError(
                f"Run {run_id!r} takes no messages: it belongs to no session.",
                hint="Start it with POST /api/v1/chat, which stores the conversation.",
            )
        parts = clean_data(list(parts))
        if mode == "steer":  # a message that waits gets its skills when it becomes a question
            parts = await self._add_skills(parts, record)
        sent, running = await self._runs.inbox.send(
            InboxMessage(
                id=message_id or new_id("msg"),
                session_id=session_id,
                owner=owner,
                kind=mode,
                parts=parts,
                content=to_chat_messages(parts),
                run_id=record.root_id,
                request={
                    **({"child": run_id} if record.path else {"agent": record.spec.agent}),
                    **{name: record.spec.input.get(name) for name in ("model", "tab_id", "mode", "limits")},
                },
            ),
            is_named=message_id is not None,
        )
        self._sessions.on_change(owner, session_id, "changed")
        if running is None:
            await self.answer_next(session_id)
        is_steering = sent.kind == "steer"
        return SentMessage(
            message_id=sent.id, mode="steer" if is_steering else "queue", run_id=run_id, session_id=session_id
        )

    async def cancel(self, run_id: str, mode: CancelMode = "now") -> None:
        """Ask a run to stop; what waits for a task in the background is not read then.

        In a person's chat, messages that wait are answered all the same.

        Raises:
            NotFoundError: the run does not exist.
            ConflictError: it has already ended.
        """
        record = await self._runs.get(run_id)
        session_id = record.spec.session_id
        with suppress(NotFoundError):
            if not record.path and session_id is not None and (await self._sessions.get(session_id)).is_task:
                await self._runs.inbox.remove(session_id)
        await self._runs.cancel(run_id, mode)

    async def answer_next(self, session_id: str) -> None:
        """Start the answer to the oldest message that waits in a session, if no run is in progress there."""
        try:
            message = await self._runs.inbox.find_next(session_id)
            if message is not None:
                request, message_id = await self.make_request(message), message.id
                await self._start(
                    request, also=lambda transaction: remove_answered(transaction, session_id, message_id)
                )
        except (ConflictError, NotFoundError):
            pass  # another process was faster, a run is in progress, or the session was deleted
        except StoreError as error:
            logger.warning("session %s: a message waits for its answer: %s", session_id, error.message)
        except DovetailError:
            logger.exception("session %s: the answer to a message could not be started", session_id)

    async def _add_skills(self, parts: Sequence[Part], record: RunRecord) -> list[Part]:
        """Return the parts of a message after the skills that they name, but not those its run has read."""
        added = add_skills(parts, (), self._host.skills, ())
        if len(added) == len(parts):
            return added
        _, tree = await self._sessions.open(record.spec.session_id or "", owner=record.spec.owner)
        asked = record.spec.input.get("parent_id")
        return add_skills(parts, (), self._host.skills, tree.path(asked) if asked in tree else ())

    async def make_request(self, message: InboxMessage) -> ChatRequest:
        """Return the request for an answer to a message that waits."""
        answer_id = None
        if message.run_id is not None:
            with suppress(NotFoundError):  # that run is old and was deleted
                answer_id = (await self._runs.get(message.run_id)).spec.message_id
        request = message.request
        return ChatRequest(
            parts=message.parts,
            session_id=message.session_id,
            owner=message.owner,
            message_id=message.id,
            after=answer_id,
            agent=request.get("agent"),
            model=request.get("model"),
            tab_id=request.get("tab_id"),
            skills=request.get("skills") or (),
            mode=request.get("mode"),
            limits=request.get("limits"),
        )
