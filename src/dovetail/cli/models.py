"""`dovetail models`: the embedded models."""

import typer

from dovetail.requesters import weights

app = typer.Typer(name="models", help="The embedded models.", no_args_is_help=True)


@app.command("list")
def list_models() -> None:
    """Show the embedded models and which of them are here."""
    best = weights.find_best()
    for name, entry in weights.CATALOGUE.items():
        size = f"{entry.size / 1e9:.1f} GB" if entry.size > 1e9 else f"{entry.size / 1e6:.0f} MB"
        state = "here" if weights.find(name) else "not fetched"
        default = ", used by default" if name == best else ""
        typer.echo(f"{entry.model:12}  {entry.title:36}  {size:>7}  {state}{default}")


@app.command("path")
def show_path(name: str | None = typer.Argument(None, help="A model; without it, the folder.")) -> None:
    """Print where the weights lie."""
    typer.echo(weights.cache_folder() if name is None else weights.require(name))
