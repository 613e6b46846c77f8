"""What commands share: options, and values shown on one line or as JSON."""

import json
import logging
import os
import stat
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import typer

from dovetail.agents.registry import TrustRecord
from dovetail.assets import find_assets
from dovetail.cli.output import dump_json
from dovetail.data.private_folder import find_data_folder
from dovetail.data.shapes import is_mapping
from dovetail.data.text import cut, to_text
from dovetail.data.visible import show_exactly
from dovetail.errors import ConfigError
from dovetail.policy.mode import read_mode
from dovetail.policy.rule import MODES

_MOST_SHOWN = 200
_MOST_OF_MANY = 60
_TODO_MARKS = {"completed": "✓", "in_progress": "▸"}


def _check(folder: Path | None) -> Path | None:
    if folder is not None and not folder.is_dir():
        raise ConfigError(f"Workspace not found: {folder}", hint="Create the folder, or name another one.")
    return folder


WORKSPACE: Any = typer.Option(None, callback=_check, help="The workspace; by default the current folder.")
MODE: Any = typer.Option(
    None, help=f"The policy mode: {', '.join(MODES)}; by default the one in the settings."
)
MODEL: Any = typer.Option(None, help="The model, such as local:good or openai:gpt-4.1.")
JSON: Any = typer.Option(False, "--json", help="Print JSON.")
PRINT: Any = typer.Option(False, "--print", "-p", help="Print only the answer, for scripts.")
JSON_RESULT: Any = typer.Option(False, "--json", help="Print the answer and its usage as one JSON object.")
JSON_LINES: Any = typer.Option(False, "--jsonl", help="Print every event as a line of JSON, then the result.")


def print_json(data: Any) -> None:
    """Print data as JSON for other programs; moments (`…_at`) become times in UTC."""
    typer.echo(dump_json(_write_times(data), indent=2))


def print_report(data: Mapping[str, Any], *lines: str, as_json: bool) -> None:
    """Print what a command has done: as JSON, or as sentences."""
    if as_json:
        print_json(data)
    else:
        typer.echo("\n".join(lines))


def _write_times(data: Any) -> Any:
    if is_mapping(data):
        return {name: _write_time(name, value) for name, value in data.items()}
    return [_write_times(each) for each in cast(list[Any], data)] if isinstance(data, list | tuple) else data


def _write_time(name: str, value: Any) -> Any:
    if name.endswith("_at") and isinstance(value, float):
        return datetime.fromtimestamp(value, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return _write_times(value)


def read_choices(model: str | None, mode: str | None) -> dict[str, Any]:
    """Return the settings that the options `--model` and `--mode` set."""
    choices: dict[str, Any] = {"model": {"name": model}} if model else {}
    return {**choices, "policy": {"mode": read_mode(mode)}} if mode else choices


def open_record(workspace: Path) -> TrustRecord:
    """Return the record of trusted agent files for a workspace; `DOVETAIL_DATA` moves its file.

    Agents that ship with the package need no acknowledgement, nor do those in an extension folder, whose code
    runs anyway.
    """
    shipped = [folder for name in ("agents", "extensions") if (folder := find_assets(name))]
    return TrustRecord([*shipped, workspace / "extensions"], find_data_folder() / "trusted_agents.json")


def read_piped() -> str:
    """Return the text that is piped in, or comes from a file; a terminal, or no input at all, is not read."""
    try:
        kind = os.fstat(sys.stdin.fileno()).st_mode
    except (OSError, ValueError):
        return ""
    return sys.stdin.read() if stat.S_ISFIFO(kind) or stat.S_ISREG(kind) else ""


def read_value(text: str, schema: Any = None) -> Any:
    """Return the value of a word: text if the schema says so, otherwise JSON if it is valid, else text."""
    if is_mapping(schema) and schema.get("type") == "string":
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text


def shorten(value: Any, most: int = _MOST_SHOWN) -> str:
    """Return a value on one line, cut at a length."""
    return cut(" ".join(show_exactly(to_text(value)).split()), most)


def describe_args(args: Any) -> str:
    """Return the arguments of a call on one line: a single one by its value, several with their names."""
    if not is_mapping(args):
        return shorten(args)
    shown = {name: _describe_argument(value) for name, value in args.items()}
    if len(shown) == 1:
        return shorten(*shown.values())
    return ", ".join(f"{name}: {shorten(value, _MOST_OF_MANY)}" for name, value in shown.items())


def _describe_argument(value: Any) -> Any:
    if isinstance(value, list):
        items = cast(list[Any], value)
        if any(isinstance(each, list | dict) for each in items):
            return f"{len(items)} item{'' if len(items) == 1 else 's'}"
        return items
    return value


def list_todos(name: str, args: Any) -> list[str]:
    """Return the to-do list that a call of `write_todos` has written, an entry per line; empty for others."""
    todos = args.get("todos") if name == "write_todos" and is_mapping(args) else None
    if not isinstance(todos, list):
        return []
    entries = [each for each in cast(list[Any], todos) if is_mapping(each)]
    return [
        f"{_TODO_MARKS.get(str(each.get('status')), '○')} {shorten(each.get('content', ''))}"
        for each in entries
    ]


AGENT_FILES = "dovetail.agents.registry"
"""What logs broken agent files: `dovetail agents check` shows them, and other checks are not about them."""


@contextmanager
def without_logs(*names: str) -> Generator[None]:
    """Do not log what a command shows itself."""
    loggers = [logging.getLogger(name) for name in names]
    before = [logger.disabled for logger in loggers]
    for logger in loggers:
        logger.disabled = True
    try:
        yield
    finally:
        for logger, was_disabled in zip(loggers, before, strict=True):
            logger.disabled = was_disabled


def show_path(path: Path) -> str:
    """Return a path as it is typed here: relative if it is below the current folder."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def show_time(moment: float) -> str:
    """Return a moment in the time zone of this machine."""
    return datetime.fromtimestamp(moment).astimezone().strftime("%Y-%m-%d %H:%M:%S")
