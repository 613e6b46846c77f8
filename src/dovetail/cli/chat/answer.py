"""An answer on the screen: text as Markdown, calls and agents as lines that are live until they end.

What is complete is printed once and scrolls away; the open block of the text, the calls at work and the
seconds are drawn again and again below it.
"""

import asyncio
import time

from rich.console import Group, RenderableType
from rich.text import Text

from dovetail.cli.chat.blocks import BlockStream, is_table
from dovetail.cli.chat.look import FRAMES, one_line, trim_rows
from dovetail.cli.chat.plain import describe_output
from dovetail.cli.chat.screen import Screen
from dovetail.cli.run_view import (
    CUT_ANSWERS,
    MARKS,
    OTHER_MARK,
    AgentTree,
    CallLine,
    RunBranch,
    describe_usage,
)
from dovetail.cli.task_view import TaskView
from dovetail.cli.terminal import describe_args, list_todos, shorten
from dovetail.data.shapes import is_mapping
from dovetail.data.text import cut
from dovetail.data.visible import show_controls, show_on_line
from dovetail.events.delta import Usage
from dovetail.events.model_events import (
    ReasoningDeltaEvent,
    ReasoningEnd,
    TextDeltaEvent,
    TextEnd,
    ToolInputDeltaEvent,
    ToolInputEnd,
    ToolInputStart,
)
from dovetail.events.run_events import (
    AskAnswer,
    AskRequest,
    ChildEvent,
    Entry,
    Event,
    RunEnd,
    ToolEnd,
    ToolStart,
    TurnEnd,
    TurnReset,
    UserMessage,
)
from dovetail.sessions.chunks import error_text, shown_output
from dovetail.tools.ask_user import ask_user

_REASONING_ROWS = 4
_CHILD_CALLS = 3


class AnswerView:
    """Shows the events of one run on a screen."""

    def __init__(self, screen: Screen, tasks: TaskView) -> None:
        self._screen = screen
        self._tasks = tasks
        self._tree = AgentTree()
        self._blocks = BlockStream()
        self._follows_line = False  # lines follow each other without an empty one
        self._printed_rows = 0  # of the open block, which is longer than the screen
        self._reasoning = ""
        self._thinking_since = 0.0
        self._writing = ""
        self._written = 0
        self._started: dict[str, float] = {}
        self._names: dict[str, str] = {}
        self._asks: dict[str, str] = {}
        self._began = time.monotonic()
        self.usage = Usage()
        self._finish_reason = ""  # of the last turn
        self.is_ended = False

    def take(self, entry: Entry) -> None:
        """Show one entry of the run's journal."""
        event: Event = entry.event
        for run_id in reversed(entry.path[1:]):
            event = ChildEvent(run_id, event)
        self._tree.take(event)
        if not isinstance(event, ChildEvent):
            self._take_text(event, entry.time)
            self._take_call(event)
            self._take_turn(event)
        self._screen.app.invalidate()

    def render(self, width: int, rows: int) -> str:
        """Return what is live: the open block, what is at work, and for how long."""
        if self.is_ended or self._screen.shown_question is not None:
            return ""
        parts: list[RenderableType] = list(self._render_calls())
        below = self._screen.look.render(Group(*parts, self._render_progress()), width).rstrip("\n")
        above = self._render_open(width, rows - below.count("\n") - 3)
        return f"{above}\n\n{below}" if above else f"\n{below}"

    def flush(self) -> None:
        """Print the open block: something else comes below it."""
        rest = self._blocks.finish()
        if rest.strip():
            self._print_block(rest)

    def _take_text(self, event: Event, moment: float) -> None:
        if isinstance(event, TextDeltaEvent):
            for block in self._blocks.feed(show_controls(event.delta)):
                self._print_block(block)
        elif isinstance(event, ReasoningDeltaEvent):
            self._thinking_since = self._thinking_since or moment
            self._reasoning += show_controls(event.delta)
        elif isinstance(event, ReasoningEnd) and self._reasoning.strip():
            self._print(one_line((f"∴ Thought for {moment - self._thinking_since:.0f} s", "dim")))
            self._reasoning, self._thinking_since = "", 0.0
        elif isinstance(event, TextEnd | TurnEnd | RunEnd):
            self.flush()

    def _take_call(self, event: Event) -> None:
        if isinstance(event, ToolInputStart):
            self.flush()
            self._writing, self._written = show_on_line(event.name), 0
            self._started[event.call_id] = time.monotonic()
            self._names[event.call_id] = event.name
        elif isinstance(event, ToolInputDeltaEvent):
            self._written += len(event.delta)
        elif isinstance(event, ToolInputEnd):
            self._writing = ""
        elif isinstance(event, ToolStart):
            self._started[event.call_id] = time.monotonic()  # an approval took its own time
        elif isinstance(event, AskRequest):
            self._asks[event.ask_id] = event.call_id
        elif isinstance(event, AskAnswer):
            self._take_edit(event)
        elif isinstance(event, ToolEnd):
            self.flush()
            self._print(*self._fold(event))

    def _take_edit(self, event: AskAnswer) -> None:
        """Show a call with the input that the person has given it."""
        call = self._tree.root.calls.get(self._asks.get(event.ask_id, ""))
        if call is not None and is_mapping(event.value) and event.value.get("edited_args") is not None:
            call.args = event.value["edited_args"]

    def _take_turn(self, event: Event) -> None:
        if isinstance(event, TurnEnd):
            self.usage = self.usage + event.usage
            self._finish_reason = event.finish_reason
        elif isinstance(event, UserMessage):
            text = str(event.parts[-1 if event.kind == "steer" else 0].get("text", "")).partition("\n")[0]
            mark = "> " if event.kind == "steer" else ""
            self._print(one_line((f"{mark}{show_controls(text)}", "dim")))
        elif isinstance(event, TurnReset):
            self._blocks.finish()
            self._print(one_line(("The answer was interrupted and begins again.", "dim")))
        elif isinstance(event, RunEnd):
            self.is_ended = True
            self._show_end(event)

    def _show_end(self, event: RunEnd) -> None:
        if event.error is not None:
            hint = f"\n{event.error['hint']}" if event.error.get("hint") else ""
            self._screen.console.print(Text.assemble((f"\nError: {event.error['message']}", "red"), hint))
        elif event.reason == "cancelled":
            self._print(one_line(("Stopped.", "yellow")))
        elif event.reason == "goal" and event.limit is None and event.notice is not None:
            self._print(Text(event.notice, "yellow"))
        elif event.reason != "goal" or event.notice is not None:
            reached = f": {event.notice}" if event.notice else ""
            self._print(Text(f"({event.limit or event.reason}{reached})", "dim"))
        elif cut_answer := CUT_ANSWERS.get(self._finish_reason):
            self._print(Text(cut_answer, "yellow"))

    def _fold(self, event: ToolEnd) -> list[RenderableType]:
        """Return a call that has ended as one line, and a list of things to do below it."""
        unfinished = CallLine(show_on_line(self._names.get(event.call_id, "call")), {})
        call = self._tree.root.calls.get(event.call_id, unfinished)
        mark, style = MARKS.get(event.status, OTHER_MARK)
        todos = list_todos(call.name, call.args)
        described = "" if todos else cut(describe_args(call.args), self._screen.width // 2)
        shown = self._describe_result(event, call)
        end = (f" → {shown}", "dim" if event.status == "ok" else "red") if shown and not todos else ""
        time = (f" {event.duration:.1f} s", "dim") if event.duration >= 1 else ""
        head = one_line((f"{mark} ", style), (call.name, "tool"), f" {described}".rstrip(), time, end)
        return [head, *(one_line(f"  {todo}") for todo in todos)]

    def _describe_result(self, event: ToolEnd, call: CallLine) -> str:
        if event.status != "ok":
            return shorten(error_text(event))
        if call.name == ask_user.name:
            return ""  # its questions and their answers stand above
        if (started := self._tasks.take(shown_output(event))) is not None:
            return started
        result = shorten(describe_output(event))
        work = _count_work(call.children)
        return f"{cut(result, self._screen.width // 2)} ({work})" if work else result

    def _render_open(self, width: int, room: int) -> str:
        """Return the end of the block that is being written, or of the reasoning."""
        if self._reasoning:
            lines = self._screen.look.render(Text(self._reasoning.strip(), "dim italic"), width).split("\n")
            return "\n".join(["", *lines[-min(_REASONING_ROWS, max(room, 1)) :]])
        if not self._blocks.tail.strip():
            return ""
        lines = self._render_block(self._blocks.tail, width)
        excess = len(lines) - max(room, 2)
        if excess > self._printed_rows and not is_table(self._blocks.tail):
            asyncio.get_running_loop().call_soon(self._print_excess, width, excess)
        return "\n".join(lines[max(excess, self._printed_rows, 0) :])

    def _print_excess(self, width: int, rows: int) -> None:
        """Print the beginning of a block that has grown longer than the screen."""
        lines = self._render_block(self._blocks.tail, width)[self._printed_rows : rows]
        if lines:
            self._printed_rows = rows
            self._write("\n".join(lines) + "\n")

    def _print_block(self, text: str) -> None:
        lines = self._render_block(text, self._screen.width)[self._printed_rows :]
        self._printed_rows = 0
        if lines:
            self._write("\n".join(lines) + "\n")

    def _render_block(self, text: str, width: int) -> list[str]:
        """Return the lines of a block after an empty one."""
        look = self._screen.look
        rows = trim_rows(look.render(look.markdown(text), width))
        return ["", *rows] if rows else []

    def _render_calls(self) -> list[RenderableType]:
        running = {key: call for key, call in self._tree.root.calls.items() if call.status == "running"}
        lines: list[RenderableType] = []
        for call_id, call in running.items():
            since = time.monotonic() - self._started.get(call_id, self._began)
            lines.append(_draw_call(call, f" {since:.0f} s"))
            for child in call.children:
                lines += _draw_branch(child, 1)
        return lines

    def _render_progress(self) -> Group:
        is_writing = self._writing and self._written
        waiting = self._tree.root.progress or "Working"
        what = f"Writing the input of {self._writing}" if is_writing else waiting
        size = f", {self._written} characters" if is_writing else ""
        seconds = time.monotonic() - self._began
        return one_line((f"{_frame()} {what}{size}, {seconds:.0f} s", "ask"), ("  Esc stops", "dim"))

    def _print(self, *lines: RenderableType) -> None:
        if not self._follows_line:
            self._screen.console.print()
        self._follows_line = True
        for line in lines:
            self._screen.console.print(line)

    def _write(self, text: str) -> None:
        self._follows_line = False
        self._screen.console.file.write(text)
        self._screen.console.file.flush()


def _draw_branch(branch: RunBranch, depth: int) -> list[RenderableType]:
    """Return an agent at work: its progress, its last calls, and the agents that these run."""
    indent = "  " * depth
    lines = list[RenderableType]()
    if branch.agent:
        lines.append(one_line(indent, branch.head()))
    for call in list(branch.calls.values())[-_CHILD_CALLS:]:
        lines.append(_draw_call(call, "", f"{indent}  "))
        if call.status == "running":
            for child in call.children:
                lines += _draw_branch(child, depth + 2)
    return lines


def _draw_call(call: CallLine, seconds: str, indent: str = "") -> Group:
    mark, style = (_frame(), "ask") if call.status == "running" else MARKS.get(call.status, OTHER_MARK)
    args = "" if list_todos(call.name, call.args) else f" {describe_args(call.args)}"
    return one_line(indent, (f"{mark} ", style), (call.name, "tool"), (seconds, "dim"), (args, "dim"))


def _count_work(runs: list[RunBranch]) -> str:
    """Return how much agents have done: calls, tokens and cost; empty if nothing."""
    usage, calls = Usage(), 0
    for run in runs:
        usage, calls = usage + run.usage, calls + len(run.calls)
    done = f"{calls} call{'' if calls == 1 else 's'}" if calls else ""
    return ", ".join(part for part in (done, describe_usage(usage)) if part)


def _frame() -> str:
    return FRAMES[int(time.monotonic() * 10) % len(FRAMES)]
