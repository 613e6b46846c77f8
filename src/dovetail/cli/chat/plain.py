"""Answers without a screen: for pipes, files, scripts and programs.

As `text` the answer streams to the standard output, and what is done for it to the error stream. `answer` is
the finished answer only, `json` one object about it, `jsonl` every event of the run, one per line, and then
that object. In a terminal, the error stream also says how far the model is before its first token.
"""

import asyncio
import contextlib
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Literal, TypeAlias

import typer

from dovetail.app import Dovetail
from dovetail.cli.exits import find_exit
from dovetail.cli.output import Console, dump_json, open_styled
from dovetail.cli.questions import ask_person
from dovetail.cli.run_view import CUT_ANSWERS, MARKS, OTHER_MARK, describe_progress
from dovetail.cli.terminal import describe_args, list_todos, shorten
from dovetail.data.shapes import is_mapping
from dovetail.data.text import to_text
from dovetail.data.visible import show_on_line
from dovetail.errors import ConflictError
from dovetail.events.model_events import ModelProgress, TextDeltaEvent, TextEnd, ToolInputEnd
from dovetail.events.run_events import AskRequest, Entry, Event, ToolEnd, UserMessage
from dovetail.events.run_result import RunResult
from dovetail.runs.run import RunHandle
from dovetail.sessions.chunks import error_text, shown_output
from dovetail.sessions.request import StartedChat
from dovetail.settings import LOCAL_OWNER

Form: TypeAlias = Literal["text", "answer", "json", "jsonl"]
_CLEAR_LINE = "\x1b[K"
NO_ANSWER: Mapping[str, Any] = {
    "status": "failed",
    "errorText": "No person can be asked: the terminal is not interactive.",
}
"""The answer to a question that no one was there to read."""


def choose_form(is_print: bool, as_json: bool, as_lines: bool) -> Form | None:
    """Return the form that the options `--print`, `--json` and `--jsonl` ask for, if any.

    Raises:
        BadParameter: two of them ask for different things.
    """
    if as_json and as_lines:
        raise typer.BadParameter("Use either --json or --jsonl.", param_hint="--json")
    return "json" if as_json else "jsonl" if as_lines else "answer" if is_print else None


def describe_result(result: RunResult, place: Mapping[str, Any], unanswered: int = 0) -> dict[str, Any]:
    """Return the end of a run as JSON data; `place` names it."""
    return {
        **place,
        "response": result.value,
        "reason": result.reason,
        "notice": result.notice,
        "error": None if result.error is None else dict(result.error),
        "unanswered": unanswered,
        "turns": result.turns,
        "duration": round(result.duration, 3),
        "usage": asdict(result.usage),
    }


def print_result(form: Form, data: Mapping[str, Any]) -> None:
    """Print the end of a run as JSON: as an object of its own, or as the last line of events."""
    line, indent = ({"type": "result", **data}, None) if form == "jsonl" else (data, 2)
    print(dump_json(line, indent))


class PlainAnswer:
    """Shows one answer to its end."""

    def __init__(self, app: Dovetail, form: Form = "text", owner: str = LOCAL_OWNER) -> None:
        self._app = app
        self._form = form
        self._owner = owner
        self._errors = Console(stderr=True, highlight=False)
        self._names: dict[str, str] = {}
        self._unanswered: list[Mapping[str, Any]] = []
        self._progress = ""
        self._tasks: set[asyncio.Task[None]] = set()

    async def follow(self, started: StartedChat | RunHandle) -> int:
        """Show an answer to its end; return the exit code."""
        run = started.handle if isinstance(started, StartedChat) else started
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, self._stop, run.run_id)
        try:
            async with await self._app.runs.read(run.run_id) as reader:
                while not reader.ended:
                    for entry in await reader.next():
                        await self._take(entry)
            result = await run.result()
        finally:
            loop.remove_signal_handler(signal.SIGINT)
        self._finish(result, started)
        return find_exit(result.reason, unanswered=len(self._unanswered))

    async def _take(self, entry: Entry) -> None:
        event = entry.event
        if len(entry.path) == 1:
            self._show_progress(event)
        if self._form == "jsonl":
            print(dump_json(entry.to_dict()), flush=True)
        elif self._form == "text" and len(entry.path) == 1:
            self._show(event)
        if isinstance(event, AskRequest):
            with contextlib.suppress(ConflictError):  # it was answered elsewhere
                await self._app.runs.asks.answer(event.ask_id, await self._ask(event), owner=self._owner)

    async def _ask(self, event: AskRequest) -> Mapping[str, Any]:
        if event.kind == "browser" or (self._form == "text" and sys.stdin.isatty()):
            return await ask_person(self._errors, event.kind, event.payload)
        self._unanswered.append(event.payload)
        return NO_ANSWER

    def _show_progress(self, event: Event) -> None:
        """Write how far the model is over the last line of a terminal; remove it when something happens."""
        progress = describe_progress(event) if isinstance(event, ModelProgress) else ""
        if progress != self._progress and sys.stderr.isatty():
            print(f"\r{_CLEAR_LINE}{progress}", end="", file=open_styled(sys.stderr), flush=True)
        self._progress = progress

    def _show(self, event: Event) -> None:
        if isinstance(event, TextDeltaEvent):
            print(event.delta, end="", flush=True)
        elif isinstance(event, TextEnd):
            print(flush=True)
        elif isinstance(event, ToolInputEnd):
            todos = list_todos(event.name, event.args)
            self._names[event.call_id] = event.name
            self._tell(f"• {show_on_line(event.name)} {'' if todos else describe_args(event.args)}".rstrip())
            for todo in todos:
                self._tell(f"  {todo}")
        elif isinstance(event, ToolEnd):
            mark, style = MARKS.get(event.status, OTHER_MARK)
            shown = describe_output(event) if event.status == "ok" else error_text(event)
            self._tell(f"{mark} {show_on_line(self._names.get(event.call_id, ''))} → {shorten(shown)}", style)
        elif isinstance(event, UserMessage):
            self._tell(shorten(event.parts[0].get("text", "")), "dim")

    def _finish(self, result: RunResult, started: StartedChat | RunHandle) -> None:
        if self._form in ("json", "jsonl"):
            place: dict[str, Any] = {"run_id": started.run_id}
            if isinstance(started, StartedChat):
                place |= {"session_id": started.session_id, "message_id": started.message_id}
            data = describe_result(result, place, len(self._unanswered))
            print_result(self._form, data)
        elif self._form == "answer" and result.value is not None:
            print(to_text(result.value))
        explain_end(self._errors, result, self._unanswered)

    def _tell(self, text: str, style: str = "") -> None:
        self._errors.print(text, style=style, markup=False, soft_wrap=True)

    def _stop(self, run_id: str) -> None:
        task = asyncio.create_task(self._cancel(run_id))
        self._tasks.add(task)

    async def _cancel(self, run_id: str) -> None:
        with contextlib.suppress(ConflictError):  # it has just ended
            await self._app.runs.cancel(run_id)


def explain_end(errors: Console, result: RunResult, unanswered: Sequence[Mapping[str, Any]]) -> None:
    """Write to the error stream why a run did not succeed; `unanswered` are the payloads of its open asks."""
    if result.error is not None:
        errors.print(f"Error: {result.error['message']}", style="red", markup=False, soft_wrap=True)
        if result.error.get("hint"):
            errors.print(str(result.error["hint"]), markup=False, soft_wrap=True)
    elif result.reason == "cancelled":
        errors.print("Stopped.", style="yellow")
    elif result.reason != "goal":
        why = result.exception or result.notice or ""
        errors.print(
            f"Ended by {result.reason}: {why}".rstrip(": "), style="red", markup=False, soft_wrap=True
        )
    elif result.notice is not None:
        reached = "" if result.limit is None else "A limit was reached: "
        errors.print(f"{reached}{result.notice}", style="yellow", markup=False, soft_wrap=True)
    elif cut_answer := CUT_ANSWERS.get(result.finish_reason):
        errors.print(cut_answer, style="yellow", soft_wrap=True)
    for line in explain_unanswered(unanswered):
        errors.print(line, style="yellow", markup=False, soft_wrap=True)


def explain_unanswered(asks: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the lines that name what no one was there to approve or to answer, and how to allow the calls."""
    tools: dict[str, None] = {}
    for ask in asks:
        name = show_on_line(str(ask.get("tool") or "A tool"))
        if "args" not in ask:
            yield f"{name} asked a question, and no one was there to answer it."
            continue
        call = f"{name} {describe_args(ask['args'])}".rstrip()
        yield f"This call needed approval, and no one was there to give it: {call}"
        tools[name] = None
    if tools:
        rules = "".join(f'\n[[rule]]\ntool = "{name}"\naction = "allow"' for name in tools)
        yield f"Use --mode yolo, or add to policy.toml:{rules}"


def describe_output(event: ToolEnd) -> Any:
    """Return what the line of a call says of its result; a difference was shown with the approval."""
    shown = shown_output(event)
    return event.result["llm_content"] if is_mapping(shown) and "diff" in shown else shown
