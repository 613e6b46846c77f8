"""Shows a running agent: in a terminal as a tree that lives, elsewhere line by line.

The same view asks for approvals, one at a time, in a terminal that somebody sits at.
"""

import asyncio
import time
from collections.abc import Mapping
from typing import Any, Self

from rich.console import Console
from rich.live import Live
from rich.markup import escape

from dovetail.cli.agent_tree import MARKS, OTHER_MARK, AgentTree
from dovetail.cli.terminal import ask_person, shorten
from dovetail.messages.event import (
    AskKind,
    ChildEvent,
    Event,
    RunEnd,
    RunStart,
    ToolEnd,
    TurnEnd,
)
from dovetail.messages.model_event import TextMore, ToolInputEnd

_PAUSE = 0.1  # seconds between two pictures while text streams


class AgentView:
    """Shows nothing (`quiet`), a live tree (in a terminal) or one line for each event."""

    def __init__(self, console: Console, *, quiet: bool = False) -> None:
        self._console = console
        self._quiet = quiet
        self._tree = AgentTree()
        self._live: Live | None = None
        self._lines = LineView(console)
        self._drawn = 0.0
        self._asking = asyncio.Lock()

    def __enter__(self) -> Self:
        self._begin()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._end()

    def show(self, event: Event) -> None:
        """Show one event."""
        if self._quiet:
            return
        if self._console.is_terminal:
            self._tree.take(event)
            self._draw(is_urgent=not isinstance(event, TextMore))
        else:
            self._lines.show(event)

    async def ask(
        self, kind: AskKind, call_id: str, payload: Mapping[str, Any], time_limit: float | None
    ) -> Mapping[str, Any]:
        """Ask whoever sits at the terminal whether a call may run."""
        async with self._asking:
            self._end()
            try:
                return await ask_person(self._console, payload)
            finally:
                self._begin()

    def _begin(self) -> None:
        """Draw from here on; a picture that has ended would be drawn over what came after it."""
        if self._console.is_terminal and not self._quiet:
            self._live = Live(self._tree.render(), console=self._console, refresh_per_second=10)
            self._live.start()

    def _end(self) -> None:
        live, self._live = self._live, None
        if live is not None:
            live.update(self._tree.render())
            live.stop()
        self._lines.end_text()

    def _draw(self, *, is_urgent: bool) -> None:
        now = time.monotonic()
        if self._live is not None and (is_urgent or now - self._drawn > _PAUSE):
            self._drawn = now
            self._live.update(self._tree.render())


class LineView:
    """One line for each event, children indented; the outermost agent's text streams."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._in_text = False
        self._names: dict[str, str] = {}

    def show(self, event: Event) -> None:
        """Show one event."""
        depth = 0
        while isinstance(event, ChildEvent):
            event = event.event
            depth += 1
        if isinstance(event, TextMore) and depth == 0:
            self._console.print(event.delta, end="", markup=False, highlight=False)
            self._in_text = True
        elif (line := self._describe(event)) is not None:
            self.end_text()
            self._console.print("  " * depth + line, highlight=False)

    def end_text(self) -> None:
        """Begin a new line when text was being written."""
        if self._in_text:
            self._console.print()
            self._in_text = False

    def _describe(self, event: Event) -> str | None:
        if isinstance(event, RunStart):
            return f"[bold]{escape(event.agent)}[/bold] [dim]{escape(event.model)}[/dim]"
        if isinstance(event, ToolInputEnd):
            self._names[event.call_id] = event.name
            return f"[cyan]→ {escape(event.name)}[/cyan] {escape(shorten(event.args))}"
        if isinstance(event, ToolEnd):
            name = self._names.get(event.call_id, event.call_id)
            problem = f" {escape(shorten(event.error['message']))}" if event.error else ""
            mark, style = MARKS.get(event.status, OTHER_MARK)
            return f"[{style}]{mark}[/{style}] {escape(name)} [dim]{event.duration:.1f} s[/dim]{problem}"
        if isinstance(event, TurnEnd):
            tokens = event.usage.input_tokens + event.usage.output_tokens
            return f"[dim]turn {event.turn}, {tokens} tokens[/dim]"
        if isinstance(event, RunEnd) and event.reason != "goal":
            return f"[yellow]ended by {event.reason}[/yellow]"
        return None
