"""`dovetail settings`: all settings, their present values and where these come from."""

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import typer

from dovetail.cli.output import print_styled
from dovetail.cli.terminal import JSON, WORKSPACE, print_json
from dovetail.data.secrets import MASK, SecretMask, hide_passwords
from dovetail.data.text import did_you_mean
from dovetail.errors import ConfigError
from dovetail.settings import find_workspace, open_settings, read_settings_file
from dovetail.settings.describe import SettingRow, find_source, list_settings, list_values, show_value

app = typer.Typer()


@app.command("settings")
def show_settings(
    prefix: str = typer.Argument("", help="Only settings of this section or key, such as `server`."),
    values: bool = typer.Option(False, "--values", help="Show current values and their sources."),
    workspace: Path | None = WORKSPACE,
    as_json: bool = JSON,
) -> None:
    """List all settings with type, default and description."""
    rows = [row for row in list_settings() if _is_below(row.key, prefix)]
    if not rows:
        keys = [row.key for row in list_settings()]
        meant = did_you_mean(prefix, [*keys, *{key.partition(".")[0] for key in keys}], most=1)
        raise ConfigError(f"Unknown setting {prefix!r}. {meant}".strip(), hint="List all: dovetail settings")
    if as_json:
        found = {key: value for key, value, _ in _list_values(prefix, find_workspace(workspace))}
        print_json([{**asdict(row), "variable": row.variable, "value": found.get(row.key)} for row in rows])
    elif values:
        for key, value, source in _list_values(prefix, find_workspace(workspace)):
            typer.echo(f"{key} = {value}  ({source})")
    else:
        for row in rows:
            _show_row(row)


def _show_row(row: SettingRow) -> None:
    print_styled(row.key, "bold", end="")
    typer.echo(f"  {row.type}" + (f", default {row.default}" if row.default else ""))
    if row.description:
        typer.echo(f"    {row.description}")
    if row.variable:
        typer.echo(f"    Environment: {row.variable}")


def _list_values(prefix: str, workspace: Path) -> Iterator[tuple[str, str, str]]:
    """Yield the keys with their values and sources; secrets are masked."""
    settings = open_settings(None, workspace)
    file = read_settings_file(workspace / "dovetail.toml")
    mask = SecretMask.of(settings)
    for key, value in list_values(settings).items():
        if _is_below(key, prefix):
            yield key, _show(value, mask), find_source(key, settings, file)


def _show(value: Any, mask: SecretMask) -> str:
    return MASK if value == MASK else hide_passwords(mask.apply(show_value(value) or "none"))


def _is_below(key: str, prefix: str) -> bool:
    return not prefix or key == prefix or key.startswith(f"{prefix}.")
