"""`dovetail tools`: list, show and call tools, and explain policy decisions."""

import logging
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any

import typer
from rich.markup import escape
from rich.table import Table

from dovetail.app import Dovetail
from dovetail.cli.output import Console, dump_json
from dovetail.cli.questions import ask_person
from dovetail.cli.terminal import JSON, print_json, print_report, read_value
from dovetail.concurrency import run_sync
from dovetail.data.shapes import is_mapping
from dovetail.errors import ConfigError
from dovetail.events.call import ToolCall
from dovetail.events.run_context import RunContext
from dovetail.events.run_events import AskKind, Event, ToolProgress
from dovetail.ids import new_id
from dovetail.policy.inspection import describe_decision
from dovetail.policy.mode import read_mode
from dovetail.policy.rule import MODES, Mode
from dovetail.settings import LOCAL_OWNER
from dovetail.tools.pipeline.approve import describe_trial
from dovetail.tools.pipeline.prepare import find_tool
from dovetail.tools.result import describe_outcome, to_json_text
from dovetail.tools.tool import CallOutcome, Tool

app = typer.Typer(
    name="tools", help="List, show and call tools, and explain policy decisions.", no_args_is_help=True
)
console = Console(highlight=False, soft_wrap=True)
errors = Console(stderr=True, highlight=False, soft_wrap=True)

_MODE = typer.Option("default", help=f"The policy mode: {', '.join(MODES)}.")
_ARGUMENTS = typer.Argument(None, help="Arguments as key=value, or one JSON object.")


@app.command("list")
def list_tools(as_json: bool = JSON) -> None:
    """List all tools with kind, origin and description."""

    async def collect() -> tuple[list[Tool], Mapping[str, str]]:
        async with Dovetail() as dovetail:
            tools = list(await dovetail.get_tool_registry().discover_all_tools())
            return tools, dict(dovetail.mcp.problems)

    tools, problems = run_sync(collect())
    if as_json:
        failed = [{"source": f"mcp:{name}", "message": problem} for name, problem in problems.items()]
        print_json({"tools": [_describe(tool) for tool in tools], "errors": failed})
        return
    table = Table("tool", "kind", "from", "what for", box=None, header_style="bold")
    for tool in tools:
        lines = tool.description.strip().splitlines()
        table.add_row(tool.name, tool.kind.value, tool.origin, escape(lines[0]) if lines else "")
    console.print(table)
    for name, problem in problems.items():
        errors.print(f"[red]left out[/red] MCP server {escape(name)}: {escape(problem)}")


@app.command("show")
def show_tool(name: str = typer.Argument(help="The tool's name."), as_json: bool = JSON) -> None:
    """Show one tool with its parameters."""

    async def find() -> Tool:
        async with Dovetail() as dovetail:
            return find_tool(name, dovetail.get_tool_registry().snapshot())

    tool = run_sync(find())
    if as_json:
        print_json({**_describe(tool), "time_limit": tool.time_limit})
        return
    grid = Table.grid(padding=(0, 2))
    limit = "none" if tool.time_limit is None else f"{tool.time_limit:g} s"
    for label, value in (
        ("name", tool.name),
        ("title", tool.title),
        ("kind", tool.kind.value),
        ("from", tool.owner),
        ("tags", ", ".join(tool.tags)),
        ("time limit", limit),
        ("description", tool.description),
        ("parameters", dump_json(dict(tool.parameters), indent=2)),
    ):
        grid.add_row(label, escape(value))
    console.print(grid)


@app.command("call")
def call_tool(
    name: str = typer.Argument(help="The tool's name."),
    arguments: list[str] = _ARGUMENTS,
    mode: str = _MODE,
    yes: bool = typer.Option(False, "--yes", "-y", help="Approve the call if the policy asks."),
    as_json: bool = JSON,
) -> None:
    """Call a tool through the whole pipeline and print its result."""
    outcome = run_sync(_call(name, arguments or [], read_mode(mode), yes))
    if as_json:
        print_json(describe_outcome(outcome))
        raise typer.Exit(1 if outcome.result.error is not None else 0)
    if outcome.result.error is not None:
        errors.print(f"[red]{outcome.status}[/red] {escape(outcome.result.error.message)}")
        if outcome.result.data == {"needs": "approval"}:
            errors.print("Approve it with --yes, or run this in a terminal to be asked.")
        raise typer.Exit(1)
    content = outcome.result.llm_content
    typer.echo(content if isinstance(content, str) else to_json_text(content))


@app.command("explain")
def explain_call(
    name: str = typer.Argument(help="The tool's name."),
    arguments: list[str] = _ARGUMENTS,
    agent: str = typer.Option("", help="The path of the calling agent, such as master/scout."),
    mode: str = _MODE,
    as_json: bool = JSON,
) -> None:
    """Show which policy rule decides a call, and why earlier rules do not apply."""

    async def explain() -> tuple[dict[str, Any], str]:
        async with Dovetail() as dovetail:
            tool = find_tool(name, dovetail.get_tool_registry().snapshot())
            agents = tuple(filter(None, agent.split("/")))
            given = read_arguments(arguments or [], tool)
            call = describe_trial(tool, given, agents, read_mode(mode), LOCAL_OWNER)
            policy = dovetail.runtime.policy
            return describe_decision(policy, call, dovetail.workspace), str(policy.explain(call))

    data, text = run_sync(explain())
    print_report(data, text, as_json=as_json)


async def _call(name: str, words: list[str], mode: Mode, approve: bool) -> CallOutcome:
    async with Dovetail() as dovetail:
        await dovetail.open_book()
        snapshot = dovetail.get_tool_registry().snapshot()
        tool = find_tool(name, snapshot)
        arguments = read_arguments(words, tool)
        call = ToolCall(call_id=new_id("call"), name=tool.name, arguments=arguments)
        can_ask = approve or sys.stdin.isatty()
        scope = RunContext(
            owner=LOCAL_OWNER, mode=mode, emit=_show, ask=(_approve if approve else _ask) if can_ask else None
        )
        with _showing_repairs():
            return await dovetail.runtime.runner.run_call(snapshot, call, scope)


def _describe(tool: Tool) -> dict[str, Any]:
    return {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "kind": tool.kind.value,
        "origin": tool.origin,
        "tags": list(tool.tags),
        "needs_tab": tool.needs_tab,
        "parameters": dict(tool.parameters),
    }


class _RepairHandler(logging.Handler):
    """Shows how an invalid call was repaired: the user may have meant something else."""

    def emit(self, record: logging.LogRecord) -> None:
        errors.print(f"[yellow]{escape(record.getMessage())}[/yellow]")


@contextmanager
def _showing_repairs() -> Generator[None]:
    logger, handler = logging.getLogger("dovetail.tools"), _RepairHandler()
    handler.addFilter(lambda record: record.getMessage().startswith("[tool-repair]"))
    before = logger.level
    logger.setLevel(logging.INFO)
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)


def read_arguments(words: list[str], tool: Tool) -> dict[str, Any]:
    """Return `key=value` words, or one JSON object, as arguments; a value is text if the schema says so."""
    if len(words) == 1 and words[0].lstrip().startswith("{"):
        value = read_value(words[0])
        if is_mapping(value):
            return dict(value)
    arguments: dict[str, Any] = {}
    properties = tool.parameters.get("properties")
    for word in words:
        key, equals, text = word.partition("=")
        if not equals:
            known = " ".join(f"{name}=…" for name in properties) if is_mapping(properties) else ""
            raise ConfigError(
                f"Invalid argument {word!r} of {tool.name!r}.", hint=f"Usage: {known or 'no arguments'}"
            )
        arguments[key] = read_value(text, properties.get(key) if is_mapping(properties) else None)
    return arguments


def _show(event: Event) -> None:
    if isinstance(event, ToolProgress):
        errors.print(f"[dim]{escape(str(event.output))}[/dim]")


async def _approve(
    kind: AskKind, call_id: str, payload: Mapping[str, Any], seconds: float | None
) -> Mapping[str, Any]:
    return {"approved": kind == "approval"}


async def _ask(
    kind: AskKind, call_id: str, payload: Mapping[str, Any], seconds: float | None
) -> Mapping[str, Any]:
    return await ask_person(errors, kind, payload)
