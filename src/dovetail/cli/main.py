"""The `dovetail` command: loads only the requested group and turns errors into messages.

A group is a module `cli/commands/<name>.py` with a typer app called `app`, and a line in `GROUPS`. A group of
several commands is `typer.Typer(name="models")`; a single command is an unnamed app with one
`@app.command("doctor")`.
"""

import io
import sys
import traceback
from collections.abc import Sequence
from importlib import import_module
from itertools import takewhile
from typing import Any, NoReturn, TypeGuard

import typer

from dovetail.cli.output import dump_json, guarded, print_styled
from dovetail.data.clean import clean_text
from dovetail.data.text import report_error as describe_error
from dovetail.errors import DovetailError
from dovetail.lazy import install_command
from dovetail.version import __version__

GROUPS: dict[str, str] = {
    "init": "Create a project that runs at once, from a template.",
    "serve": "Serve the page and the HTTP interface.",
    "worker": "Process runs that web processes have queued.",
    "chat": "Chat with an agent in the terminal, or get a single answer.",
    "run": "Run an agent on a task.",
    "models": "List, check, download and locate models.",
    "ext": "List, show, check, create and reload extension folders.",
    "skills": "List, show and create skills, and explain name resolution.",
    "prompt": "List, render, check and create prompts.",
    "agents": "List, show, check, create, trust and run agents.",
    "policy": "Check and list rules; revoke remembered approvals.",
    "schedules": "List, add, show, pause, resume, run and remove schedules.",
    "tools": "List, show and call tools, and explain policy decisions.",
    "mcp": "Serve the tools of the workspace over MCP.",
    "runs": "List, show, message and cancel runs, including background runs.",
    "usage": "Show tokens and cost by day, model, agent or owner.",
    "store": "Inspect, prune, back up and restore the database.",
    "settings": "List all settings, their values and sources.",
    "doctor": "Check the installation and report what is missing.",
}
"""The groups with their help texts; `dovetail.cli.commands.<name>` is imported if the group is requested."""


_SETTINGS: dict[str, Any] = {"help_option_names": ["-h", "--help"]}


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit with its code: docs/terminal.md lists them."""
    words = [clean_text(word) for word in (sys.argv[1:] if arguments is None else arguments)]
    _take_any_text()
    with guarded():
        _run(words)
    sys.exit(0)


def _run(words: list[str]) -> None:
    options = list(takewhile(lambda word: word.startswith("-"), words))
    asked = words[len(options)] if len(options) < len(words) else None
    try:
        command = typer.main.get_command(build_app(asked))
        _hide_flag_types(command)
        command.main(args=words, prog_name="dovetail")
    except KeyboardInterrupt:
        sys.exit(130)
    except Exception as error:
        if "--debug" in options:
            traceback.print_exc()
        report_error(error)
        if not {"--json", "--jsonl"}.isdisjoint(words):
            typer.echo(dump_json({"error": _describe(_find_cause(error))}))
        sys.exit(1)


def _take_any_text() -> None:
    """Replace invalid UTF-8 in the standard streams instead of failing."""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def build_app(asked: str | None) -> typer.Typer:
    """Build the root app: the requested group in full, of the others only name and help text."""
    app = typer.Typer(no_args_is_help=True, add_completion=False, context_settings=_SETTINGS)
    app.callback()(_root_options)
    for name, summary in GROUPS.items():
        if name == asked:
            group: typer.Typer = import_module(f"dovetail.cli.commands.{name}").app
            app.add_typer(group)
        else:
            app.command(name, help=summary)(_not_asked)
    return app


def _hide_flag_types(command: Any) -> None:
    """Show flags without the type of a value in `--help`: they take none."""
    for option in command.get_params(command.context_class(command, **_SETTINGS)):
        if getattr(option, "is_flag", False):
            option.metavar = ""
    for below in getattr(command, "commands", {}).values():
        _hide_flag_types(below)


def report_error(error: BaseException) -> None:
    """Write one message to the error stream: what happened, then what to do."""
    error = _find_cause(error)
    if isinstance(error, DovetailError):
        print_styled(f"Error: {error.message}", "red", is_error=True)
        if error.hint:
            typer.echo(error.hint, err=True)
    elif isinstance(error, ModuleNotFoundError):
        print_styled(f"Error: Package {error.name!r} is not installed.", "red", is_error=True)
        typer.echo(
            f"`dovetail doctor` shows what is missing. Install everything with:\n{install_command('all')}",
            err=True,
        )
    elif isinstance(error, ImportError):
        print_styled(f"Error: {error}", "red", is_error=True)
    else:
        print_styled(f"Unexpected error: {type(error).__name__}: {error}", "red", is_error=True)
        typer.echo("Run `dovetail --debug …` for a stack trace.", err=True)


def _describe(error: BaseException) -> dict[str, Any]:
    """Return an error for programs."""
    if isinstance(error, DovetailError):
        return describe_error(error)
    return {"type": "internal_error", "message": f"{type(error).__name__}: {error}"}


def _find_cause(error: BaseException) -> BaseException:
    """Return our own error inside a group of errors, if any."""
    if not _is_group(error):
        return error
    causes = [_find_cause(member) for member in error.exceptions]
    return next((cause for cause in causes if isinstance(cause, DovetailError)), causes[0])


def _is_group(error: BaseException) -> TypeGuard[BaseExceptionGroup[BaseException]]:
    return isinstance(error, BaseExceptionGroup)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"dovetail {__version__}")
        raise typer.Exit


def _root_options(
    version: bool = typer.Option(
        False, "--version", help="Show the version.", callback=_show_version, is_eager=True
    ),
    debug: bool = typer.Option(False, "--debug", help="Show the stack trace of an error."),
) -> None:
    """Dovetail: build, run and serve agents."""


def _not_asked() -> None:
    """Stand for a group in the list of commands."""
