"""`dovetail agents`: list, show, check, create, trust and run agents."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import typer
from rich.markup import escape
from rich.table import Table

from dovetail.agents.catalog import find_tool_problems
from dovetail.agents.definition import (
    INHERIT,
    AgentDefinition,
    RunConfig,
    convert_input_config_to_json_schema,
    find_unknown_types,
)
from dovetail.agents.file import find_ignored, list_agent_files, list_skills, load_definition, locate
from dovetail.agents.prepare import choose_tools, find_missing, find_tools
from dovetail.agents.registry import check_servers
from dovetail.app import Dovetail
from dovetail.cli.commands.run import run_agent
from dovetail.cli.output import Console, dump_json
from dovetail.cli.scaffold import create_source, find_list
from dovetail.cli.terminal import (
    AGENT_FILES,
    JSON,
    WORKSPACE,
    open_record,
    print_json,
    print_report,
    show_path,
    without_logs,
)
from dovetail.concurrency import run_sync
from dovetail.data.shapes import is_mapping
from dovetail.data.text import explain_unknown
from dovetail.errors import ConfigError
from dovetail.requesters.resolve import complete
from dovetail.settings import Settings, find_workspace, open_settings
from dovetail.tools.snapshot import ToolSnapshot

app = typer.Typer(
    name="agents", help="List, show, check, create, trust and run agents.", no_args_is_help=True
)
console = Console(highlight=False, soft_wrap=True)

_SHOWN_BY_OTHERS = ("dovetail.app", AGENT_FILES, "dovetail.extensions.loader")
"""What these log about a workspace is the subject of other commands, or of the check itself."""


@app.command("list")
def list_agents(as_json: bool = JSON) -> None:
    """List all agents, and the files that could not be read."""

    async def collect() -> Dovetail:
        async with Dovetail() as dovetail:
            return dovetail

    with without_logs(AGENT_FILES):
        agents = run_sync(collect()).agents
    if as_json:
        found = [*agents.get_all_definitions(), *agents.get_disabled()]
        disabled = {definition.name for definition in agents.get_disabled()}
        print_json(
            {
                "agents": [{**_summarize(each), "disabled": each.name in disabled} for each in found],
                "errors": [{"path": broken.path, "message": broken.error} for broken in agents.broken],
            }
        )
        return
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
def show_agent(name: str = typer.Argument(help="The agent's name."), as_json: bool = JSON) -> None:
    """Show the inputs, tools, limits and prompt of an agent."""
    definition, tools = run_sync(_find(name))
    limits = definition.run_config
    if as_json:
        print_json(
            {
                **_summarize(definition),
                "may_use": list(choose_tools(definition, tools, ())[0].tools),
                "missing": list(find_missing(definition, tools)),
                "limits": asdict(limits),
                "inputs": convert_input_config_to_json_schema(definition.input_config),
                "system_prompt": definition.prompt_config.system_prompt,
            }
        )
        return
    table = Table.grid(padding=(0, 2))
    table.add_row("name", definition.name)
    table.add_row("description", definition.description)
    table.add_row("from", definition.source)
    table.add_row("model", _describe_model(definition))
    table.add_row("tools", ", ".join(definition.tool_config.names or ()) or _describe_tools(definition))
    if servers := definition.tool_config.mcp_servers:
        table.add_row("MCP servers", ", ".join(servers))
    table.add_row("may use", ", ".join(choose_tools(definition, tools, ())[0].tools) or "nothing")
    if missing := find_missing(definition, tools):
        table.add_row("[yellow]missing[/yellow]", ", ".join(missing))
    table.add_row("limits", _describe_limits(limits))
    table.add_row("queue", f"{limits.queue}, priority {limits.priority}")
    for schedule in definition.schedules:
        table.add_row("schedule", escape(f"{schedule.cron}: {schedule.message}"))
    table.add_row("inputs", dump_json(convert_input_config_to_json_schema(definition.input_config), indent=2))
    if definition.output_config is not None:
        table.add_row("output", dump_json(definition.output_config.schema or {"type": "string"}, indent=2))
    console.print(table)
    console.rule("system prompt", align="left")
    console.print(definition.prompt_config.system_prompt, markup=False)


@app.command("check")
def check_files(files: list[Path] = typer.Argument(help="Agent files."), as_json: bool = JSON) -> None:
    """Check agent files and all names in them; exit code 1 if a file is invalid.

    A tool that does not exist (yet) is a notice.
    """
    settings = open_settings(None, find_workspace())
    sound: dict[Path, AgentDefinition] = {}
    problems: list[dict[str, str]] = []
    for path in files:
        try:
            definition = load_definition(path)
            _check_model(definition, settings)
            check_servers(definition, settings)
            sound[path] = definition
        except ConfigError as error:
            text = str(error) if str(path) in error.message else f"{path}: {error}"
            problems.append({"path": str(path), "kind": "broken", "text": text})
    for path, notices in run_sync(_find_notices(sound, settings)).items():
        problems += ({"path": str(path), "kind": "notice", "text": each} for each in notices)
    if as_json:
        agents = {str(path): definition.name for path, definition in sound.items()}
        print_json({"problems": problems, "agents": agents})
    else:
        for path, definition in sound.items():
            console.print(f"[green]ok[/green]     {path}: agent {definition.name!r}")
        for problem in problems:
            colour = "red" if problem["kind"] == "broken" else "yellow"
            console.print(f"[{colour}]{problem['kind']}[/{colour}] {escape(problem['text'])}")
    raise typer.Exit(1 if any(problem["kind"] == "broken" for problem in problems) else 0)


async def _find_notices(
    definitions: Mapping[Path, AgentDefinition], settings: Settings
) -> dict[Path, list[str]]:
    """Return what of sound files has another meaning than their authors may expect."""
    notices = {path: [*_note(path, each, settings)] for path, each in definitions.items()}
    naming = [path for path, each in definitions.items() if each.tool_config.written or list_skills(path)]
    if naming:
        with without_logs(*_SHOWN_BY_OTHERS):
            async with Dovetail() as dovetail:
                for path in naming:
                    notices[path] += find_tool_problems(dovetail, definitions[path])
                    notices[path] += _find_unknown_skills(dovetail, path)
    return notices


def _find_unknown_skills(dovetail: Dovetail, path: Path) -> list[str]:
    known = [skill.name for skill in dovetail.skills.list()]
    return [
        f"{locate(path, name)}: {explain_unknown('skill', name, known)}"
        for name in list_skills(path)
        if dovetail.skills.get(name) is None
    ]


def _note(path: Path, definition: AgentDefinition, settings: Settings) -> Iterator[str]:
    """Yield what can be said without an app."""
    if ignored := find_ignored(path):
        yield f"{locate(path, ignored[0])}: these keys have no effect here: {', '.join(ignored)}"
    for name, type in find_unknown_types(definition.input_config).items():
        yield f"{locate(path, name)}: input {name!r} has the unknown type {type!r}, treated as string"
    config, model = definition.tool_config, definition.model_config.model or INHERIT
    if config.names is None and is_mapping(config.tools) and all(config.tools.values()) and config.tools:
        yield (
            f"{locate(path, 'tools')}: `tools` switches none off, so the agent has all tools of its caller. "
            'Add `"*": false` to give it only these.'
        )
    if model != INHERIT and ":" not in model:
        try:
            complete(model, settings)
        except ConfigError as error:
            yield f"{locate(path, model)}: {error}"


def _check_model(definition: AgentDefinition, settings: Settings) -> None:
    """Check the provider of a model's name; which one knows a bare name depends on the keys at run time."""
    model = definition.model_config.model or ""
    if ":" in model:
        try:
            complete(model, settings)
        except ConfigError as error:
            raise ConfigError(
                f"{locate(definition.source, model)}: {error.message}", hint=error.hint
            ) from error


@app.command("new")
def new_agent(
    name: str = typer.Argument(help="The name of the agent."),
    workspace: Path | None = WORKSPACE,
    as_json: bool = JSON,
) -> None:
    """Create an agent in `agents/` that works and that other agents can call."""
    path = create_source("agents", name, workspace).path
    place = run_sync(_find_list(name, workspace))
    add = f"{place} lists its tools: add `{name}` and what it uses to `tools:`, and the assistant calls it."
    print_report(
        {"name": name, "path": str(path), "add_to": place},
        f"wrote {path}",
        f"Check it with `dovetail agents check {show_path(path)}`, run it with:",
        f'dovetail run {name} "Which files are here?"',
        *([add] if place else []),
        as_json=as_json,
    )


async def _find_list(name: str, workspace: Path | None) -> str | None:
    async with Dovetail(workspace=workspace) as dovetail:
        return find_list(dovetail, name)


@app.command("trust")
def trust_files(as_json: bool = JSON) -> None:
    """Trust the agent files of this folder, so that a server for other users loads them."""
    workspace = find_workspace()
    files = list_agent_files(workspace / "agents")
    fresh = open_record(workspace).acknowledge(files)
    states = {
        str(path.relative_to(workspace)): "trusted" if path.resolve() in fresh else "unchanged"
        for path in files
    }
    print_report(
        {"files": [{"path": path, "state": state} for path, state in states.items()]},
        *(f"{state}  {path}" for path, state in states.items()),
        *([] if files else [f"No agent files in {workspace / 'agents'}."]),
        *(["A running server uses them from the next chat on."] if fresh else []),
        as_json=as_json,
    )


app.command("run")(run_agent)


def _summarize(definition: AgentDefinition) -> dict[str, Any]:
    names = definition.tool_config.names
    return {
        "name": definition.name,
        "title": definition.display_name or definition.name,
        "description": definition.description,
        "model": definition.model_config.model,
        "tools": ["*"] if names is None else list(names),
        "source": definition.source,
    }


async def _find(name: str) -> tuple[AgentDefinition, ToolSnapshot]:
    async with Dovetail() as dovetail:
        definition = dovetail.agents.get_definition(name)
        return definition, find_tools(dovetail, None, definition)


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


def _describe_model(definition: AgentDefinition) -> str:
    model = definition.model_config.model
    return "its caller's" if model == INHERIT else model or "the app's own"


def _describe_tools(definition: AgentDefinition) -> str:
    config = definition.tool_config
    if config.names == ():
        return "none"
    off = [name for name in config.written if config.refuses(name)]
    return "all tools of its caller" + (f" but {', '.join(off)}" if off else "")
