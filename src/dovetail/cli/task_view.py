"""The background tasks of a chat in the terminal: their starts, questions and ends, and `/tasks`."""

import asyncio
import contextlib
from collections.abc import Mapping
from typing import Any

from rich.markup import escape

from dovetail.agents.task_tool import describe_task
from dovetail.app import Dovetail
from dovetail.cli.keyboard import Keyboard
from dovetail.cli.output import Console
from dovetail.cli.questions import ask_person
from dovetail.data.shapes import is_mapping
from dovetail.errors import ConflictError, NotFoundError
from dovetail.events.background import Task
from dovetail.events.run_events import AskRequest, Entry, RunEnd
from dovetail.runs.ask_store import AskRecord
from dovetail.settings import LOCAL_OWNER


class TaskView:
    """Show what works in the background of a session; follows the tasks that this process has seen."""

    def __init__(self, app: Dovetail, console: Console, keyboard: Keyboard) -> None:
        self._app = app
        self._console = console
        self._keyboard = keyboard
        self._following: dict[str, asyncio.Task[None]] = {}

    def close(self) -> None:
        """Follow no task any longer."""
        for task in self._following.values():
            task.cancel()

    async def open(self, session_id: str | None) -> None:
        """Follow the tasks of a session that are at work."""
        for task in await self._list(session_id):
            if task.state != "ended":
                record = await self._app.runs.get(task.run_id)
                self._follow(task.run_id, task.agent, after=record.last_number)

    def take(self, output: Any) -> str | None:
        """Return a line about the task that a call has started, and follow it; None for any other output."""
        if not is_mapping(output) or not {"task_id", "run_id", "agent"} <= set(output):
            return None
        self._follow(str(output["run_id"]), str(output["agent"]))
        return f"{output['agent']} works in the background as {output['task_id']}"

    async def show(self, session_id: str | None) -> None:
        """List the tasks of a session, and ask what they want to know."""
        tasks = await self._list(session_id)
        for task in tasks:
            self._console.print(describe_task(task), markup=False)
        if not tasks:
            self._console.print("No background tasks.")
        runs = {task.run_id for task in tasks}
        for ask in await self._app.runs.asks.store.list_open(LOCAL_OWNER):
            if ask.run_id in runs and ask.kind != "browser":
                await self._answer(ask)
        await self.open(session_id)

    async def explain_leaving(self, session_id: str | None) -> None:
        """Say what happens to tasks that have not ended."""
        left = [task for task in await self._list(session_id) if task.state != "ended"]
        if left:
            names = ", ".join(task.task_id for task in left)
            text = f"Not ended yet: {names}. `dovetail serve`, or another chat in the terminal, continues it."
            self._console.print(text, style="yellow", markup=False)

    async def _list(self, session_id: str | None) -> list[Task]:
        return await self._app.sessions.list_tasks(session_id) if session_id else []

    async def _answer(self, ask: AskRecord) -> None:
        answer: Mapping[str, Any] = await ask_person(self._console, ask.kind, ask.payload, self._keyboard)
        with contextlib.suppress(ConflictError):  # it was answered elsewhere
            await self._app.runs.asks.answer(ask.id, answer, owner=LOCAL_OWNER)

    def _follow(self, run_id: str, agent: str, *, after: int = 0) -> None:
        if run_id not in self._following:
            self._following[run_id] = asyncio.create_task(self._watch(run_id, agent, after))

    async def _watch(self, run_id: str, agent: str, after: int) -> None:
        with contextlib.suppress(NotFoundError):
            async with await self._app.runs.read(run_id, after) as reader:
                while not reader.ended:
                    for entry in await reader.next():
                        self._note(entry, agent)

    def _note(self, entry: Entry, agent: str) -> None:
        event = entry.event
        if isinstance(event, AskRequest) and event.kind != "browser":
            self._console.print(f"[yellow]{escape(agent)} asks in the background: /tasks answers.[/yellow]")
        elif isinstance(event, RunEnd) and len(entry.path) == 1:
            how = "is done" if event.reason == "goal" else f"ended by {event.reason}"
            self._console.print(f"[dim]{escape(agent)} {how} in the background.[/dim]")
