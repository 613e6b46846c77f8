"""The option of the commands that work in a folder."""

from pathlib import Path
from typing import Any

import typer

from dovetail.errors import ConfigError


def _check(folder: Path | None) -> Path | None:
    if folder is not None and not folder.is_dir():
        raise ConfigError(f"there is no folder {folder} to work in", hint="Make it, or name another one.")
    return folder


WORKSPACE: Any = typer.Option(None, callback=_check, help="The folder to work in; else the current one.")
