"""Lines that are typed while an answer is written: each is sent to its run, or queued with `/queue`."""

import asyncio
import sys

from rich.console import Console

from dovetail.app import Dovetail
from dovetail.cli.terminal import read_line, shorten
from dovetail.errors import DovetailError

QUEUE = "/queue"
COMMANDS = ("/tasks",)
"""Commands of the prompt: typed earlier, they are carried out after the answer."""


class Listener:
    """Listen to the keyboard while a run is in progress; without a terminal, do nothing."""

    def __init__(self, app: Dovetail, console: Console, owner: str) -> None:
        self._app = app
        self._console = console
        self._owner = owner
        self.sent: dict[str, str] = {}
        """The texts that were sent, by the ids of their messages."""
        self.left: list[str | None] = []
        """Lines for the prompt: commands, and None for the end of the input."""
        self._listening: asyncio.Task[None] | None = None
        self._sending: asyncio.Task[None] | None = None

    def start(self, run_id: str) -> None:
        """Send what is typed from now on to a run."""
        if sys.stdin.isatty():
            self._listening = asyncio.create_task(self._listen(run_id))

    async def stop(self) -> None:
        """Leave the keyboard to a question or to the prompt, once a line that was typed before is sent."""
        listening, self._listening = self._listening, None
        if listening is not None:
            listening.cancel()
            tasks = [listening] if self._sending is None else [listening, self._sending]
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _listen(self, run_id: str) -> None:
        while (line := await read_line()) is not None:
            if line.strip() in COMMANDS:
                self.left.append(line)
            elif line.strip():
                self._sending = asyncio.create_task(self._send(run_id, line.strip()))
                await asyncio.shield(self._sending)
        self.left.append(None)

    async def _send(self, run_id: str, line: str) -> None:
        is_queued = line == QUEUE or line.startswith(f"{QUEUE} ")
        text = line.removeprefix(QUEUE).strip() if is_queued else line
        if not text:
            self._show(f"{QUEUE} needs a message.")
            return
        try:
            parts = [{"type": "text", "text": text}]
            mode = "queue" if is_queued else "steer"
            sent = await self._app.chat.send_to_run(run_id, parts, mode=mode, owner=self._owner)
        except DovetailError as error:
            self._show(f"Not sent: {error.message}")
            return
        self.sent[sent.message_id] = text
        when = "read in the next turn" if sent.mode == "steer" else "answered after this one"
        self._show(f"{shorten(text)} ({when})")

    def _show(self, text: str) -> None:
        self._console.print(f"\n↳ {text}", style="dim", markup=False, highlight=False)
