"""`dovetail run`: run an agent on a task, and show its turns, tools and sub-agents live."""

import asyncio
import signal
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer
from rich.markdown import Markdown

from dovetail.agents.as_tool import SubagentToolWrapper
from dovetail.agents.definition import convert_input_config_to_json_schema
from dovetail.agents.run import AgentExecutor
from dovetail.app import Dovetail
from dovetail.cli.chat.plain import NO_ANSWER, Form, choose_form, describe_result, explain_end, print_result
from dovetail.cli.exits import find_exit
from dovetail.cli.first_model import FirstModel
from dovetail.cli.output import Console, dump_json
from dovetail.cli.run_view import AgentView
from dovetail.cli.terminal import (
    JSON_LINES,
    JSON_RESULT,
    MODE,
    MODEL,
    WORKSPACE,
    read_choices,
    read_piped,
    read_value,
)
from dovetail.data.shapes import is_mapping
from dovetail.errors import ConfigError
from dovetail.events.run_events import AskKind, ChildEvent, Entry, Event
from dovetail.events.run_result import RunResult

app = typer.Typer()
console = Console(highlight=False, soft_wrap=True)
errors = Console(stderr=True, highlight=False, soft_wrap=True)


@app.command("run")
def run_agent(  # noqa: PLR0913 - every option of the command is one
    name: str = typer.Argument(help="The agent's name."),
    inputs: list[str] = typer.Argument(None, help="The task, or key=value for an agent with several inputs."),
    model: str | None = MODEL,
    plain: bool = typer.Option(False, "--print", "-p", "--plain", help="Print the result only, for scripts."),
    as_json: bool = JSON_RESULT,
    as_lines: bool = JSON_LINES,
    mode: str | None = MODE,
    workspace: Path | None = WORKSPACE,
) -> None:
    """Run an agent on a task and show its turns, tools and sub-agents live; Ctrl-C cancels it.

    Piped text is the task, or is sent along with it: git diff | dovetail run reviewer "Review this".
    """
    form = choose_form(plain, as_json, as_lines)
    dovetail = Dovetail(read_choices(model, mode), workspace=workspace)
    FirstModel(dovetail.settings).prepare()
    view = RunOutput(form)
    output = asyncio.run(_run(dovetail, name, inputs or [], view))
    view.finish(name, output)
    raise typer.Exit(find_exit(output.reason, unanswered=len(view.unanswered)))


class RunOutput:
    """What a run prints: a live tree, or only its result, or JSON."""

    def __init__(self, form: Form | None) -> None:
        self.view = AgentView(console, quiet=form is not None)
        self.unanswered: list[Mapping[str, Any]] = []
        self._form = form
        self._number = 0

    def show(self, event: Event) -> None:
        """Show one event of the run."""
        if self._form != "jsonl":
            self.view.show(event)
            return
        self._number += 1
        path: tuple[str, ...] = ()
        while isinstance(event, ChildEvent):
            path, event = (*path, event.run_id), event.event
        entry = Entry(self._number, path[-1] if path else "", path, time.time(), event)
        print(dump_json(entry.to_dict()), flush=True)

    async def ask(
        self, kind: AskKind, call_id: str, payload: Mapping[str, Any], time_limit: float | None
    ) -> Mapping[str, Any]:
        """Ask the person at the terminal; in a script, say that no one is there."""
        if self._form in (None, "answer") and sys.stdin.isatty():
            return await self.view.ask(kind, call_id, payload, time_limit)
        self.unanswered.append(payload)
        return NO_ANSWER

    def finish(self, name: str, output: RunResult) -> None:
        """Print the result, and why there is none."""
        if self._form in ("json", "jsonl"):
            print_result(self._form, describe_result(output, {"agent": name}, len(self.unanswered)))
        elif self._form == "answer" or console.is_terminal or output.data is not None:
            show_result(output, plain=self._form == "answer")
        explain_end(errors, output, self.unanswered)


def show_result(output: RunResult, *, plain: bool) -> None:
    """Print the result: data as JSON, text as Markdown if in a terminal."""
    if plain or output.data is not None or not console.is_terminal:
        is_data = output.data is not None and not isinstance(output.data, str)
        typer.echo(dump_json(output.data, indent=2) if is_data else output.text)
    else:
        console.print(Markdown(output.text, hyperlinks=False))


async def _run(dovetail: Dovetail, name: str, words: list[str], output: RunOutput) -> RunResult:
    stopped = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGINT, stopped.set)
    async with dovetail:
        await dovetail.open_book()
        definition = dovetail.agents.get_definition(name)
        schema = convert_input_config_to_json_schema(definition.input_config)
        inputs = read_inputs(words, schema, read_piped())
        SubagentToolWrapper(definition, dovetail).build(inputs)
        with output.view:
            executor = await AgentExecutor.create(definition, dovetail, output.show, ask=output.ask)
            return await executor.run(inputs, stopped)


def read_inputs(words: list[str], schema: dict[str, Any], piped: str = "") -> dict[str, Any]:
    """Return `key=value` words as an agent's inputs, by their types; a single text is the only input.

    What is `piped` in is that text, or follows it.
    """
    properties: Any = schema.get("properties")
    known: dict[str, Any] = dict(properties) if is_mapping(properties) else {}
    is_task = len(known) == 1 and not any(word.partition("=")[0] in known and "=" in word for word in words)
    if is_task and (words or piped):
        (name, rule), task = next(iter(known.items())), " ".join(words)
        context = f'<file name="stdin">\n{piped}\n</file>' if task and piped else piped
        return {name: read_value("\n\n".join(text for text in (task, context) if text), rule)}
    inputs: dict[str, Any] = {}
    for word in words:
        key, equals, text = word.partition("=")
        if not equals or key not in known:
            raise ConfigError(f"Unknown input {word!r}.", hint=f"Usage: {_usage(known)}")
        inputs[key] = read_value(text, known[key])
    missing = [key for key in schema.get("required", []) if key not in inputs]
    if missing:
        raise ConfigError(f"Missing input {missing[0]!r}.", hint=f"Usage: {_usage(known)}")
    return inputs


def _usage(known: dict[str, Any]) -> str:
    return " ".join(f"{key}=…" for key in known) or "no inputs"
