"""What commands share: options, lines of the input, and values shown on one line."""

import asyncio
import json
import logging
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import typer

from dovetail.agents.registry import TrustRecord
from dovetail.assets import find_assets
from dovetail.data.shapes import is_mapping
from dovetail.data.text import cut, to_text
from dovetail.errors import ConfigError
from dovetail.lazy import lazy
from dovetail.policy.mode import read_mode
from dovetail.policy.rule import MODES

platformdirs = lazy("platformdirs")

_MOST_SHOWN = 200
_TODO_MARKS = {"completed": "✓", "in_progress": "▸"}


def _check(folder: Path | None) -> Path | None:
    if folder is not None and not folder.is_dir():
        raise ConfigError(f"Workspace not found: {folder}", hint="Create the folder, or name another one.")
    return folder


WORKSPACE: Any = typer.Option(None, callback=_check, help="The workspace; by default the current folder.")
MODE: Any = typer.Option(
    None, help=f"The policy mode: {', '.join(MODES)}; by default the one in the settings."
)


def read_choices(model: str | None, mode: str | None) -> dict[str, Any]:
    """Return the settings that the options `--model` and `--mode` set."""
    choices: dict[str, Any] = {"model": {"name": model}} if model else {}
    return {**choices, "policy": {"mode": read_mode(mode)}} if mode else choices


def open_record(workspace: Path) -> TrustRecord:
    """Return the record of trusted agent files for a workspace; `DOVETAIL_DATA` moves its file.

    Agents that ship with the package need no acknowledgement, nor do those in an extension folder, whose code
    runs anyway.
    """
    chosen = os.environ.get("DOVETAIL_DATA")
    data = Path(chosen).expanduser() if chosen else Path(platformdirs.user_data_dir("dovetail"))
    shipped = [folder for name in ("agents", "extensions") if (folder := find_assets(name))]
    return TrustRecord([*shipped, workspace / "extensions"], data / "trusted_agents.json")


async def read_line() -> str | None:
    """Return a line of the standard input, None at its end; the wait can be cancelled."""
    loop = asyncio.get_running_loop()
    ready: asyncio.Future[None] = loop.create_future()
    loop.add_reader(sys.stdin.fileno(), lambda: None if ready.done() else ready.set_result(None))
    try:
        await ready
        return sys.stdin.readline() or None
    finally:
        loop.remove_reader(sys.stdin.fileno())


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
    return cut(" ".join(to_text(value).split()), most)


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


def show_size(size: int) -> str:
    """Return a number of bytes as people write it."""
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"
