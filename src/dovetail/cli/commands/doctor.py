"""`dovetail doctor`: diagnoses the installation."""

from collections.abc import Iterator
from dataclasses import asdict

import typer

from dovetail.cli import checks
from dovetail.cli.checks import Check, check_models
from dovetail.cli.output import print_styled
from dovetail.cli.service_checks import check_service, check_settings
from dovetail.cli.terminal import JSON, print_json
from dovetail.settings import find_workspace
from dovetail.settings.settings import open_valid_settings
from dovetail.version import __version__

COLORS = {"ok": "green", "note": "yellow", "missing": "red"}

app = typer.Typer()


@app.command("doctor")
def doctor(as_json: bool = JSON) -> None:
    """Check the installation; exit code 1 if something required is missing."""
    if as_json:
        found = list(_run_checks())
        print_json({"version": __version__, "checks": [asdict(check) for check in found]})
        raise typer.Exit(1 if any(check.mark == "missing" for check in found) else 0)
    typer.echo(f"dovetail {__version__}")
    missing = 0
    for check in _run_checks():
        missing += check.mark == "missing"
        print_styled(f"{check.mark:8}", COLORS[check.mark], end="")
        typer.echo(f"{check.subject:16} {check.text}")
        if check.hint:
            typer.echo(f"{'':25}→ {check.hint}")
    if missing:
        raise typer.Exit(1)


def _run_checks() -> Iterator[Check]:
    yield checks.check_python()
    yield from checks.check_extras()
    yield checks.check_page()
    yield checks.check_pip()
    yield from checks.check_weights()
    yield checks.check_disk()
    yield checks.check_memory()
    yield checks.check_policy()
    workspace = find_workspace()
    settings, errors = open_valid_settings(workspace)
    yield from check_settings(errors)
    yield from check_service(workspace, settings)
    yield from check_models(settings)
