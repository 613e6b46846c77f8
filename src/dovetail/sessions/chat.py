"""Chats: messages in, answers out; each answer is a run, each run's answer a message.

`ChatRun` makes the answers. An answer that a crash broke off is resumed.
"""

import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from dovetail.agents.prepare import choose_model
from dovetail.errors import ConfigError, ConflictError, HeadMovedError, NotFoundError
from dovetail.ids import new_id
from dovetail.runs.feed import SessionChange
from dovetail.runs.inbox import InboxMessage
from dovetail.runs.run import NextRun, RunHandle, RunRecord
from dovetail.runs.service import Runs
from dovetail.runs.workers import ProcessRole, ProcessTable
from dovetail.sessions.background import SessionTasks, open_below
from dovetail.sessions.chat_run import ChatAgent, ChatHost, ChatRun
from dovetail.sessions.mail import ChatMail, MailMode, SentMessage
from dovetail.sessions.message import Message, MessageTree, Part, Session, make_session, make_title
from dovetail.sessions.options import merge_options
from dovetail.sessions.request import (
    AT_HEAD,
    ChatRequest,
    ChatTurn,
    StartedChat,
    add_skills,
    to_chat_messages,
)
from dovetail.sessions.rows import fetch_session, fetch_tree, store_question
from dovetail.sessions.store import SessionStore
from dovetail.settings import LOCAL_OWNER
from dovetail.settings.sections import RunSettings
from dovetail.skills.library import SkillLibrary
from dovetail.store.artifacts import ArtifactTable
from dovetail.store.database import Database, SaveWork, Transaction
from dovetail.store.spending import SpendingTable


class Chat:
    """Send messages to sessions and store the answers."""

    def __init__(self, host: ChatHost, sessions: SessionStore, runs: Runs) -> None:
        self.sessions = sessions
        self.runs = runs
        self.processes = ProcessTable(runs.database, runs.link, runs.settings)
        runs.rebuild = self.rebuild
        sessions.on_change = runs.feed.report_session
        self._host = host
        self.mail = ChatMail(host, sessions, runs, partial(self.send, accepted=True))
        runs.inbox.prepare_next = self._prepare_next

    async def send(
        self,
        request: ChatRequest,
        *,
        run_id: str | None = None,
        also: SaveWork | None = None,
        accepted: bool = False,
    ) -> StartedChat:
        """Store the message and start its answer, as the run `run_id`; `also` joins the transaction.

        A message that was `accepted` before is not refused: an unknown agent or model fails its run.
        """
        session, tree = await self._open(request)
        if request.trigger == "regenerate":
            history = await self._find_question(session, tree, request)
            new = None
        else:
            new = _make_message(tree, request, self._host.skills)
            history = [*(tree.path(new.parent_id) if new.parent_id else []), new]
        turn = _make_turn(session, history, request)
        run = await self._prepare(turn, new, accepted=accepted)
        run = replace(run, also=also, at_head=_is_at_head(request, new, tree), is_next=accepted)
        try:
            handle = await self._start(run, run_id)
        except HeadMovedError:
            return await self.send(request, run_id=run_id, also=also, accepted=accepted)
        except NotFoundError:
            if session.version:
                raise
            await self.sessions.get(session.id, owner=request.owner)  # or it is another owner's
            # Another first message was faster: this one comes after it.
            return await self.send(request, run_id=run_id, also=also, accepted=accepted)
        return StartedChat(
            handle=handle,
            session_id=session.id,
            run_id=handle.run_id,
            message_id=run.spec.message_id or "",
        )

    async def send_to_run(
        self,
        run_id: str,
        parts: Sequence[Part],
        *,
        mode: MailMode = "steer",
        owner: str = LOCAL_OWNER,
        message_id: str | None = None,
    ) -> SentMessage:
        """Send a message to an answer in progress: into its next turn (`steer`), or after it (`queue`).

        If the run has ended, the message becomes a new question of its session. With a `message_id` it is
        stored once, however often it is sent.

        Raises:
            NotFoundError: the owner has no such run.
            ConflictError: it belongs to no session, or too many messages wait there.
        """
        return await self.mail.send(run_id, parts, mode, owner, message_id)

    async def begin(self, turn: ChatTurn, new: Message | None) -> RunHandle:
        """Start the answer of a prepared turn in one of our sessions."""
        return await self._start(await self._prepare(turn, new))

    async def _start(self, run: ChatRun, run_id: str | None = None) -> RunHandle:
        handle = await self.runs.start(run.spec, run, run_id=run_id)
        session = run.turn.session
        change: SessionChange = "changed" if session.version else "created"
        self.runs.feed.report_session(session.owner, session.id, change, session.parent_id)
        return handle

    async def _prepare(self, turn: ChatTurn, new: Message | None, *, accepted: bool = False) -> ChatRun:
        await self._learn_model(turn)
        tasks = self.open_tasks(turn.session)
        if accepted and new is not None:
            return ChatRun.prepare_accepted(self._host, turn, new, tasks=tasks)
        run = ChatRun.prepare(self._host, turn, new, tasks=tasks)
        await self._check_days(run)
        return run

    async def _prepare_next(self, message: InboxMessage) -> NextRun | None:
        """Prepare the run that answers a message which waits, to begin when the one in progress ends.

        Its question gets its place, after the answer that is being stored, in the transaction.
        """
        request = await self.mail.make_request(message)
        try:
            session = await self.sessions.get(message.session_id, owner=message.owner)
        except NotFoundError:
            return None
        draft = _make_message(MessageTree(), request, self._host.skills)
        run = await self._prepare(_make_turn(session, [draft], request), draft, accepted=True)

        def place(transaction: Transaction) -> None:
            current = fetch_session(transaction, message.session_id, message.owner)
            tree = fetch_tree(transaction, current)
            if message.id in tree:
                raise ConflictError(f"Message {message.id!r} already exists.")
            question = _make_message(tree, request, self._host.skills)
            store_question(transaction, current, question, make_title(question.text))

        return NextRun(run_id=new_id("run"), spec=run.spec, message_id=message.id, place=place)

    def open_tasks(self, session: Session) -> SessionTasks:
        """Return the tasks in the background of a session."""
        return SessionTasks(self, session.id, session.owner)

    async def answer(self, turn: ChatTurn) -> RunHandle:
        """Answer a conversation that is stored elsewhere; only the run is stored here."""
        await self._learn_model(turn)
        run = ChatRun.prepare(self._host, turn)
        await self._check_days(run)
        return await self.runs.start(run.spec, run, here=True)

    async def _learn_model(self, turn: ChatTurn) -> None:
        """Find out what a model's name means; preparing the answer then waits for no server."""
        with suppress(ConfigError):  # preparing raises it
            definition = self._host.get_agent_registry().get_definition(turn.agent)
            await self._host.runtime.learn_names(turn.chosen_model or choose_model(definition, None))

    async def _check_days(self, run: ChatRun) -> None:
        """Raise `LimitError` if a day has nothing left; before each request the run looks again."""
        if isinstance(run.agent, ChatAgent):
            await run.agent.days.book.check(run.agent.days.accounts)

    async def delete(self, session_id: str, *, owner: str) -> None:
        """Delete a session and all below it; their answers in progress are cancelled."""
        await self.sessions.get(session_id, owner=owner)
        for each in [session_id, *await self.sessions.list_below(session_id)]:
            running = await self.runs.find_running(each)
            if running is not None:
                await self.runs.inbox.remove(each)  # its end would answer what waits
                with suppress(ConflictError):  # it has just ended
                    await self.runs.cancel(running.id)
        await self.sessions.delete(session_id, owner=owner)

    async def recover(self) -> None:
        """Resume the answers that dead processes have left behind, now and from now on."""
        await self.runs.recover()

    async def _open(self, request: ChatRequest) -> tuple[Session, MessageTree]:
        """Return the session and its messages; a new one is stored with its first message."""
        if request.background:
            return await self._open_below(request), MessageTree()
        if request.session_id is not None:
            with suppress(NotFoundError):
                return await self.sessions.open(request.session_id, owner=request.owner)
        session = make_session(request.owner, request.session_id, title=request.title, version=0)
        options = merge_options(None, request.options)
        session = replace(session, agent=request.agent, origin=request.origin, options=options)
        return session, MessageTree()

    async def _open_below(self, request: ChatRequest) -> Session:
        if request.trigger != "submit":
            raise ConfigError("Only a new message can be answered in the background.")
        above = request.session_id
        parent = None if above is None else await self.sessions.get(above, owner=request.owner)
        return open_below(parent, request)

    async def _find_question(
        self, session: Session, tree: MessageTree, request: ChatRequest
    ) -> Sequence[Message]:
        """Return the question to answer again; an answer in progress has no message yet."""
        try:
            return _trace_question(tree, request)
        except NotFoundError:
            running = await self.runs.find_running(session.id)
            wanted = (request.message_id, request.owner)
            if running is None or (running.spec.message_id, running.spec.owner) != wanted:
                raise
            raise ConflictError(
                f"Message {request.message_id!r} is still being written by run {running.id!r}.",
                hint="Wait for the run to end, or cancel it.",
            ) from None

    async def rebuild(self, record: RunRecord) -> ChatRun | None:
        """Prepare the answer of a stored run again; None if its session is gone."""
        spec = record.spec
        try:
            session, tree = await self.sessions.open(spec.session_id or "", owner=spec.owner)
            history = tree.path(spec.input["parent_id"])
        except NotFoundError:
            return None
        turn = ChatTurn(
            session=session,
            history=history,
            agent=spec.agent,
            model=spec.input["model"],
            tab_id=spec.input["tab_id"],
            owner=spec.owner,
            options=spec.input.get("options") or {},
            mode=spec.input.get("mode"),
            limits=spec.input.get("limits"),
        )
        await self._learn_model(turn)
        return ChatRun.resume(self._host, turn, spec, tasks=self.open_tasks(session))


def _make_turn(session: Session, history: Sequence[Message], request: ChatRequest) -> ChatTurn:
    return ChatTurn(
        session=session,
        history=history,
        agent=request.agent or session.agent or "master",
        model=request.model,
        tab_id=request.tab_id,
        owner=request.owner,
        options=session.options or {},
        mode=request.mode,
        limits=request.limits,
    )


def _make_message(tree: MessageTree, request: ChatRequest, skills: SkillLibrary) -> Message:
    """Return the user's new message; with the id of a stored message it becomes a sibling of that message."""
    parent_id = _find_place(tree, request.after) if request.parent_id is AT_HEAD else request.parent_id
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


def _find_place(tree: MessageTree, answer_id: str | None) -> str | None:
    """Return the message to follow: the newest one below an answer, if it is named; the head by default.

    The head may be on another branch by now.
    """
    if answer_id is None or answer_id not in tree:
        return tree.head
    is_current = any(message.id == answer_id for message in tree.path())
    return tree.head if is_current else tree.find_leaf(answer_id)


def _is_at_head(request: ChatRequest, new: Message | None, tree: MessageTree) -> bool:
    """Return whether a request continues the conversation where it ends, and names no message of it."""
    if new is None:
        return request.message_id is None
    return request.parent_id is AT_HEAD and new.parent_id == tree.head


def _trace_question(tree: MessageTree, request: ChatRequest) -> Sequence[Message]:
    """Return the path to the user's message to answer again, named by its answer or by `parent_id`."""
    named, parent_id = request.message_id, request.parent_id
    if named is not None and named not in tree and isinstance(parent_id, str) and parent_id in tree:
        named = parent_id
    path = tree.path(named)
    while path and path[-1].role != "user":
        path.pop()
    if not path:
        raise NotFoundError("No message to answer again.")
    return path


@asynccontextmanager
async def open_book(host: ChatHost, url: str | Path) -> AsyncGenerator[None]:
    """Count what each day of `host` has spent in the database at `url`, together with other processes."""
    async with Database(url) as database:
        host.runtime.spend.table = SpendingTable(database)
        try:
            yield
        finally:
            host.runtime.spend.table = None


@asynccontextmanager
async def open_chat(
    host: ChatHost, url: str | Path, *, works: bool = True, role: ProcessRole = "program"
) -> AsyncGenerator[Chat]:
    """Open the chats of `host` in the database at `url`; without `works` other processes make the answers.

    `role` is how this process is shown to those that share the database.
    """
    async with Database(url) as database:
        runs = Runs(database, host.settings.section(RunSettings), works=works)
        chat = Chat(host, SessionStore(database), runs)
        host.runtime.artifacts.shelf = ArtifactTable(database)
        host.runtime.spend.table = SpendingTable(database)
        try:
            async with runs, chat.processes.showing(role, works=works):
                yield chat
        finally:
            host.runtime.artifacts.shelf = None
            host.runtime.spend.table = None
