"""The view of a running agent: a live tree in a terminal, otherwise line by line.

In an interactive terminal the view also asks for approvals, one at a time.
"""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from textwrap import indent
from typing import Any, Self

from rich.console import Group, RenderableType
from rich.live import Live
from rich.markup import escape
from rich.spinner import Spinner
from rich.text import Text
from rich.tree import Tree

from dovetail.cli.output import Console, guard_streams
from dovetail.cli.questions import ask_person
from dovetail.cli.terminal import describe_args, list_todos, shorten
from dovetail.data.visible import show_on_line
from dovetail.events.delta import Usage
from dovetail.events.model_events import ModelProgress, TextDeltaEvent, ToolInputEnd
from dovetail.events.run_events import AskKind, ChildEvent, Event, RunEnd, RunStart, ToolEnd, TurnEnd

MARKS = {"ok": ("✓", "green"), "error": ("✗", "red"), "denied": ("⊘", "yellow")}
OTHER_MARK = ("!", "yellow")
CUT_ANSWERS = {
    "length": "The answer is incomplete: it reached its longest length.",
    "content-filter": "The answer is incomplete: the provider's content filter stopped it.",
    "repetition": "The answer is incomplete: the model began to repeat itself and was stopped.",
}
"""What is said below an answer that is not whole, by the reason why the model ended it."""
TAIL = 6  # lines of the text that is being written


@dataclass(slots=True)
class CallLine:
    """One call: running until it has a status."""

    name: str
    args: Any
    status: str = "running"
    duration: float = 0.0
    problem: str = ""
    children: "list[RunBranch]" = field(default_factory=list["RunBranch"])

    def render(self, tree: Tree) -> None:
        """Add the call, and the agents it runs, to the tree."""
        todos = list_todos(self.name, self.args)
        title = Text.assemble((self.name, "cyan"), " ", ("" if todos else describe_args(self.args), "dim"))
        label: RenderableType = Spinner("dots", title)
        if self.status != "running":
            mark, style = MARKS.get(self.status, OTHER_MARK)
            time = (f" {self.duration:.1f} s", "dim")
            label = Text.assemble((f"{mark} ", style), title, time, (f" {self.problem}".rstrip(), "red"))
        branch = tree.add(label)
        for todo in todos:
            branch.add(Text(todo, "dim" if todo.startswith("✓") else ""))
        for child in self.children:
            child.render(branch.add(child.head()))


def describe_usage(usage: Usage) -> str:
    """Return tokens and cost in words; empty if there were none."""
    parts = {
        "tokens": usage.input_tokens + usage.output_tokens,
        "cached": usage.cached_tokens,
        "written to cache": usage.cache_write_tokens,
        "reasoning": usage.reasoning_tokens,
    }
    shown = [f"{count} {name}" for name, count in parts.items() if count]
    return ", ".join([*shown, f"cost {usage.cost:.4g}"] if usage.cost else shown)


def describe_progress(event: ModelProgress) -> str:
    """Return how far a model is before its first token, in words."""
    what = "The model is on its way" if event.phase == "download" else "Reading the question"
    return f"{what}: {event.done * 100 // max(event.total, 1)} %"


@dataclass(slots=True)
class RunBranch:
    """One run of an agent: its calls in order, and the text it is writing."""

    agent: str = ""
    model: str = ""
    turns: int = 0
    usage: Usage = field(default_factory=Usage)
    reason: str = ""
    text: str = ""
    progress: str = ""
    """How far its model is before its first token, in words."""
    calls: dict[str, CallLine] = field(default_factory=dict[str, CallLine])
    strays: "list[RunBranch]" = field(default_factory=list["RunBranch"])

    def take(self, event: Event) -> None:
        """Apply one event of this run itself."""
        self.progress = describe_progress(event) if isinstance(event, ModelProgress) else ""
        if isinstance(event, RunStart):
            self.agent, self.model = show_on_line(event.agent), event.model
        elif isinstance(event, TextDeltaEvent):
            self.text += event.delta
        elif isinstance(event, ToolInputEnd):
            self.calls[event.call_id] = CallLine(show_on_line(event.name), event.args)
        elif isinstance(event, ToolEnd) and (call := self.calls.get(event.call_id)):
            call.status, call.duration = event.status, event.duration
            call.problem = shorten(event.error["message"]) if event.error else ""
        elif isinstance(event, TurnEnd):
            self.turns, self.text = event.turn, ""
            self.usage = self.usage + event.usage
        elif isinstance(event, RunEnd):
            self.reason = event.reason

    def head(self) -> Text:
        """Return the agent, its model, and its progress."""
        used = describe_usage(self.usage)
        progress = f" {self.model}  turn {self.turns}" + (f", {used}" if used else "")
        progress += f"  {self.progress}" if self.progress else ""
        ended = f"  ended by {self.reason}" if self.reason not in ("", "goal") else ""
        return Text.assemble((self.agent, "bold"), (progress, "dim"), (ended, "yellow"))

    def render(self, tree: Tree) -> None:
        """Add the calls and the text to the tree."""
        for call in self.calls.values():
            call.render(tree)
        for child in self.strays:
            child.render(tree.add(child.head()))


class AgentTree:
    """The events of a run and of all its children as a tree."""

    def __init__(self) -> None:
        self.root = RunBranch()
        self._runs: dict[tuple[str, ...], RunBranch] = {(): self.root}

    def take(self, event: Event) -> None:
        """Apply one event of the run or of a child at any depth."""
        path: tuple[str, ...] = ()
        while isinstance(event, ChildEvent):
            path, event = (*path, event.run_id), event.event
        if path not in self._runs:
            branch = self._runs[path] = RunBranch()
            self._place(branch, self._runs.get(path[:-1], self.root), event)
        self._runs[path].take(event)

    def render(self) -> RenderableType:
        """Return the tree, and below it the end of the text that is being written."""
        tree = Tree(self.root.head(), guide_style="dim")
        self.root.render(tree)
        lines = self.root.text.splitlines()[-TAIL:]
        return Group(tree, Text("\n".join(lines))) if lines else tree

    def _place(self, branch: RunBranch, parent: RunBranch, event: Event) -> None:
        call_id = event.parent_call_id if isinstance(event, RunStart) else None
        call = parent.calls.get(call_id or "")
        (parent.strays if call is None else call.children).append(branch)


_PAUSE = 0.1  # seconds between two pictures while text streams


class AgentView:
    """Show nothing (`quiet`), a live tree (in a terminal) or one line per event."""

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
            self._draw(is_urgent=not isinstance(event, TextDeltaEvent))
        else:
            self._lines.show(event)

    async def ask(
        self, kind: AskKind, call_id: str, payload: Mapping[str, Any], time_limit: float | None
    ) -> Mapping[str, Any]:
        """Ask the user at the terminal."""
        async with self._asking:
            self._end()
            try:
                return await ask_person(self._console, kind, payload)
            finally:
                self._begin()

    def _begin(self) -> None:
        """Draw a new tree: the old one would overwrite the lines printed after it."""
        if self._console.is_terminal and not self._quiet:
            self._live = Live(self._tree.render(), console=self._console, refresh_per_second=10)
            self._live.start()
            guard_streams()  # behind it, `Live` takes the sequences of what is printed for styles

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
    """One line per event, children indented; the text of the outermost agent streams."""

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
        if isinstance(event, TextDeltaEvent) and depth == 0:
            self._console.print(event.delta, end="", markup=False, highlight=False)
            self._in_text = True
        elif (line := self._describe(event)) is not None:
            self.end_text()
            self._console.print(indent(line, "  " * depth), highlight=False)

    def end_text(self) -> None:
        """Begin a new line after streamed text."""
        if self._in_text:
            self._console.print()
            self._in_text = False

    def _describe(self, event: Event) -> str | None:
        if isinstance(event, RunStart):
            return f"[bold]{escape(show_on_line(event.agent))}[/bold] [dim]{escape(event.model)}[/dim]"
        if isinstance(event, ToolInputEnd):
            self._names[event.call_id] = name = show_on_line(event.name)
            if todos := list_todos(event.name, event.args):
                return "\n".join([f"[cyan]→ {escape(name)}[/cyan]", *map(escape, todos)])
            return f"[cyan]→ {escape(name)}[/cyan] {escape(describe_args(event.args))}"
        if isinstance(event, ToolEnd):
            name = self._names.get(event.call_id, show_on_line(event.call_id))
            problem = f" {escape(shorten(event.error['message']))}" if event.error else ""
            mark, style = MARKS.get(event.status, OTHER_MARK)
            return f"[{style}]{mark}[/{style}] {escape(name)} [dim]{event.duration:.1f} s[/dim]{problem}"
        if isinstance(event, TurnEnd):
            return f"[dim]turn {event.turn}, {describe_usage(event.usage) or '0 tokens'}[/dim]"
        if isinstance(event, RunEnd) and event.reason != "goal":
            return f"[yellow]ended by {event.reason}[/yellow]"
        return None
