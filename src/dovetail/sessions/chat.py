"""Chats: messages in, answers out; each answer is a run, each run's answer a message.

Promises: the user's message is stored before its answer begins; whatever a run said or did is stored as one
message together with its end, also when it failed or was stopped; an answer that a crash broke off goes on.
"""

import time
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from dovetail.errors import ConflictError, DovetailError, NotFoundError
from dovetail.events.delta import Usage
from dovetail.events.run_events import TurnEnd
from dovetail.ids import new_id
from dovetail.runs.engine import InProcessEngine
from dovetail.runs.replay import replay
from dovetail.runs.run import Job, RunContext, RunHandle, RunOutcome, RunRecord, RunSpec
from dovetail.sessions.chat_run import ChatHost, Plan, fail_with, plan_answer
from dovetail.sessions.message import Message, MessageTree, Part, Session, make_session, make_title
from dovetail.sessions.parts import fold_parts
from dovetail.sessions.request import AT_HEAD, ChatRequest, ChatTurn, StartedChat, to_chat_messages
from dovetail.sessions.rows import store_answer, store_question
from dovetail.sessions.store import SessionStore
from dovetail.skills.injection import PART, find_seen_skills, make_skill_parts
from dovetail.skills.library import SkillLibrary
from dovetail.store.artifacts import ArtifactTable
from dovetail.store.database import Database, Keep, Transaction


def add_skills(
    parts: Sequence[Part], names: Iterable[str], library: SkillLibrary, earlier: Sequence[Message]
) -> list[Part]:
    """A user's parts with the skills they name in front, less those that earlier messages brought in."""
    own = [part for part in parts if part.get("type") != PART]  # only what the library says now counts
    text = "\n".join(str(part.get("text", "")) for part in own if part.get("type") == "text")
    seen = find_seen_skills(part for message in earlier for part in message.parts)
    return [*make_skill_parts(text, library, names=names, seen=seen), *own]


class Chat:
    """Sends messages to sessions and keeps the answers."""

    def __init__(self, host: ChatHost, sessions: SessionStore, runs: InProcessEngine) -> None:
        self.sessions = sessions
        self.runs = runs
        self._host = host

    async def send(self, request: ChatRequest) -> StartedChat:
        """Store the message and start its answer."""
        session, tree = await self._open(request)
        if request.trigger == "regenerate":
            history = await self._find_question(session, tree, request)
            new = None
        else:
            new = _make_message(tree, request, self._host.skills)
            history = [*(tree.path(new.parent_id) if new.parent_id else []), new]
        turn = ChatTurn(
            session=session,
            history=history,
            agent=request.agent,
            model=request.model,
            tab_id=request.tab_id,
            owner=request.owner,
            mode=request.mode,
        )
        plan = plan_answer(self._host, turn)
        try:
            return await self._start(turn, plan, _keep_question(session, new) if new else None)
        except NotFoundError:
            if session.version:
                raise
            await self.sessions.get(session.id, owner=request.owner)  # or it is another owner's
            return await self.send(request)  # another first message was faster: this one comes after it

    async def answer(self, turn: ChatTurn) -> RunHandle:
        """Answer messages of a conversation that is kept elsewhere: nothing but the run is stored."""
        plan = plan_answer(self._host, turn)
        spec = RunSpec(agent=turn.agent, model=plan.model, generation=plan.generation, owner=turn.owner)
        return await self.runs.start(spec, Job(plan.work))

    async def delete(self, session_id: str, *, owner: str) -> None:
        """Delete a session; an answer that is being written is stopped."""
        await self.sessions.get(session_id, owner=owner)
        running = await self.runs.find_running(session_id)
        if running is not None:
            await self.runs.cancel(running.id)
        await self.sessions.delete(session_id, owner=owner)

    async def recover(self) -> list[RunHandle]:
        """Continue the answers that a dead process has left behind."""
        return await self.runs.recover(self.rebuild)

    async def _open(self, request: ChatRequest) -> tuple[Session, MessageTree]:
        """The session and its messages; one that does not exist yet is stored with its first message."""
        if request.session_id is not None:
            with suppress(NotFoundError):
                return await self.sessions.open(request.session_id, owner=request.owner)
        return make_session(request.owner, request.session_id, version=0), MessageTree()

    async def _find_question(
        self, session: Session, tree: MessageTree, request: ChatRequest
    ) -> Sequence[Message]:
        """The question to answer again; an answer that is still being written has no message yet."""
        try:
            return _trace_question(tree, request)
        except NotFoundError:
            running = await self.runs.find_running(session.id)
            wanted = (request.message_id, request.owner)
            if running is None or (running.spec.message_id, running.spec.owner) != wanted:
                raise
            raise ConflictError(
                f"message {request.message_id!r} is still being written by run {running.id!r}",
                hint="Wait for its end or cancel it.",
            ) from None

    async def _start(self, turn: ChatTurn, plan: Plan, opening: Keep | None) -> StartedChat:
        message_id, parent_id = new_id("msg"), turn.history[-1].id
        spec = RunSpec(
            agent=turn.agent,
            model=plan.model,
            generation=plan.generation,
            owner=turn.owner,
            session_id=turn.session.id,
            message_id=message_id,
            input={"parent_id": parent_id, "model": turn.model, "tab_id": turn.tab_id, "mode": turn.mode},
        )
        handle = await self.runs.start(spec, Job(plan.work, self._keep), opening=opening)
        return StartedChat(
            handle=handle,
            session_id=turn.session.id,
            run_id=handle.run_id,
            message_id=message_id,
        )

    async def rebuild(self, record: RunRecord) -> Job | None:
        """The job of a stored run, made again; None when its session is gone."""
        spec = record.spec
        try:
            session = await self.sessions.get(spec.session_id or "", owner=spec.owner)
            history = (await self.sessions.tree(session)).path(spec.input["parent_id"])
        except NotFoundError:
            return None
        turn = ChatTurn(
            session=session,
            history=history,
            agent=spec.agent,
            model=spec.input["model"],
            tab_id=spec.input["tab_id"],
            owner=spec.owner,
            mode=spec.input.get("mode"),
        )
        try:
            work = plan_answer(self._host, turn).work
        except DovetailError as error:  # its agent is gone: what was said so far is kept all the same
            work = fail_with(error)
        return Job(work, self._keep)

    async def _keep(self, context: RunContext, outcome: RunOutcome) -> Keep:
        """What the run has said and done is stored as the answer's message."""
        spec = context.spec
        entries = await context.history()
        usage = sum((entry.event.usage for entry in entries if isinstance(entry.event, TurnEnd)), Usage())
        metadata: dict[str, Any] = {
            "run_id": context.run_id,
            "agent": spec.agent,
            "model": spec.model,
            "reason": outcome.reason,
            "usage": asdict(usage),
            "duration": max(time.time() - entries[0].time, 0.0),
        }
        if outcome.error is not None:
            metadata["error"] = dict(outcome.error)
        message = Message(
            id=spec.message_id or new_id("msg"),
            parent_id=spec.input["parent_id"],
            role="assistant",
            parts=fold_parts(entries),
            content=replay(entries, context.path, keep_partial=True).messages,
            metadata=metadata,
            created_at=entries[0].time,
        )

        def keep(connection: Transaction) -> None:
            store_answer(connection, spec.session_id or "", spec.owner, message, usage)

        return keep


def _keep_question(session: Session, message: Message) -> Keep:
    title = session.title or make_title(message.text)
    return lambda connection: store_question(connection, session, message, title)


def _make_message(tree: MessageTree, request: ChatRequest, skills: SkillLibrary) -> Message:
    """The user's new message; one with the id of a stored message is an edited copy, beside it."""
    parent_id = tree.head if request.parent_id is AT_HEAD else request.parent_id
    message_id = request.message_id or new_id("msg")
    if message_id in tree:
        parent_id = tree.get(message_id).parent_id if request.parent_id is AT_HEAD else parent_id
        message_id = new_id("msg")
    earlier = tree.path(parent_id) if isinstance(parent_id, str) else []
    parts = add_skills(request.parts, request.skills, skills, earlier)
    return Message(
        id=message_id,
        parent_id=parent_id if isinstance(parent_id, str) else None,
        role="user",
        parts=parts,
        content=to_chat_messages(parts),
        created_at=time.time(),
    )


def _trace_question(tree: MessageTree, request: ChatRequest) -> Sequence[Message]:
    """The way to the user's message to be answered again; its answer names it, or `parent_id` does."""
    named, parent_id = request.message_id, request.parent_id
    if named is not None and named not in tree and isinstance(parent_id, str) and parent_id in tree:
        named = parent_id
    path = tree.path(named)
    while path and path[-1].role != "user":
        path.pop()
    if not path:
        raise NotFoundError("there is no message to answer again")
    return path


@asynccontextmanager
async def open_chat(host: ChatHost, url: str | Path) -> AsyncGenerator[Chat]:
    """Chats of `host`, kept in the database at `url`."""
    async with Database(url) as database, InProcessEngine(database) as runs:
        host.runtime.artifacts.shelf = ArtifactTable(database)
        try:
            yield Chat(host, SessionStore(database), runs)
        finally:
            host.runtime.artifacts.shelf = None
