"""`dovetail prompt`: render and check prompt files."""

import json
from pathlib import Path

import typer

from dovetail.errors import PromptError, PromptSyntaxError, PromptTypeError
from dovetail.prompt.check import PromptProblem, find_alias_problems, find_doubts, find_problems
from dovetail.prompt.source import Source, guess_format, read_source
from dovetail.prompts.draft import Draft

app = typer.Typer(name="prompt", help="Render and check prompt files.", no_args_is_help=True)

_FILE = typer.Argument(help="A YAML or JSON prompt file.", show_default=False)
_VARIABLES = typer.Option(None, "--var", metavar="NAME=VALUE", help="A value for a placeholder ${NAME}.")
_KEY = typer.Option(None, "--key", help="The part of the file that holds the prompt, as a dotted path.")


@app.command("render")
def render(
    file: Path = _FILE,
    messages: bool = typer.Option(False, "--messages", help="Show the chat messages as JSON."),
    rich: bool = typer.Option(False, "--rich", help="Show the messages with their content in parts."),
    variables: list[str] | None = _VARIABLES,
    key: str | None = _KEY,
) -> None:
    """Render a prompt file as text or messages."""
    draft = Draft(read_source(file, guess_format(file)), _read_variables(variables), key)
    draft.check_aliases()
    for message in (*draft.doubts.values(), *draft.skipped.values()):
        typer.echo(message, err=True)
    if messages or rich:
        typer.echo(json.dumps(draft.prompt.to_messages(rich_content=rich), indent=2, ensure_ascii=False))
    else:
        typer.echo(draft.prompt.to_text())


@app.command("check")
def check(file: Path = _FILE, variables: list[str] | None = _VARIABLES, key: str | None = _KEY) -> None:
    """Check a prompt file; problems have line and column. Exit code 1 if there is an error."""
    problems = _check(read_source(file, guess_format(file)), _read_variables(variables), key)
    for problem in sorted(problems, key=lambda problem: (problem.line or 0, problem.column or 0)):
        typer.echo(f"{file}:{problem}")
    if not problems:
        typer.echo(f"{file}: no problems found")
    if any(problem.kind == "error" for problem in problems):
        raise typer.Exit(1)


def _check(source: Source, variables: dict[str, str], key: str | None) -> list[PromptProblem]:
    try:
        draft = Draft(source, variables, key)
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
