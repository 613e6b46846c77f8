"""What is read from a terminal: a line, a value, or whether a call may run; and values shown in it."""

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.markup import escape

from dovetail.agents.registry import TrustRecord
from dovetail.assets import find_assets
from dovetail.data.shapes import is_mapping
from dovetail.data.text import cut, to_text
from dovetail.errors import ConfigError
from dovetail.lazy import lazy
from dovetail.policy.mode import read_mode
from dovetail.policy.rule import MODES

_YES = ("y", "yes")
_ALWAYS = ("a", "always")
_MOST_SHOWN = 200
_MOST_ASKED = 4000


async def read_line() -> str | None:
    """A line from the standard input, None at its end; waiting for it can be cancelled."""
    loop = asyncio.get_running_loop()
    ready: asyncio.Future[None] = loop.create_future()
    loop.add_reader(sys.stdin.fileno(), lambda: None if ready.done() else ready.set_result(None))
    try:
        await ready
        return sys.stdin.readline() or None
    finally:
        loop.remove_reader(sys.stdin.fileno())


async def ask_person(console: Console, payload: Mapping[str, Any]) -> Mapping[str, Any]:
    """Ask whether a call may run; the end of the input means no."""
    who = " → ".join(map(str, payload.get("agent_path", ())))
    asks = f"[yellow]{escape(who)}[/yellow] asks: may it call" if who else "[yellow]May this run?[/yellow]"
    called = f"{payload.get('tool')} {shorten(payload.get('args'), _MOST_ASKED)}"
    reason = f" [dim]({escape(str(payload['reason']))})[/dim]" if payload.get("reason") else ""
    console.print(f"{asks} {escape(called)}{reason}", soft_wrap=True, highlight=False)
    console.print(r"\[y]es, \[a]lways, \[N]o: ", end="", highlight=False)
    answer = (await read_line() or "").strip().lower()
    return {
        "approved": answer in (*_YES, *_ALWAYS),
        "remember": "always" if answer in _ALWAYS else "once",
    }


def read_value(text: str, schema: Any = None) -> Any:
    """What a word of the command line stands for: text where the schema says so, else JSON if it is any."""
    if is_mapping(schema) and schema.get("type") == "string":
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text


def shorten(value: Any, most: int = _MOST_SHOWN) -> str:
    """A value on one line, cut at a length."""
    return cut(" ".join(to_text(value).split()), most)


def _check(folder: Path | None) -> Path | None:
    if folder is not None and not folder.is_dir():
        raise ConfigError(f"there is no folder {folder} to work in", hint="Make it, or name another one.")
    return folder


WORKSPACE: Any = typer.Option(None, callback=_check, help="The folder to work in; else the current one.")


platformdirs = lazy("platformdirs")


def open_record(workspace: Path) -> TrustRecord:
    """The record for a workspace; agents that ship with the package need nobody's word, nor do those that
    stand beside the code of an extension folder, which runs anyway. `DOVETAIL_DATA` moves the file."""
    chosen = os.environ.get("DOVETAIL_DATA")
    data = Path(chosen).expanduser() if chosen else Path(platformdirs.user_data_dir("dovetail"))
    shipped = [folder for name in ("agents", "extensions") if (folder := find_assets(name))]
    return TrustRecord([*shipped, workspace / "extensions"], data / "trusted_agents.json")


MODE: Any = typer.Option(
    None, help=f"The mode of the policy: {', '.join(MODES)}; by default that of the settings."
)


def read_choices(model: str | None, mode: str | None) -> dict[str, Any]:
    """The settings that the options stand for."""
    choices: dict[str, Any] = {"model": {"name": model}} if model else {}
    return {**choices, "policy": {"mode": read_mode(mode)}} if mode else choices
