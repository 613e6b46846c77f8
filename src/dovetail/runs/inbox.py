"""Messages to sessions: taken into the run in progress (`steer`, `notice`), or answered after it (`queue`).

Promises: a message that is stored is taken or answered exactly once, whatever happens to the processes. Its
row is deleted in the transaction that stores it elsewhere: as an event of the run that took it, or as the
question of a run of its own. What a run has not taken when it ends becomes `queue` in the same transaction.
A run without messages costs no query: its row counts those that were sent to it.
"""

import dataclasses
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import sqlalchemy as sa

from dovetail.errors import ConflictError, NotFoundError, StoreError
from dovetail.events.call import ChatMessage
from dovetail.events.run_events import UserMessage
from dovetail.ids import new_id
from dovetail.runs.run import NextRun
from dovetail.runs.writer import Batch
from dovetail.store.database import Database, Transaction
from dovetail.store.tables import entries, inbox, messages, runs, sessions, to_values

logger = logging.getLogger(__name__)
MessageKind: TypeAlias = Literal["steer", "queue", "notice"]
MOST_WAITING = 100
"""The most messages of a session that may wait."""

_TAKEN_IN_TURNS = ("steer", "notice")
_OF_SESSION = inbox.c.session_id == sa.bindparam("session")
_ORDER = (inbox.c.created_at, inbox.c.id)
_INSERT = sa.insert(inbox)
_COUNT = sa.select(sa.func.count()).where(_OF_SESSION)
_IN_PROGRESS = (runs.c.session_id == sa.bindparam("session")) & (runs.c.state == "running")
_LOCK_RUN = sa.select(runs.c.id).where(_IN_PROGRESS).with_for_update()
_LOCK_SESSION = (
    sa.select(sessions.c.id)
    .where(sessions.c.id == sa.bindparam("session"))
    .with_for_update(read=True, key_share=True)
)
_ADD_MAIL = sa.update(runs).where(_IN_PROGRESS).values(mail=runs.c.mail + 1).returning(runs.c.id)
_CHILD = inbox.c.request["child"].as_string()
"""The child that a message is for; NULL if it is for the run itself."""
_TAKE = (
    sa.update(inbox)
    .where(_OF_SESSION, inbox.c.kind.in_(_TAKEN_IN_TURNS))
    .values(taken_by=sa.bindparam("taker"))
    .returning(inbox)
)
_WAITING = sa.select(inbox).where(_OF_SESSION, inbox.c.taken_by.is_(None)).order_by(*_ORDER)
_NEXT = sa.select(inbox).where(_OF_SESSION, inbox.c.kind == "queue").order_by(*_ORDER).limit(1)
_MUST_WAIT = sa.select(inbox.c.id).where(_OF_SESSION, inbox.c.kind == "queue").limit(1)
_FIRST = (
    sa.select(inbox)
    .where(_OF_SESSION, inbox.c.kind.in_(("queue", "steer")), inbox.c.taken_by.is_(None))
    .order_by(*_ORDER)
    .limit(1)
)
_LEFT = (
    sa.select(inbox.c.session_id)
    .where(inbox.c.kind == "queue")
    .where(~sa.exists().where(runs.c.session_id == inbox.c.session_id, runs.c.state == "running"))
    .distinct()
)
_IS_MESSAGE = inbox.c.id == sa.bindparam("message")
_WAITS_AS = sa.select(inbox.c.kind).where(_OF_SESSION, _IS_MESSAGE)
_REMOVE = sa.delete(inbox).where(_OF_SESSION, _IS_MESSAGE)
_OF_RUN = sa.select(runs.c.session_id).where(runs.c.id == sa.bindparam("run")).scalar_subquery()
_REMOVE_TAKEN = sa.delete(inbox).where(inbox.c.session_id == _OF_RUN, _IS_MESSAGE)
_IS_QUESTION = sa.select(messages.c.id).where(
    messages.c.session_id == sa.bindparam("session"), messages.c.id == sa.bindparam("message")
)
_WAS_TAKEN = sa.select(entries.c.last).where(
    entries.c.run_id.in_(sa.select(runs.c.id).where(runs.c.session_id == sa.bindparam("session"))),
    entries.c.type == UserMessage.type,
    entries.c.body["message_id"].as_string() == sa.bindparam("message"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class InboxMessage:
    """A message to a session: people see `parts`, the model reads `content`.

    `run_id` is the run that it was sent to, if any; `request` says how a run of its own would answer it.
    """

    session_id: str
    owner: str
    kind: MessageKind
    parts: Sequence[Mapping[str, Any]]
    content: Sequence[ChatMessage]
    run_id: str | None = None
    request: Mapping[str, Any] = field(default_factory=dict[str, Any])
    id: str = field(default_factory=lambda: new_id("msg"))
    created_at: float = field(default_factory=lambda: time.time())


def store_message(
    transaction: Transaction, message: InboxMessage, *, is_named: bool = False
) -> tuple[MessageKind, str | None]:
    """Store a message; return its kind as it is now, and the run in progress in its session, if any.

    A message that steers a run which has ended is answered by a run of its own. One whose sender has chosen
    the id (`is_named`) may have been stored before; then nothing changes.

    Raises:
        NotFoundError: the session was deleted.
        ConflictError: too many messages wait in the session already.
    """
    session = {"session": message.session_id}
    # The run, the session, then the change of the run: in the order of a run's end. A new run waits for a
    # change of the one in progress, and holds the session; it does not wait for a lock.
    receiver = transaction.scalar(_LOCK_RUN, session)
    if transaction.scalar(_LOCK_SESSION, session) is None:
        raise NotFoundError(f"Session {message.session_id!r} not found.")
    if is_named and (known := find_kind(transaction, message.session_id, message.id)) is not None:
        return known, receiver
    if message.kind != "notice" and (transaction.scalar(_COUNT, session) or 0) >= MOST_WAITING:
        raise ConflictError(
            f"Session {message.session_id!r} has {MOST_WAITING} messages that wait already.",
            hint="Wait until some of them are answered, or delete them.",
        )
    is_late = message.kind == "steer" and receiver != message.run_id
    kind: MessageKind = "queue" if is_late else message.kind
    values = {**to_values(message), "parts": list(message.parts), "content": list(message.content)}
    transaction.execute(_INSERT, {**values, "kind": kind})
    return kind, transaction.scalar(_ADD_MAIL, session)  # also a run that has begun in between


def find_kind(transaction: Transaction, session_id: str, message_id: str) -> MessageKind | None:
    """Return how a message was stored that waits in a session, was taken by a run or answered; else None."""
    key = {"session": session_id, "message": message_id}
    if waits_as := transaction.scalar(_WAITS_AS, key):
        return waits_as
    if transaction.scalar(_IS_QUESTION, key) is not None:
        return "queue"
    return "steer" if transaction.scalar(_WAS_TAKEN, key) is not None else None


def refuse_overtaking(transaction: Transaction, session_id: str) -> None:
    """Raise `ConflictError` if messages of a session wait for their answers: a new one comes after them."""
    if transaction.scalar(_MUST_WAIT, {"session": session_id}) is not None:
        raise ConflictError(f"Messages wait in session {session_id!r}.")


def take_next(transaction: Transaction, follower: NextRun) -> bool:
    """Make the oldest message of a session the question of a run; False if it is another one, or gone."""
    waiting = transaction.execute(_NEXT, {"session": follower.spec.session_id}).mappings().first()
    if waiting is None or waiting["id"] != follower.message_id:
        return False
    try:
        follower.place(transaction)
    except (ConflictError, NotFoundError):
        return False
    remove_answered(transaction, waiting["session_id"], follower.message_id)
    return True


def remove_answered(transaction: Transaction, session_id: str, message_id: str) -> None:
    """Delete a message that becomes the question of a run; raise `ConflictError` if it has become one."""
    if not transaction.execute(_REMOVE, {"session": session_id, "message": message_id}).rowcount:
        raise ConflictError(f"Message {message_id!r} is answered already.")


def settle_mail(transaction: Transaction, batches: Sequence[Batch]) -> None:
    """Delete the messages that runs have taken as events, and queue what a run leaves when it ends."""
    taken = [
        {"run": batch.run_id, "message": block.event.message_id}
        for batch in batches
        for block in batch.blocks
        if isinstance(block.event, UserMessage)
    ]
    if taken:
        transaction.execute(_REMOVE_TAKEN, taken)
    ended = [batch.run_id for batch in batches if batch.is_last]
    if ended:
        ending = sa.select(runs.c.session_id).where(runs.c.id.in_(ended))
        kind = sa.case((inbox.c.kind == "steer", "queue"), else_=inbox.c.kind)  # a notice waits for a run
        rest = sa.update(inbox).where(inbox.c.session_id.in_(ending))
        transaction.execute(rest.values(kind=kind, taken_by=None))


class Mailbox:
    """The messages to one run in progress here."""

    def __init__(self, database: Database, run_id: str, session_id: str, *, has_mail: bool) -> None:
        self.run_id = run_id
        self.session_id = session_id
        self.has_mail = has_mail
        self.count = 0
        self._database = database
        self._taken: set[str] = set()
        self._children: dict[str, ChildMailbox] = {}

    def note(self, count: int) -> None:
        """Learn how many messages have been stored for the run so far."""
        if count > self.count:
            self.hear()
        self.count = max(count, self.count)

    def hear(self) -> None:
        """Learn that there may be messages, to the run or to one of its children."""
        self.has_mail = True
        for child in self._children.values():
            child.has_mail = True

    @contextmanager
    def opening(self, child_id: str, *, has_mail: bool) -> "Generator[ChildMailbox]":
        """Open the mailbox of a child; what it has not taken when it ends is for the run itself."""
        child = self._children[child_id] = ChildMailbox(self, child_id, has_mail=has_mail)
        try:
            yield child
        finally:
            del self._children[child_id]
            self.has_mail = self.has_mail or child.has_mail

    async def take(self) -> list[UserMessage]:
        """Return the messages that were not taken yet, oldest first; none while the database is away."""
        self.has_mail = False
        taken = await self.fetch(_CHILD.is_(None) | _CHILD.not_in(list(self._children)))
        self.has_mail = self.has_mail or taken is None
        return taken or []

    async def fetch(self, wanted: sa.ColumnElement[bool]) -> list[UserMessage] | None:
        """Take the messages that are wanted; None while the database is away."""
        values = {"session": self.session_id, "taker": self.run_id}
        statement = _TAKE.where(wanted)
        try:
            rows = await self._database.write(
                lambda connection: connection.execute(statement, values).mappings().all()
            )
        except StoreError as error:
            logger.warning("run %s: cannot read its messages: %s", self.run_id, error.message)
            return None
        new = [row for row in rows if row["id"] not in self._taken]  # a row stays until its event is stored
        self._taken.update(row["id"] for row in new)
        return [
            UserMessage(row["id"], row["kind"], tuple(row["parts"]), tuple(row["content"]))
            for row in sorted(new, key=lambda row: (row["created_at"], row["id"]))
        ]


class ChildMailbox:
    """The messages to an agent that the run of a mailbox has called."""

    def __init__(self, box: Mailbox, run_id: str, *, has_mail: bool) -> None:
        self.run_id = run_id
        self.has_mail = has_mail
        self._box = box

    async def take(self) -> list[UserMessage]:
        """Return the messages that were not taken yet, oldest first; none while the database is away."""
        self.has_mail = False
        taken = await self._box.fetch(_CHILD.in_([self.run_id]))
        self.has_mail = self.has_mail or taken is None
        return taken or []


class Inbox:
    """The messages to all sessions, and the mailboxes of the runs in this process.

    `announce` reports a message to the process of its run; `spawn` starts a task.
    """

    def __init__(
        self,
        database: Database,
        announce: Callable[[str], None],
        spawn: Callable[[Coroutine[Any, Any, None]], None],
    ) -> None:
        self._database = database
        self._announce = announce
        self._spawn = spawn
        self._boxes: dict[str, Mailbox] = {}
        self.answer_next: Callable[[str], Coroutine[Any, Any, None]] | None = None
        """Starts the answer to the oldest message that waits in a session, if no run is in progress there."""
        self.prepare_next: Callable[[InboxMessage], Awaitable[NextRun | None]] | None = None
        """Prepares the run that answers a message when the one in progress ends; None without its session."""

    def open(self, run_id: str, session_id: str | None, *, has_mail: bool = True) -> Mailbox | None:
        """Return the mailbox of a run in this process; None if it belongs to no session."""
        if session_id is None:
            return None
        if run_id not in self._boxes:
            self._boxes[run_id] = Mailbox(self._database, run_id, session_id, has_mail=has_mail)
        return self._boxes[run_id]

    @contextmanager
    def opening(self, run_id: str, session_id: str | None) -> Generator[None]:
        """Open the mailbox of a run that is being stored, so that no news is missed."""
        self.open(run_id, session_id, has_mail=False)
        try:
            yield
        except BaseException:
            self.close(run_id, has_ended=False)
            raise

    def close(self, run_id: str, *, has_ended: bool) -> None:
        """Forget the mailbox of a run that has ended, or is left to another process."""
        box = self._boxes.pop(run_id, None)
        if box is not None and has_ended and box.count:
            self.answer_soon(box.session_id)

    async def find_follower(self, run_id: str) -> NextRun | None:
        """Return the run that is to follow a run of this process, if messages wait for its end."""
        box = self._boxes.get(run_id)
        if box is None or not box.count or self.prepare_next is None:
            return None
        session = {"session": box.session_id}
        row = await self._database.read(
            lambda connection: connection.execute(_FIRST, session).mappings().first()
        )
        return None if row is None else await self.prepare_next(_read(row))

    def settle(self, run_id: str) -> None:
        """Learn that the run which follows a run of this process has begun: it cares for what waits."""
        if run_id in self._boxes:
            self._boxes[run_id].count = 0

    def answer_soon(self, session_id: str) -> None:
        """Have the oldest message that waits in a session answered, if no run is in progress there."""
        if self.answer_next is not None:
            self._spawn(self.answer_next(session_id))

    async def look(self) -> None:
        """Have the messages answered that a dead process has left behind."""
        if self.answer_next is not None:
            for session_id in await self.find_sessions():
                await self.answer_next(session_id)

    def note(self, run_id: str, count: int) -> None:
        """Learn how many messages have been stored for a run so far."""
        if run_id in self._boxes:
            self._boxes[run_id].note(count)

    def hear(self, run_id: str) -> None:
        """Have a run look for messages, if it is in this process."""
        if run_id in self._boxes:
            self._boxes[run_id].hear()

    def hear_all(self) -> None:
        """Have all runs of this process look for messages: news may have been missed."""
        for box in self._boxes.values():
            box.hear()

    async def send(self, message: InboxMessage, *, is_named: bool = False) -> tuple[InboxMessage, str | None]:
        """Store a message and wake its run; return it as it is stored, and the run in progress, if any.

        A message whose id was chosen by its sender (`is_named`) is stored once, however often it is sent.
        """
        try:
            kind, running = await self._database.write(
                lambda connection: store_message(connection, message, is_named=is_named)
            )
        except ConflictError:
            if not is_named:
                raise
            kind, running = await self._database.write(  # the same message may have come at the same time
                lambda connection: store_message(connection, message, is_named=True)
            )
        if running is not None:
            self.tell(running)
        return dataclasses.replace(message, kind=kind), running

    def tell(self, run_id: str) -> None:
        """Report to a run, here or in another process, that a message was stored for it."""
        if run_id in self._boxes:
            self.hear(run_id)
        else:
            self._announce(run_id)

    async def list(self, session_id: str) -> list[InboxMessage]:
        """Return the messages of a session that wait, oldest first."""
        rows = await self._database.read(
            lambda connection: connection.execute(_WAITING, {"session": session_id}).mappings().all()
        )
        return [_read(row) for row in rows]

    async def was_sent(self, session_id: str, message_id: str) -> bool:
        """Whether a message was sent to a run of the session: it waits, was taken or answered."""
        return await self._database.read(
            lambda connection: find_kind(connection, session_id, message_id) is not None
        )

    async def remove(self, session_id: str, message_id: str | None = None) -> bool:
        """Delete a message of a session, or all of them, unless taken; return whether there was one."""
        wanted = (inbox.c.session_id == session_id) & inbox.c.taken_by.is_(None)
        statement = sa.delete(inbox).where(wanted)
        if message_id is not None:
            statement = statement.where(inbox.c.id == message_id)
        return await self._database.write(lambda connection: bool(connection.execute(statement).rowcount))

    async def find_next(self, session_id: str) -> InboxMessage | None:
        """Return the message of a session to be answered next, if any."""
        row = await self._database.read(
            lambda connection: connection.execute(_NEXT, {"session": session_id}).mappings().first()
        )
        return None if row is None else _read(row)

    async def find_sessions(self) -> Sequence[str]:
        """Return the sessions in which messages wait for an answer while no run is in progress."""
        return await self._database.read(lambda connection: connection.scalars(_LEFT).all())


def _read(row: Any) -> InboxMessage:
    return InboxMessage(**{name: row[name] for name in InboxMessage.__dataclass_fields__})
