"""`dovetail doctor`: diagnoses the installation."""

from collections.abc import Iterator
from dataclasses import asdict

import typer

from dovetail.cli import checks
from dovetail.cli.checks import Check, check_models
from dovetail.cli.terminal import JSON, print_json
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
        typer.secho(f"{check.mark:8}", fg=COLORS[check.mark], nl=False)
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
    yield checks.check_policy()
    yield from checks.check_agents()
    yield from check_models()
