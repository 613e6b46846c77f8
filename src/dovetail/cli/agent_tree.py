"""What a running agent and its children have done so far, as a tree for the terminal."""

from dataclasses import dataclass, field
from typing import Any

from rich.console import Group, RenderableType
from rich.spinner import Spinner
from rich.text import Text
from rich.tree import Tree

from dovetail.cli.terminal import shorten
from dovetail.messages.delta import Usage
from dovetail.messages.event import ChildEvent, Event, RunEnd, RunStart, ToolEnd, TurnEnd
from dovetail.messages.model_event import TextMore, ToolInputEnd

MARKS = {"ok": ("✓", "green"), "error": ("✗", "red"), "denied": ("⊘", "yellow")}
OTHER_MARK = ("!", "yellow")
TAIL = 6  # lines of the text that is being written


@dataclass(slots=True)
class CallLine:
    """One call: running until it has its status."""

    name: str
    args: Any
    status: str = "running"
    duration: float = 0.0
    problem: str = ""
    children: "list[RunBranch]" = field(default_factory=list["RunBranch"])

    def render(self, tree: Tree) -> None:
        """Add the call, and the agents it runs, to the tree."""
        told = Text.assemble((self.name, "cyan"), " ", (shorten(self.args), "dim"))
        label: RenderableType = Spinner("dots", told)
        if self.status != "running":
            mark, style = MARKS.get(self.status, OTHER_MARK)
            time = (f" {self.duration:.1f} s", "dim")
            label = Text.assemble((f"{mark} ", style), told, time, (f" {self.problem}".rstrip(), "red"))
        branch = tree.add(label)
        for child in self.children:
            child.render(branch.add(child.head()))


@dataclass(slots=True)
class RunBranch:
    """One run of an agent: its calls in order, and the text it is writing."""

    agent: str = ""
    model: str = ""
    turns: int = 0
    usage: Usage = field(default_factory=Usage)
    reason: str = ""
    text: str = ""
    calls: dict[str, CallLine] = field(default_factory=dict[str, CallLine])
    strays: "list[RunBranch]" = field(default_factory=list["RunBranch"])

    def take(self, event: Event) -> None:
        """Take one event of this run itself."""
        if isinstance(event, RunStart):
            self.agent, self.model = event.agent, event.model
        elif isinstance(event, TextMore):
            self.text += event.delta
        elif isinstance(event, ToolInputEnd):
            self.calls[event.call_id] = CallLine(event.name, event.args)
        elif isinstance(event, ToolEnd) and (call := self.calls.get(event.call_id)):
            call.status, call.duration = event.status, event.duration
            call.problem = shorten(event.error["message"]) if event.error else ""
        elif isinstance(event, TurnEnd):
            self.turns, self.text = event.turn, ""
            self.usage = self.usage + event.usage
        elif isinstance(event, RunEnd):
            self.reason = event.reason

    def head(self) -> Text:
        """The agent, its model, and how far it is."""
        tokens = self.usage.input_tokens + self.usage.output_tokens
        told = f" {self.model}  turn {self.turns}" + (f", {tokens} tokens" if tokens else "")
        ended = f"  ended by {self.reason}" if self.reason not in ("", "goal") else ""
        return Text.assemble((self.agent, "bold"), (told, "dim"), (ended, "yellow"))

    def render(self, tree: Tree) -> None:
        """Add the calls and the text to the tree."""
        for call in self.calls.values():
            call.render(tree)
        for child in self.strays:
            child.render(tree.add(child.head()))


class AgentTree:
    """Sorts the events of a run and of all its children into a tree."""

    def __init__(self) -> None:
        self.root = RunBranch()
        self._runs: dict[tuple[str, ...], RunBranch] = {(): self.root}

    def take(self, event: Event) -> None:
        """Take one event, of the run or of a child at any depth."""
        path: tuple[str, ...] = ()
        while isinstance(event, ChildEvent):
            path, event = (*path, event.run_id), event.event
        if path not in self._runs:
            branch = self._runs[path] = RunBranch()
            self._place(branch, self._runs.get(path[:-1], self.root), event)
        self._runs[path].take(event)

    def render(self) -> RenderableType:
        """The tree, and below it the end of what is being written."""
        tree = Tree(self.root.head(), guide_style="dim")
        self.root.render(tree)
        lines = self.root.text.splitlines()[-TAIL:]
        return Group(tree, Text("\n".join(lines))) if lines else tree

    def _place(self, branch: RunBranch, parent: RunBranch, event: Event) -> None:
        call_id = event.parent_call_id if isinstance(event, RunStart) else None
        call = parent.calls.get(call_id or "")
        (parent.strays if call is None else call.children).append(branch)
