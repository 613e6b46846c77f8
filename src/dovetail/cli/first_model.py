"""The embedded model that a command needs: downloaded before its work, or while it serves."""

import asyncio
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext, suppress
from pathlib import Path

import typer

from dovetail.cli.output import Guard, open_styled
from dovetail.concurrency import run_sync
from dovetail.errors import DovetailError
from dovetail.requesters.local.arrival import explain_failure
from dovetail.requesters.local.bar import ProgressBar, announce, count_percent
from dovetail.requesters.local.download import (
    BackgroundPull,
    PullProgress,
    find_shortage,
    ignore_progress,
    pull,
)
from dovetail.requesters.local.weights import CATALOGUE, find, get_weights, remove_corrupt
from dovetail.requesters.resolve import find_active, resolve
from dovetail.settings import Settings
from dovetail.settings.model import ModelSettings

STEP = 10
"""Percent between two lines about a download if stderr is not a terminal."""


def pull_visibly(name: str) -> Path:
    """Download a model unless it is there, with a progress bar in a terminal; return its weights file."""
    if find(name) or not sys.stderr.isatty():
        return run_sync(pull(name, ignore_progress))
    bar = ProgressBar(open_styled(sys.stderr))
    try:
        return run_sync(pull(name, bar.show))
    finally:
        bar.close()


class FirstModel:
    """Makes sure that the model of some settings is available if it is an embedded one."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._percent = -STEP
        self._bar = ProgressBar(open_styled(sys.stderr)) if sys.stderr.isatty() else None
        self.log = Guard(self._bar) if self._bar else sys.stderr
        """The stream of log lines, which stay above the progress bar."""

    def prepare(self) -> None:
        """Download the model, then check that it can be used; another one may stand in for the default."""
        self.fetch()
        self.check()

    def fetch(self) -> None:
        """Download the model unless it is there; raise if that fails and no other one can stand in."""
        missing = self.find_missing()
        if missing is None:
            return
        if find_shortage(missing) is None:
            typer.echo(announce(get_weights(missing)), err=True)
        try:
            pull_visibly(missing)
        except DovetailError as error:
            failure = explain_failure(get_weights(missing), error)
            if self.find_missing() is not None:
                raise failure from error
            typer.echo(failure.message, err=True)

    def check(self) -> None:
        """Check that the model can be used, without downloading it."""
        self.find_missing()
        resolve(None, self._settings)

    def find_missing(self) -> str | None:
        """Return the embedded model that is in use and not downloaded yet, if it may be."""
        with suppress(DovetailError):  # `resolve` explains it
            name = find_active(self._settings).removeprefix("local:")
            if name in CATALOGUE and self._settings.section(ModelSettings).download:
                _drop_broken(name)
                return None if find(name) else name
        return None

    @asynccontextmanager
    async def arrive(self, on_ready: Callable[[], Awaitable[None]]) -> AsyncGenerator[None]:
        """Download the model while the server works; requests wait for it, and then `on_ready` is called."""
        missing = self.find_missing()
        if missing is None:
            yield
            return
        if find_shortage(missing) is None:  # otherwise it fails at once
            self.log.write(f"{announce(get_weights(missing))}\n")
        async with BackgroundPull(missing, self._note) as running:
            following = asyncio.create_task(_follow(running, on_ready))
            try:
                yield
            finally:
                following.cancel()
                if self._bar:
                    self._bar.close()

    def make_room(self) -> AbstractContextManager[None]:
        """Remove the progress bar while a command prints."""
        return self._bar.hidden() if self._bar else nullcontext()

    def _note(self, progress: PullProgress) -> None:
        if self._bar:
            self._bar.show(progress)
        if progress.state == "failed":
            failure = f"Cannot download local:{progress.name}: {progress.message}"
            self.log.write(f"{failure}\n")
            with suppress(DovetailError):
                resolve(None, self._settings)  # it says so if another model answers instead
        elif progress.state == "ready":
            self.log.write(f"local:{progress.name} is downloaded and answers from now on.\n")
        elif not self._bar:
            self._note_step(count_percent(progress.done, progress.total))

    def _note_step(self, percent: int) -> None:
        if percent >= self._percent + STEP:
            self._percent = percent
            self.log.write(f"The model is on its way: {percent} %\n")


async def _follow(running: BackgroundPull, on_ready: Callable[[], Awaitable[None]]) -> None:
    if (await running.wait()).state == "ready":
        await on_ready()


def _drop_broken(name: str) -> None:
    if remove_corrupt(name):
        typer.echo(f"The weights of local:{name} were corrupt and have been deleted.", err=True)
