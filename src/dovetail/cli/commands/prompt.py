"""`dovetail prompt`: list, render, check and create prompts."""

from dataclasses import asdict
from pathlib import Path

import typer
from rich.table import Table

from dovetail.app import Dovetail
from dovetail.cli.output import Console, dump_json
from dovetail.cli.scaffold import create_source
from dovetail.cli.terminal import JSON, WORKSPACE, print_json, print_report, show_path
from dovetail.concurrency import run_sync
from dovetail.errors import PromptError, PromptSyntaxError, PromptTypeError
from dovetail.prompt.check import PromptProblem, find_alias_problems, find_doubts, find_problems
from dovetail.prompt.source import Source, guess_format, read_source
from dovetail.prompts.draft import Draft
from dovetail.prompts.file import find_samples
from dovetail.prompts.library import PromptLibrary, describe_problem, describe_prompt

app = typer.Typer(name="prompt", help="List, render, check and create prompts.", no_args_is_help=True)

_FILE = typer.Argument(help="A YAML or JSON prompt file.", show_default=False)
_VARIABLES = typer.Option(None, "--var", metavar="NAME=VALUE", help="A value for a placeholder ${NAME}.")
_KEY = typer.Option(None, "--key", help="The part of the file that holds the prompt, as a dotted path.")


@app.command("list")
def list_prompts(workspace: Path | None = WORKSPACE, as_json: bool = JSON) -> None:
    """List the prompts of the library, and the files that are invalid."""

    async def collect() -> PromptLibrary:
        async with Dovetail(workspace=workspace) as dovetail:
            return dovetail.prompts

    library = run_sync(collect())
    if as_json:
        errors = [describe_problem(each) for each in library.problems]
        print_json({"prompts": [describe_prompt(each) for each in library.list()], "errors": errors})
        return
    console = Console(highlight=False, soft_wrap=True)
    table = Table("prompt", "what for", "from", box=None, header_style="bold")
    for prompt in library.list():
        table.add_row(prompt.name, prompt.description or prompt.title, show_path(prompt.path))
    console.print(table)
    for problem in library.problems:
        console.print("[red]left out[/red] ", end="")
        console.print(problem.message, markup=False)


@app.command("render")
def render(
    file: Path = _FILE,
    messages: bool = typer.Option(False, "--messages", help="Show the chat messages as JSON."),
    rich: bool = typer.Option(False, "--rich", help="Show the messages with their content in parts."),
    variables: list[str] | None = _VARIABLES,
    key: str | None = _KEY,
    as_json: bool = typer.Option(False, "--json", help="Print text and messages as one JSON object."),
) -> None:
    """Render a prompt file as text or messages."""
    draft = Draft(read_source(file, guess_format(file)), _read_variables(variables), key)
    draft.check_aliases()
    for message in (*draft.doubts.values(), *draft.skipped.values()):
        typer.echo(message, err=True)
    if as_json:
        sent = draft.prompt.to_messages(rich_content=rich)
        print_json({"text": draft.prompt.to_text(), "messages": sent})
    elif messages or rich:
        typer.echo(dump_json(draft.prompt.to_messages(rich_content=rich), indent=2))
    else:
        typer.echo(draft.prompt.to_text())


@app.command("check")
def check(
    files: list[Path] = typer.Argument(help="YAML or JSON prompt files.", show_default=False),
    variables: list[str] | None = _VARIABLES,
    key: str | None = _KEY,
    as_json: bool = JSON,
) -> None:
    """Check prompt files; problems have line and column. Exit code 1 if there is an error."""
    found: list[tuple[Path, PromptProblem]] = []
    for file in files:
        problems = _check(read_source(file, guess_format(file)), _read_variables(variables), key)
        problems.sort(key=lambda problem: (problem.line or 0, problem.column or 0))
        found += [(file, problem) for problem in problems]
        if not as_json:
            for problem in problems or ["no problems found"]:
                is_placed = isinstance(problem, PromptProblem) and problem.line
                typer.echo(f"{file}:{problem}" if is_placed else f"{file}: {problem}")
    if as_json:
        print_json({"problems": [{"path": str(file), **asdict(problem)} for file, problem in found]})
    raise typer.Exit(1 if any(problem.kind == "error" for _, problem in found) else 0)


@app.command("new")
def new_prompt(
    name: str = typer.Argument(help="The name of the prompt."),
    workspace: Path | None = WORKSPACE,
    as_json: bool = JSON,
) -> None:
    """Create a prompt in `prompts/`, which the page offers."""
    path = create_source("prompts", name, workspace).path
    print_report(
        {"name": name, "path": str(path)},
        f"wrote {path}",
        f"Check it with `dovetail prompt check {show_path(path)}`.",
        as_json=as_json,
    )


def _check(source: Source, variables: dict[str, str], key: str | None) -> list[PromptProblem]:
    try:
        samples = {} if key else find_samples(source)
        draft = Draft(source, {**samples, **variables}, key)
    except PromptSyntaxError as error:
        return [PromptProblem(message=error.problem, line=error.line, column=error.column)]
    except (PromptError, PromptTypeError) as error:
        return [PromptProblem(message=error.message.removeprefix(f"{source.name}: "))]
    return [
        *find_problems(source, draft.prompt, key),
        *find_alias_problems(source, draft.refused, key, "error"),
        *find_alias_problems(source, draft.unknown, key),
        *find_doubts(source, draft.doubts, key),
    ]


def _read_variables(pairs: list[str] | None) -> dict[str, str]:
    values: dict[str, str] = {}
    for pair in pairs or ():
        name, equals, value = pair.partition("=")
        if not equals or not name.strip():
            raise typer.BadParameter(f"{pair!r} is not NAME=VALUE", param_hint="--var")
        values[name.strip()] = value
    return values
