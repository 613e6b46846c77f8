"""The model of a first start: the small one at once, the good one as soon as it has arrived."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import typer
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from dovetail.concurrency import run_sync
from dovetail.requesters.background_pull import BackgroundPull
from dovetail.requesters.pull import PullProgress, pull
from dovetail.requesters.weights import find, find_best, get_weights
from dovetail.server.models import ModelBoard
from dovetail.settings import Settings


class FirstModel:
    """Sees to it that there is a model; `board` is told how far the good one is."""

    def __init__(self, settings: Settings) -> None:
        self.board: ModelBoard | None = None
        self._chosen: str | None = settings.get("model.name")
        self._percent = -1

    def prepare(self) -> None:
        """Fetch the small model, or the chosen embedded one, when there is none to start with."""
        if self._chosen is None:
            wanted = None if find_best() else "small"
        else:
            provider, _, name = self._chosen.partition(":")
            wanted = name if provider == "local" and not find(name) else None
        if wanted is not None:
            _pull_now(wanted)

    @asynccontextmanager
    async def arrive(self) -> AsyncGenerator[None]:
        """Fetch the good model beside the server's work, when nothing else was chosen and it is not here."""
        if self._chosen is not None or find("good"):
            yield
            return
        async with BackgroundPull("good", self._note):
            yield

    def _note(self, progress: PullProgress) -> None:
        if self.board is not None:
            self.board.note(progress.name, progress.state, progress.done, progress.total, progress.message)
        percent = 100 * progress.done // max(progress.total, 1)
        if progress.state == "failed":
            typer.secho(f"The good model could not be had, the small one stays: {progress.message}", err=True)
        elif progress.state == "ready":
            typer.echo("The good model is here; new answers use it.", err=True)
        elif percent >= self._percent + 5:
            self._percent = percent
            typer.echo(f"The good model is on its way: {percent} %", err=True)


def _pull_now(name: str) -> None:
    weights = get_weights(name)
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as bars:
        bar = bars.add_task(weights.model, total=weights.size)
        run_sync(pull(name, lambda progress: bars.update(bar, completed=progress.done)))
