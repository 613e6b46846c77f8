"""`dovetail agents`: list, show, check, create, trust and run agents."""

import asyncio
import json
import signal
import sys
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.markdown import Markdown
from rich.markup import escape
from rich.table import Table

from dovetail.agents.as_tool import SubagentToolWrapper
from dovetail.agents.definition import (
    AgentDefinition,
    RunConfig,
    convert_input_config_to_json_schema,
    find_unknown_types,
)
from dovetail.agents.file import list_agent_files, load_definition
from dovetail.agents.prepare import choose_tools, find_missing
from dovetail.agents.run import AgentExecutor
from dovetail.app import Dovetail
from dovetail.cli.first_model import FirstModel
from dovetail.cli.run_view import AgentView
from dovetail.cli.scaffold import create_source
from dovetail.cli.terminal import MODE, WORKSPACE, open_record, read_choices, read_value, show_path
from dovetail.concurrency import run_sync
from dovetail.data.shapes import is_mapping
from dovetail.errors import ConfigError
from dovetail.events.run_result import RunResult
from dovetail.requesters.resolve import complete
from dovetail.settings import Settings, find_workspace, open_settings
from dovetail.tools.snapshot import ToolSnapshot

app = typer.Typer(
    name="agents", help="List, show, check, create, trust and run agents.", no_args_is_help=True
)
console = Console(highlight=False, soft_wrap=True)


@app.command("list")
def list_agents() -> None:
    """List all agents, and the files that could not be read."""

    async def collect() -> Dovetail:
        async with Dovetail() as dovetail:
            return dovetail

    agents = run_sync(collect()).agents
    table = Table("agent", "what for", "from", box=None, header_style="bold")
    for definition in agents.get_all_definitions():
        table.add_row(definition.name, definition.description, show_path(Path(definition.source)))
    for definition in agents.get_disabled():
        table.add_row(
            f"{definition.name} (disabled)",
            definition.description,
            show_path(Path(definition.source)),
            style="dim",
        )
    console.print(table)
    for broken in agents.broken:
        word = "[yellow]last good[/yellow]" if broken.keeps_last_good else "[red]left out[/red]"
        console.print(f"{word} {escape(broken.error)}")


@app.command("show")
def show_agent(name: str = typer.Argument(help="The agent's name.")) -> None:
    """Show the inputs, tools, limits and prompt of an agent."""
    definition, tools = run_sync(_find(name))
    limits = definition.run_config
    table = Table.grid(padding=(0, 2))
    table.add_row("name", definition.name)
    table.add_row("description", definition.description)
    table.add_row("from", definition.source)
    table.add_row("model", definition.model_config.model or "the app's own")
    table.add_row("tools", ", ".join(definition.tool_config.names or ()) or _describe_tools(definition))
    table.add_row("may use", ", ".join(choose_tools(definition, tools, ())[0].tools) or "nothing")
    if missing := find_missing(definition, tools):
        table.add_row("[yellow]missing[/yellow]", ", ".join(missing))
    table.add_row("limits", _describe_limits(limits))
    table.add_row("queue", f"{limits.queue}, priority {limits.priority}")
    for schedule in definition.schedules:
        table.add_row("schedule", escape(f"{schedule.cron}: {schedule.message}"))
    table.add_row(
        "inputs", json.dumps(convert_input_config_to_json_schema(definition.input_config), indent=2)
    )
    if definition.output_config is not None:
        table.add_row("output", json.dumps(definition.output_config.schema or {"type": "string"}, indent=2))
    console.print(table)
    console.rule("system prompt", align="left")
    console.print(definition.prompt_config.system_prompt, markup=False)


@app.command("check")
def check_files(files: list[Path] = typer.Argument(help="Agent files.")) -> None:
    """Check agent files; exit code 1 if one is invalid."""
    failed, settings = False, open_settings(None, find_workspace())
    for path in files:
        try:
            definition = load_definition(path)
            _check_model(definition, settings)
            console.print(f"[green]sound[/green]  {path}: agent {definition.name!r}")
            for name, type in find_unknown_types(definition.input_config).items():
                note = f"input {name!r} has the unknown type {type!r}, treated as string"
                console.print(f"[yellow]note[/yellow]   {path}: {note}")
        except ConfigError as error:
            failed = True
            text = str(error) if str(path) in error.message else f"{path}: {error}"
            console.print(f"[red]broken[/red] {escape(text)}")
    raise typer.Exit(1 if failed else 0)


def _check_model(definition: AgentDefinition, settings: Settings) -> None:
    """Check the provider of a model's name; which one knows a bare name depends on the keys at run time."""
    model = definition.model_config.model or ""
    if ":" in model:
        complete(model, settings)


@app.command("new")
def new_agent(
    name: str = typer.Argument(help="The name of the agent."), workspace: Path | None = WORKSPACE
) -> None:
    """Create an agent in `agents/` that works and that other agents can call."""
    path = create_source("agents", name, workspace).path
    typer.echo(f"wrote {path}")
    typer.echo(f"Check it with `dovetail agents check {show_path(path)}`, run it with:")
    typer.echo(f'dovetail agents run {name} "What is in this folder?"')


@app.command("trust")
def trust_files() -> None:
    """Acknowledge the agent files of this folder, so that a server for other users loads them."""
    workspace = find_workspace()
    files = list_agent_files(workspace / "agents")
    fresh = open_record(workspace).acknowledge(files)
    for path in files:
        is_new = path.resolve() in fresh
        console.print(f"{'acknowledged' if is_new else 'unchanged'}  {path.relative_to(workspace)}")
    if not files:
        console.print(f"No agent files in {workspace / 'agents'}.")


@app.command("run")
def run_agent(
    name: str = typer.Argument(help="The agent's name."),
    inputs: list[str] = typer.Argument(None, help="Inputs as key=value."),
    model: str | None = typer.Option(None, help="The model, such as local:small or openai:gpt-4.1."),
    plain: bool = typer.Option(False, "--plain", help="Print only the result."),
    mode: str | None = MODE,
) -> None:
    """Run an agent and show its turns, tools and sub-agents live; Ctrl-C cancels it."""
    dovetail = Dovetail(read_choices(model, mode))
    FirstModel(dovetail.settings).prepare()
    view = AgentView(console, quiet=plain)
    output = asyncio.run(_run(dovetail, name, inputs or [], view))
    if plain or console.is_terminal or output.data is not None:
        show_result(console, output, plain=plain)
    if output.reason != "goal":
        why = output.exception or output.notice or ""
        typer.secho(f"ended by {output.reason}: {why}", fg="red", err=True)
        raise typer.Exit(130 if output.reason == "cancelled" else 1)
    if output.notice is not None:
        typer.secho(f"answered after a limit ({output.limit}): {output.notice}", fg="yellow", err=True)


def show_result(console: Console, output: RunResult, *, plain: bool) -> None:
    """Print the result: data as JSON, text as Markdown if in a terminal."""
    if plain or output.data is not None or not console.is_terminal:
        is_data = output.data is not None and not isinstance(output.data, str)
        typer.echo(json.dumps(output.data, ensure_ascii=False, indent=2) if is_data else output.text)
    else:
        console.print(Markdown(output.text))


async def _find(name: str) -> tuple[AgentDefinition, ToolSnapshot]:
    async with Dovetail() as dovetail:
        return dovetail.agents.get_definition(name), dovetail.tools.snapshot()


async def _run(dovetail: Dovetail, name: str, words: list[str], view: AgentView) -> RunResult:
    stopped = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGINT, stopped.set)
    async with dovetail:
        await dovetail.open_book()
        definition = dovetail.agents.get_definition(name)
        schema = convert_input_config_to_json_schema(definition.input_config)
        inputs = read_inputs(words, schema)
        SubagentToolWrapper(definition, dovetail).build(inputs)
        with view:
            ask = view.ask if sys.stdin.isatty() else None
            executor = await AgentExecutor.create(definition, dovetail, view.show, ask=ask)
            return await executor.run(inputs, stopped)


def read_inputs(words: list[str], schema: dict[str, Any]) -> dict[str, Any]:
    """Return `key=value` words as an agent's inputs, by their types; a single text is the only input."""
    properties: Any = schema.get("properties")
    known: dict[str, Any] = dict(properties) if is_mapping(properties) else {}
    if len(known) == 1 and len(words) == 1 and "=" not in words[0]:
        return {next(iter(known)): words[0]}
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


def _describe_limits(limits: RunConfig) -> str:
    shown = {
        "turns": limits.max_turns,
        "seconds": limits.max_seconds,
        "tokens": limits.max_tokens,
        "cost": limits.max_cost,
        "calls": limits.max_calls,
        "cost per day": limits.max_cost_per_day,
        "calls per day": limits.max_calls_per_day,
    }
    return ", ".join(f"{name} {value:g}" for name, value in shown.items() if value is not None) or "none"


def _describe_tools(definition: AgentDefinition) -> str:
    return "none" if definition.tool_config.names == () else "all tools of its caller"
