"""`dovetail doctor`: says what is there, what is missing and what to do."""

import platform

import typer

from dovetail.requesters import weights

app = typer.Typer()


@app.command("doctor")
def doctor() -> None:
    """Say what is there, what is missing and what to do."""
    typer.echo(f"ok   Python {platform.python_version()}")
    best = weights.find_best()
    if best is None:
        typer.echo("miss embedded model: dovetail models pull good")
        raise typer.Exit(1)
    typer.echo(f"ok   embedded model local:{best}")
