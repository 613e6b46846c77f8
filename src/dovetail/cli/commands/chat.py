"""`dovetail chat`: chat with an agent in the terminal, with the agents, tools and sessions of the page."""

import asyncio
import signal
import sys
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.markup import escape

from dovetail.app import Dovetail
from dovetail.cli.first_model import FirstModel
from dovetail.cli.listening import Listener
from dovetail.cli.questions import ask_person
from dovetail.cli.task_view import TaskView
from dovetail.cli.terminal import MODE, WORKSPACE, list_todos, read_choices, read_line, shorten
from dovetail.data.shapes import is_mapping
from dovetail.errors import ConfigError
from dovetail.events.model_events import ReasoningDeltaEvent, TextDeltaEvent, TextEnd, ToolInputEnd
from dovetail.events.run_events import AskRequest, Entry, Event, RunEnd, ToolEnd, UserMessage
from dovetail.runs.run import RunHandle
from dovetail.sessions.chunks import error_text, shown_output
from dovetail.sessions.request import ChatRequest, StartedChat
from dovetail.settings import LOCAL_OWNER


class Transcript:
    """Send messages, show their answers and ask for approvals."""

    def __init__(self, app: Dovetail, console: Console, owner: str = LOCAL_OWNER) -> None:
        self._app = app
        self._console = console
        self._owner = owner
        self._session_id: str | None = None
        self._tasks = TaskView(app, console)
        self._listener = Listener(app, console, owner)
        self._stopping: asyncio.Future[None] | None = None

    async def exchange(self, text: str, request: ChatRequest) -> bool:
        """Send a message and show its answer to the end; return whether it succeeded."""
        parts = [{"type": "text", "text": text}]
        session_id = self._session_id or request.session_id
        started = await self._app.chat.send(replace(request, parts=parts, session_id=session_id))
        self._session_id = started.session_id
        has_succeeded, last = await self.follow(started), started.run_id
        while (run := await self._find_next(started.session_id, last)) is not None:
            has_succeeded, last = await self.follow(run), run.run_id
        return has_succeeded

    async def _find_next(self, session_id: str, last: str) -> RunHandle | None:
        """Return the next answer to a message that was typed while the `last` run was followed, if any."""
        if not self._listener.sent:
            return None
        await self._app.chat.mail.answer_next(session_id)
        newest = await self._app.runs.store.find(session_id=session_id, limit=100)
        later = list(takewhile(lambda record: record.id != last, newest))
        for record in reversed(later):
            text = self._listener.sent.get(record.spec.input["parent_id"])
            if text is not None:
                self._console.print(f"\n> {shorten(text)}", markup=False)
                return RunHandle(record.id, partial(self._app.runs.result, record.id))
        return None

    async def follow(self, started: StartedChat | RunHandle) -> bool:
        """Show an answer to its end; return whether it succeeded."""
        run = started.handle if isinstance(started, StartedChat) else started
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, self._stop, run.run_id)
        self._listener.start(run.run_id)
        try:
            async with await self._app.runs.read(run.run_id) as reader:
                while not reader.ended:
                    for entry in await reader.next():
                        await self._show(entry, run)
        finally:
            await self._listener.stop()
            loop.remove_signal_handler(signal.SIGINT)
        outcome = await run.result()
        return outcome.reason == "goal"

    async def read_line(self) -> str | None:
        """Return the next message; None at the end of the input, or on Ctrl-C at the prompt."""
        if self._listener.left:
            return self._listener.left.pop(0)
        reading = asyncio.ensure_future(read_line())
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, reading.cancel)
        try:
            self._console.print("\n> ", end="")
            await asyncio.wait([reading])
            return None if reading.cancelled() else reading.result()
        finally:
            loop.remove_signal_handler(signal.SIGINT)
            reading.cancel()

    async def open(self, session_id: str | None) -> None:
        """Follow what works in the background of a session that is continued."""
        self._session_id = session_id
        await self._tasks.open(session_id)

    async def show_tasks(self) -> None:
        """List what works in the background, and ask what it wants to know."""
        await self._tasks.show(self._session_id)

    async def close(self) -> None:
        """Say what is left in the background."""
        self._tasks.close()
        await self._tasks.explain_leaving(self._session_id)

    def _stop(self, run_id: str) -> None:
        self._stopping = asyncio.ensure_future(self._app.runs.cancel(run_id))

    async def _show(self, entry: Entry, run: RunHandle) -> None:
        event = entry.event
        if isinstance(event, AskRequest):
            await self._listener.stop()  # the keyboard answers the question
            await self._ask(event, run)
            self._listener.start(run.run_id)
        elif len(entry.path) == 1:
            self._show_event(event)

    def _show_event(self, event: Event) -> None:
        console = self._console
        if isinstance(event, TextDeltaEvent):
            console.print(event.delta, end="", markup=False, highlight=False, soft_wrap=True)
        elif isinstance(event, ReasoningDeltaEvent):
            console.print(event.delta, end="", markup=False, highlight=False, style="dim", soft_wrap=True)
        elif isinstance(event, TextEnd):
            console.print()
        elif isinstance(event, ToolInputEnd):
            todos = list_todos(event.name, event.args)
            args = "" if todos else f" [dim]{escape(shorten(event.args))}[/dim]"
            console.print("\n".join([f"[cyan]• {escape(event.name)}[/cyan]{args}", *map(_indent, todos)]))
        elif isinstance(event, ToolEnd):
            shown = _read_output(event) if event.status == "ok" else error_text(event)
            style = "dim" if event.status == "ok" else "red"
            console.print(f"  → {escape(self._tasks.take(shown) or shorten(shown))}", style=style)
        elif isinstance(event, UserMessage):
            first = str(event.parts[-1 if event.kind == "steer" else 0].get("text", "")).partition("\n")[0]
            console.print(f"> {first}" if event.kind == "steer" else first, style="dim", markup=False)
        elif isinstance(event, RunEnd):
            self._show_end(event)

    def _show_end(self, event: RunEnd) -> None:
        if event.error is not None:
            self._console.print(f"Error: {event.error['message']}", style="red", markup=False)
            if event.error.get("hint"):
                self._console.print(str(event.error["hint"]), markup=False)
        elif event.reason != "goal" or event.notice is not None:
            reached = f": {event.notice}" if event.notice else ""
            self._console.print(f"({event.limit or event.reason}{reached})", style="dim", markup=False)

    async def _ask(self, event: AskRequest, run: RunHandle) -> None:
        """Answer the ask, unless the run is cancelled first."""
        answering, ended = asyncio.ensure_future(self._answer(event)), asyncio.ensure_future(run.result())
        await asyncio.wait({answering, ended}, return_when=asyncio.FIRST_COMPLETED)
        ended.cancel()
        if answering.done():
            await self._app.runs.asks.answer(event.ask_id, answering.result(), owner=self._owner)
        else:
            answering.cancel()
            self._console.print()

    async def _answer(self, event: AskRequest) -> Mapping[str, Any]:
        if sys.stdin.isatty() or event.kind == "browser":
            return await ask_person(self._console, event.kind, event.payload)
        if event.kind == "question":
            return {"status": "failed", "errorText": "The terminal is not interactive."}
        return {"approved": False, "value": "The terminal is not interactive."}


def _read_output(event: ToolEnd) -> Any:
    """Return what the line of a call says of its result; a difference was shown with the approval."""
    shown = shown_output(event)
    return event.result["llm_content"] if is_mapping(shown) and "diff" in shown else shown


def _indent(line: str) -> str:
    return f"  {escape(line)}"


app = typer.Typer()


@app.command("chat")
def chat(
    message: list[str] | None = typer.Argument(None, help="A message; without it, a conversation starts."),
    agent: str = typer.Option("master", help="The agent to chat with."),
    model: str | None = typer.Option(None, help="The model, such as local:small or openai:gpt-4.1."),
    session: str | None = typer.Option(None, help="Continue this session."),
    workspace: Path | None = WORKSPACE,
    mode: str | None = MODE,
) -> None:
    """Chat with an agent in the terminal."""
    text = (" ".join(message or ()) or ("" if sys.stdin.isatty() else sys.stdin.read())).strip()
    if not text and not sys.stdin.isatty():
        raise ConfigError(
            "No message: standard input is empty.", hint='Pass a message: `dovetail chat "Hello"`.'
        )
    dovetail = Dovetail(read_choices(model, mode), workspace=workspace)
    FirstModel(dovetail.settings).prepare()
    failed = asyncio.run(_talk(dovetail, text, ChatRequest(agent=agent, session_id=session)))
    raise typer.Exit(1 if failed else 0)


async def _talk(dovetail: Dovetail, text: str, request: ChatRequest) -> bool:
    """Send one message, or chat until the end of input; return whether the last answer failed."""
    console = Console(highlight=False)
    async with dovetail:
        await dovetail.open_chat()
        transcript = Transcript(dovetail, console)
        try:
            if text:
                return not await transcript.exchange(text, request)
            await dovetail.chat.recover()
            await transcript.open(request.session_id)
            console.print(
                "[dim]Ctrl-D ends the chat, Ctrl-C stops an answer, /tasks shows the background.\n"
                "While it answers, a line you type is read in its next turn; "
                "/queue and a text is answered after it.[/dim]"
            )
            while (line := await transcript.read_line()) is not None:
                if line.strip() == "/tasks":
                    await transcript.show_tasks()
                elif line.strip():
                    await transcript.exchange(line, request)
        finally:
            await transcript.close()
    return False
