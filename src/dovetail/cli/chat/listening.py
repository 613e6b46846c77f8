"""Lines that are typed while an answer is written: sent to its run, queued with `/queue`, or commands."""

import asyncio
from collections.abc import Awaitable, Callable

from dovetail.app import Dovetail
from dovetail.cli.chat.mentions import read_message
from dovetail.cli.chat.screen import Screen
from dovetail.cli.terminal import shorten
from dovetail.errors import DovetailError
from dovetail.extensions.workspace import Workspace

QUEUE = "/queue"


class Listener:
    """Listen to the keyboard while a run is in progress.

    `try_command` carries a line out if it is a command that need not wait for the end of the answer, and
    returns whether the line has been dealt with; None says that it is not a command.
    """

    def __init__(
        self, app: Dovetail, screen: Screen, owner: str, try_command: Callable[[str], Awaitable[bool | None]]
    ) -> None:
        self._app = app
        self._screen = screen
        self._owner = owner
        self._try_command = try_command
        self.sent: dict[str, str] = {}
        """The texts that were sent, by the ids of their messages."""
        self.left: list[str] = []
        """Commands to carry out after the answer."""
        self.is_leaving = False
        self._listening: asyncio.Task[None] | None = None
        self._sending: asyncio.Task[None] | None = None

    def start(self, run_id: str) -> None:
        """Send what is typed from now on to a run."""
        self._listening = asyncio.create_task(self._listen(run_id))

    async def stop(self) -> None:
        """Leave the keyboard to the prompt, once a line that was typed before is sent."""
        listening, self._listening = self._listening, None
        if listening is not None:
            listening.cancel()
            tasks = [listening] if self._sending is None else [listening, self._sending]
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _listen(self, run_id: str) -> None:
        while (line := await self._screen.read_line()) is not None:
            self._sending = asyncio.create_task(self._take(run_id, line.strip()))
            await asyncio.shield(self._sending)
        self.is_leaving = True
        self._screen.stop()

    async def _take(self, run_id: str, line: str) -> None:
        is_queued = line == QUEUE or line.startswith(f"{QUEUE} ")
        is_done = None if is_queued else await self._try_command(line)
        if is_done is False:
            self.left.append(line)
            self._show(f"{shorten(line)} (after this answer)")
        elif is_done is None:
            await self._send(run_id, line.removeprefix(QUEUE).strip() if is_queued else line, is_queued)

    async def _send(self, run_id: str, text: str, is_queued: bool) -> None:
        if not text:
            self._show(f"{QUEUE} needs a message.")
            return
        draft = read_message(text, Workspace(self._app.workspace))
        for note in draft.notes:
            self._show(note)
        try:
            mode = "queue" if is_queued else "steer"
            sent = await self._app.chat.send_to_run(run_id, draft.parts, mode=mode, owner=self._owner)
        except DovetailError as error:
            self._show(f"Not sent: {error.message}")
            return
        self.sent[sent.message_id] = text
        when = "read in the next turn" if sent.mode == "steer" else "answered after this one"
        self._show(f"{shorten(text)} ({when})")

    def _show(self, text: str) -> None:
        self._screen.console.print(f"↳ {text}", style="dim", markup=False)
