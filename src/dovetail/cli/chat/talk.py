"""The chat on a screen: messages in, answers and questions out, until the person leaves."""

import asyncio
import contextlib
import os
from typing import Any

from prompt_toolkit.history import FileHistory
from rich.markup import escape

from dovetail.agents.prepare import warm_up
from dovetail.cli.chat.answer import AnswerView
from dovetail.cli.chat.commands import ChatCommands, describe_state
from dovetail.cli.chat.completion import ChatCompleter
from dovetail.cli.chat.conversation import DEFAULT_AGENT, Conversation
from dovetail.cli.chat.listening import Listener
from dovetail.cli.chat.look import Look
from dovetail.cli.chat.mentions import read_message
from dovetail.cli.chat.screen import Screen
from dovetail.cli.exits import INTERRUPTED, OK, find_exit
from dovetail.cli.process import Reloads
from dovetail.cli.questions import ask_person
from dovetail.cli.task_view import TaskView
from dovetail.data.private_folder import find_data_folder
from dovetail.data.visible import show_controls
from dovetail.errors import ConflictError, DovetailError
from dovetail.events.run_events import AskAnswer, AskRequest, Entry
from dovetail.extensions.workspace import Workspace
from dovetail.requesters.resolve import find_active
from dovetail.runs.run import RunHandle
from dovetail.sessions.message import Session
from dovetail.version import __version__

_SHOWN_MESSAGES = 6
_BUSY = "It is being answered elsewhere: wait for the end and send it again, or begin another one with /new."
_GREETING = "[dim]/help shows commands and keys, Ctrl-D leaves.[/dim]"


class Talk:
    """One chat in a terminal."""

    def __init__(self, conversation: Conversation, look: Look) -> None:
        self._conversation = conversation
        self._app = conversation.app
        completer = ChatCompleter(self._app.workspace)
        self._screen = Screen(look, completer=completer, history=open_history())
        self._reloads = Reloads(self._app)
        self._tasks = TaskView(self._app, self._screen.console, self._screen)
        self._commands = ChatCommands(conversation, self._screen, self._tasks, self._show_path)
        completer.list_choices = self._commands.list_choices
        self._listener = Listener(self._app, self._screen, conversation.owner, self._try_command)
        self._asks: dict[str, asyncio.Task[None]] = {}
        self._asking = asyncio.Lock()
        self._model = find_active(self._app.settings)
        self._screen.status = self._describe_state

    async def run(self, session: Session | None, text: str = "", context: str = "") -> int:
        """Answer one message, or chat until the person leaves; return the exit code."""
        warming = None
        if not text:
            self._screen.keep_early_keys()
            warming = asyncio.create_task(self._warm_up())
        async with self._screen.open():
            try:
                if text:
                    return await self._exchange(text, context)
                await self._app.chat.recover()
                self._screen.console.print(f"[bold]Dovetail {__version__}[/bold] {_GREETING}")
                await self._show_path(session)
                return await self._chat()
            finally:
                if warming is not None:
                    warming.cancel()
                self._tasks.close()
                await self._tasks.explain_leaving(self._conversation.session_id)
                if self._conversation.is_stored and not text:
                    again = f"dovetail chat --session {self._conversation.session_id}"
                    self._screen.console.print(f"Continue with: {again}", style="dim", soft_wrap=True)

    async def _warm_up(self) -> None:
        """Have the agent's own model read the beginning of the chat while the person types."""
        if self._conversation.model is None:  # no other one was chosen for this chat
            await warm_up(self._app, self._conversation.agent or DEFAULT_AGENT, has_tab=False)

    async def _chat(self) -> int:
        while not self._listener.is_leaving:
            line = self._listener.left.pop(0) if self._listener.left else await self._screen.read_line()
            if line is None:
                return INTERRUPTED if self._screen.is_interrupted else OK
            try:
                await self._take(line)
            except DovetailError as error:
                self._show_error(error)
        return INTERRUPTED

    async def _take(self, line: str) -> None:
        self._echo(line.strip())
        if reloaded := await self._reloads.catch_up():
            self._screen.console.print(f"  {reloaded}", style="dim", markup=False)
        found = self._commands.find(line)
        if message := line.strip() if found is None else await self._commands.run(*found):
            await self._exchange(message)

    def _echo(self, text: str) -> None:
        self._screen.console.print(f"\n> {text}", style="user", markup=False)

    async def _try_command(self, line: str) -> bool | None:
        """Carry out a command that need not wait for the answer; None if the line is a message."""
        try:
            found = self._commands.find(line)
            if found is None or not found[0].is_quick:
                return None if found is None else False
            await self._commands.run(*found)
        except DovetailError as error:
            self._show_error(error)
        return True

    async def _exchange(self, text: str, context: str = "") -> int:
        """Send a message and show its answers to the end; return the exit code of the last."""
        draft = read_message(text, Workspace(self._app.workspace), context)
        for note in (*draft.notes, *(f"Attached: {name}" for name in draft.attached)):
            self._screen.console.print(f"  {note}", style="dim", markup=False)
        try:
            started = await self._conversation.send(draft.parts)
        except ConflictError as error:
            raise ConflictError(error.message, hint=_BUSY) from error
        code, last = await self._follow(started.handle), started.run_id
        while (found := await self._conversation.find_next(last, self._listener.sent)) is not None:
            self._echo(found[0])
            code, last = await self._follow(found[1]), found[1].run_id
        return code

    async def _follow(self, run: RunHandle) -> int:
        view, stopping = AnswerView(self._screen, self._tasks), set[asyncio.Task[None]]()

        def stop() -> None:
            stopping.add(asyncio.create_task(self._stop(run)))

        self._screen.live, self._screen.on_stop = view.render, stop
        self._listener.start(run.run_id)
        try:
            async with await self._app.runs.read(run.run_id) as reader:
                while not reader.ended:
                    for entry in await reader.next():
                        self._show(entry, view)
            result = await run.result()
        finally:
            await self._end_asks()
            await self._listener.stop()
            self._screen.on_stop = None
            self._screen.live = lambda width, rows: ""
        await self._read_usage()
        return find_exit(result.reason)

    async def _stop(self, run: RunHandle) -> None:
        with contextlib.suppress(ConflictError):  # it has just ended
            await self._app.runs.cancel(run.run_id)

    def _show(self, entry: Entry, view: AnswerView) -> None:
        event = entry.event
        if isinstance(event, AskRequest):
            view.flush()
            self._asks[event.ask_id] = asyncio.create_task(self._ask(event))
        elif isinstance(event, AskAnswer) and (asking := self._asks.pop(event.ask_id, None)):
            asking.cancel()  # it may have been answered elsewhere
        view.take(entry)

    async def _ask(self, event: AskRequest) -> None:
        async with self._asking:  # one question at a time
            answer = await ask_person(self._screen.console, event.kind, event.payload, self._screen)
        self._asks.pop(event.ask_id, None)
        with contextlib.suppress(ConflictError):
            await self._app.runs.asks.answer(event.ask_id, answer, owner=self._conversation.owner)

    async def _end_asks(self) -> None:
        asks, self._asks = list(self._asks.values()), {}
        for asking in asks:
            asking.cancel()
        await asyncio.gather(*asks, return_exceptions=True)

    async def _show_path(self, session: Session | None) -> None:
        """Show the last messages of a session that is continued."""
        console, look = self._screen.console, self._screen.look
        await self._tasks.open(self._conversation.session_id)
        path = await self._conversation.path()
        if session is not None:
            console.print(f"[dim]── {escape(session.title or session.id)} ──[/dim]")
        if len(path) > _SHOWN_MESSAGES:
            console.print(f"[dim]… {len(path) - _SHOWN_MESSAGES} earlier messages[/dim]")
        for message in path[-_SHOWN_MESSAGES:]:
            text = show_controls(message.text)
            shown: Any = f"\n> {text}" if message.role == "user" else look.markdown(f"\n{text}")
            console.print(shown, style="user" if message.role == "user" else None, markup=False)

    async def _read_usage(self) -> None:
        conversation = self._conversation
        if conversation.session_id is not None:
            session = await self._app.sessions.get(conversation.session_id, owner=conversation.owner)
            conversation.usage = session.usage

    def _show_error(self, error: DovetailError) -> None:
        self._screen.console.print(f"Error: {error.message}", style="red", markup=False)
        if error.hint:
            self._screen.console.print(error.hint, markup=False)

    def _describe_state(self) -> str:
        return describe_state(self._conversation, self._conversation.model or self._model)


def open_history() -> FileHistory:
    """Return what was typed in earlier chats; the file is for its owner only."""
    path = find_data_folder() / "chat_history"
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
    return FileHistory(str(path))


async def start(conversation: Conversation, look: Look, text: str, context: str, *, resume: bool) -> int:
    """Open the app and chat; return the exit code."""
    async with conversation.app as dovetail:
        await dovetail.open_chat()
        session = await conversation.resume(last=resume)
        return await Talk(conversation, look).run(session, text, context)
