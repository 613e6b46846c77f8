"""Fetches an embedded model with a bar that grows."""

from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from dovetail.concurrency import run_sync
from dovetail.requesters.embedded.pull import PullProgress, pull
from dovetail.requesters.embedded.weights import get_weights


def pull_visibly(name: str) -> Path:
    """Fetch a model unless it is here; its weights file."""
    weights = get_weights(name)
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as bars:
        bar = bars.add_task(weights.model, total=weights.size)

        def show(progress: PullProgress) -> None:
            bars.update(bar, description=f"{weights.model} {progress.state}", completed=progress.done)

        return run_sync(pull(name, show))
