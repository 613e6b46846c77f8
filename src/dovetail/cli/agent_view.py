"""Shows a running agent in the terminal: its turns, tools and children, indented by depth."""

from typing import Self

from rich.console import Console

from dovetail.messages.event import (
    ChildEvent,
    Event,
    RunEnd,
    RunStart,
    TextMore,
    ToolEnd,
    ToolInputEnd,
    TurnEnd,
)

_MARKS = {"ok": "[green]✓[/green]", "error": "[red]✗[/red]", "denied": "[yellow]⊘[/yellow]"}
_LONGEST = 160


class AgentView:
    """Prints events as they come; text of the outermost agent streams, that of children stays quiet."""

    def __init__(self, console: Console, quiet: bool = False) -> None:
        self._console = console
        self._quiet = quiet
        self._in_text = False
        self._names: dict[str, str] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._end_text()

    def show(self, event: Event) -> None:
        """Show one event."""
        depth = 0
        while isinstance(event, ChildEvent):
            event = event.event
            depth += 1
        if self._quiet:
            return
        if isinstance(event, TextMore) and depth == 0:
            self._console.print(event.delta, end="", markup=False, highlight=False)
            self._in_text = True
        elif (line := self._describe(event)) is not None:
            self._end_text()
            self._console.print("  " * depth + line, highlight=False)

    def _describe(self, event: Event) -> str | None:
        if isinstance(event, RunStart):
            return f"[bold]{event.agent}[/bold] [dim]{event.model}[/dim]"
        if isinstance(event, ToolInputEnd):
            self._names[event.call_id] = event.name
            return f"[cyan]→ {event.name}[/cyan] {_shorten(event.args)}"
        if isinstance(event, ToolEnd):
            name = self._names.get(event.call_id, event.call_id)
            problem = f" {_shorten(event.error['message'])}" if event.error else ""
            mark = _MARKS.get(event.status, "[yellow]![/yellow]")
            return f"{mark} {name} [dim]{event.duration:.1f} s[/dim]{problem}"
        if isinstance(event, TurnEnd):
            tokens = event.usage.input_tokens + event.usage.output_tokens
            return f"[dim]turn {event.turn}, {tokens} tokens[/dim]"
        if isinstance(event, RunEnd) and event.reason != "goal":
            return f"[yellow]ended by {event.reason}[/yellow]"
        return None

    def _end_text(self) -> None:
        if self._in_text:
            self._console.print()
            self._in_text = False


def _shorten(value: object) -> str:
    text = str(value).replace("[", "\\[")
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
