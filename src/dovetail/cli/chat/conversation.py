"""The conversation of a terminal: its session, what was chosen for it, and where the next message goes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from itertools import takewhile
from typing import Any

from dovetail.app import Dovetail
from dovetail.errors import ConfigError, NotFoundError
from dovetail.events.delta import Usage
from dovetail.policy.mode import choose_mode, read_mode
from dovetail.runs.run import RunHandle
from dovetail.sessions.message import Message, Part, Session
from dovetail.sessions.request import AT_HEAD, ChatRequest, StartedChat
from dovetail.sessions.search import SessionPage
from dovetail.sessions.transfer import to_markdown
from dovetail.settings import LOCAL_OWNER

DEFAULT_AGENT = "master"
SCRIPT = "script"
"""The kind of origin of a session that a script has started: people do not continue it by accident."""


@dataclass(slots=True, kw_only=True)
class Conversation:
    """A session that exists from its first message on.

    What was chosen before is sent with that message; later it is stored at once. `parent` is the message that
    the next one follows, unless that is the last one: after an undo it is an earlier one.
    """

    app: Dovetail
    owner: str = LOCAL_OWNER
    session_id: str | None = None
    agent: str | None = None
    model: str | None = None
    mode: str | None = None
    skills: list[str] = field(default_factory=list[str])
    parent: Any = AT_HEAD
    usage: Usage = field(default_factory=Usage)
    is_stored: bool = False
    is_script: bool = False

    async def open(self, session_id: str) -> Session | None:
        """Continue a session; None if it does not exist yet: then it gets this id."""
        self.session_id, self.parent, self.is_stored = session_id, AT_HEAD, False
        try:
            session = await self.app.sessions.get(session_id, owner=self.owner)
        except NotFoundError:
            return None
        self.is_stored, self.usage = True, session.usage
        self.agent = self.agent or session.agent
        self.model = self.model or (session.options or {}).get("model")
        self.mode = self.mode or (session.options or {}).get("mode")
        return session

    async def resume(self, *, last: bool = False) -> Session | None:
        """Continue the session that was named, or the last one; None if a new one begins.

        Raises:
            NotFoundError: no session is stored yet.
        """
        if last:
            found = (await self.find_sessions(limit=1)).sessions
            if not found:
                raise NotFoundError("No session to continue.", hint="Start one: dovetail chat")
            self.session_id = found[0].id
        return None if self.session_id is None else await self.open(self.session_id)

    async def find_sessions(self, *, limit: int, query: str = "") -> SessionPage:
        """Return the last sessions, those of scripts only to a script."""
        hidden = None if self.is_script else SCRIPT
        return await self.app.sessions.page(owner=self.owner, limit=limit, query=query, without_origin=hidden)

    def begin(self) -> None:
        """Leave the session: the next message begins a new one, with the same agent and model."""
        self.session_id, self.parent, self.usage, self.is_stored = None, AT_HEAD, Usage(), False

    def forget_choices(self) -> None:
        """Use the agent, the model and the mode of the session that is opened next."""
        self.agent = self.model = self.mode = None

    async def send(self, parts: Sequence[Part]) -> StartedChat:
        """Send a message and return its answer in progress."""
        request = ChatRequest(
            parts=parts,
            session_id=self.session_id,
            owner=self.owner,
            agent=self.agent,
            model=self.model,
            mode=self.mode,
            skills=tuple(self.skills),
            parent_id=self.parent,
            options={"model": self.model} if self.model else {},
            origin={"kind": SCRIPT} if self.is_script else None,
        )
        started = await self.app.chat.send(request)
        self.session_id, self.parent, self.is_stored = started.session_id, AT_HEAD, True
        self.skills.clear()
        return started

    async def find_next(self, last: str, sent: Mapping[str, str]) -> tuple[str, RunHandle] | None:
        """Return the answer after the run `last` to a message that was `sent` during it, and its text."""
        if not sent or self.session_id is None:
            return None
        await self.app.chat.mail.answer_next(self.session_id)
        newest = await self.app.runs.store.find(session_id=self.session_id, limit=100)
        later = list(takewhile(lambda record: record.id != last, newest))
        for record in reversed(later):
            text = sent.get(record.spec.input["parent_id"])
            if text is not None:
                return text, RunHandle(record.id, partial(self.app.runs.result, record.id))
        return None

    async def choose_agent(self, name: str) -> None:
        """Let another agent answer from now on."""
        self.agent = self.app.agents.get_definition(name).name
        if self.is_stored and self.session_id:
            await self.app.sessions.update(self.session_id, owner=self.owner, agent=self.agent)

    async def choose_model(self, name: str) -> None:
        """Let another model answer from now on.

        Raises:
            ConfigError: it is unknown or not set up.
        """
        await self.app.runtime.learn_names(name)
        self.app.runtime.requester(name)
        self.model = name
        if self.is_stored and self.session_id:
            await self.app.sessions.update(self.session_id, owner=self.owner, options={"model": name})

    def choose_mode(self, name: str) -> None:
        """Run in another mode from now on, as with `--mode`: the person at the terminal may choose any."""
        self.mode = read_mode(name)
        self.app.settings.set("policy.mode", self.mode)

    @property
    def shown_mode(self) -> str:
        """The mode that calls run in."""
        return self.mode or choose_mode(self.app.settings)

    async def path(self) -> list[Message]:
        """Return the messages that the next one follows."""
        if not self.is_stored or self.session_id is None or self.parent is None:
            return []
        _, tree = await self.app.sessions.open(self.session_id, owner=self.owner)
        return tree.path(None if self.parent is AT_HEAD else self.parent)

    async def undo(self) -> Message:
        """Go back behind the last message of the user; the next one is sent in its place.

        Raises:
            ConfigError: there is none.
        """
        asked = [message for message in await self.path() if message.role == "user"]
        if not asked:
            raise ConfigError("No message to undo.")
        self.parent = asked[-1].parent_id
        return asked[-1]

    async def fork(self, until: str | None = None) -> Session:
        """Copy the conversation, up to before a message, to a new session, and continue there."""
        path = await self.path()
        kept = list(takewhile(lambda message: message.id != until, path))
        if not path or self.session_id is None:
            raise ConfigError("Nothing to fork yet.")
        old = await self.app.sessions.get(self.session_id, owner=self.owner)
        title = f"{old.title} (fork)"
        choice = (old.agent, old.options or {})
        new = await self.app.sessions.add(kept, owner=self.owner, title=title, choice=choice)
        await self.open(new.id)
        return new

    async def export(self) -> str:
        """Return the conversation as Markdown."""
        if self.session_id is None or not self.is_stored:
            raise ConfigError("Nothing to export yet.")
        session = await self.app.sessions.get(self.session_id, owner=self.owner)
        return to_markdown(session, await self.path())


def describe_age(session: Session) -> str:
    """Return when a session was changed."""
    return datetime.fromtimestamp(session.updated_at).astimezone().strftime("%d %b %H:%M")
