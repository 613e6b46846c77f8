"""What a command's options choose over the settings: the model and the mode of the policy."""

from typing import Any

import typer

from dovetail.bus.mode import read_mode
from dovetail.bus.rule import MODES

MODE: Any = typer.Option(
    None, help=f"The mode of the policy: {', '.join(MODES)}; by default that of the settings."
)


def read_choices(model: str | None, mode: str | None) -> dict[str, Any]:
    """The settings that the options stand for."""
    choices: dict[str, Any] = {"model": {"name": model}} if model else {}
    return {**choices, "policy": {"mode": read_mode(mode)}} if mode else choices
