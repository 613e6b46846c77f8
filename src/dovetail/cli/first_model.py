"""The model of a first start: the small one at once, the good one as soon as it is downloaded."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import typer
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from dovetail.concurrency import run_sync
from dovetail.requesters.local.download import BackgroundPull, PullProgress, pull
from dovetail.requesters.local.weights import CATALOGUE, find, find_best, get_weights, remove_corrupt
from dovetail.requesters.model_status import ModelStatus
from dovetail.requesters.resolve import resolve
from dovetail.settings import Settings
from dovetail.settings.model import ModelSettings


def pull_visibly(name: str) -> Path:
    """Download a model unless it is there, with a progress bar; return its weights file."""
    weights = get_weights(name)
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as bars:
        bar = bars.add_task(weights.model, total=weights.size)

        def show(progress: PullProgress) -> None:
            bars.update(bar, description=f"{weights.model} {progress.state}", completed=progress.done)

        return run_sync(pull(name, show))


class FirstModel:
    """Makes sure that a model is available; `status` shows the progress of the download."""

    def __init__(self, settings: Settings) -> None:
        self.status: ModelStatus | None = None
        self._settings = settings
        self._chosen: str | None = settings.section(ModelSettings).name
        self._percent = -1

    def prepare(self) -> None:
        """Download the model that is needed first, then check that the chosen model can be used."""
        wanted = self._find_missing()
        if wanted is not None:
            pull_visibly(wanted)
        resolve(None, self._settings)

    def _find_missing(self) -> str | None:
        """The embedded model to download now: the chosen one, or the small one if there is none."""
        if self._chosen is None:
            if self._settings.section(ModelSettings).base_url:
                return None
            while (best := find_best()) and _drop_broken(best):
                """The next best one may be intact."""
            return None if best else "small"
        name = self._chosen.removeprefix("local:")
        if name not in CATALOGUE:
            return None
        _drop_broken(name)
        return None if find(name) else name

    @asynccontextmanager
    async def arrive(self) -> AsyncGenerator[None]:
        """Download the good model while the server works, unless another one is chosen or it is there."""
        if self._chosen is not None or find("good"):
            yield
            return
        async with BackgroundPull("good", self._note):
            yield

    def _note(self, progress: PullProgress) -> None:
        if self.status is not None:
            self.status.update(progress.name, progress.state, progress.done, progress.total, progress.message)
        percent = 100 * progress.done // max(progress.total, 1)
        if progress.state == "failed":
            typer.secho(
                f"Could not download the better model; keeping the small one: {progress.message}", err=True
            )
        elif progress.state == "ready":
            typer.echo("The better model is downloaded; new answers use it.", err=True)
        elif percent >= self._percent + 5:
            self._percent = percent
            typer.echo(f"Downloading the better model: {percent} %", err=True)


def _drop_broken(name: str) -> bool:
    if not remove_corrupt(name):
        return False
    typer.echo(f"The weights of local:{name} were corrupt and have been deleted.", err=True)
    return True
