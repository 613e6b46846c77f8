"""Fetches an embedded model beside other work, as a server does while it answers with the small one."""

import asyncio
import logging
from dataclasses import replace

from dovetail.errors import DovetailError
from dovetail.requesters.embedded.pull import OnProgress, PullProgress, PullState, ignore_progress, pull
from dovetail.requesters.embedded.weights import find, get_weights

logger = logging.getLogger(__name__)


class BackgroundPull:
    """Fetches a model beside other work: `async with BackgroundPull("good") as pull`.

    `progress` always tells how far it is; a failure is told there and not raised. Leaving the block stops it.
    """

    def __init__(self, name: str, on_progress: OnProgress = ignore_progress) -> None:
        size = get_weights(name).size
        state: PullState = "ready" if find(name) else "waiting"
        self.progress = PullProgress(name=name, state=state, done=size if state == "ready" else 0, total=size)
        self._on_progress = on_progress
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> "BackgroundPull":
        self._task = asyncio.create_task(self._run())
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def wait(self) -> PullProgress:
        """How it ended: `ready` or `failed`."""
        if self._task is not None:
            await asyncio.wait([self._task])
        return self.progress

    async def _run(self) -> None:
        try:
            await pull(self.progress.name, self._report)
        except DovetailError as error:
            self._fail(str(error))
        except Exception as error:
            logger.exception("the pull of %s ended with an unforeseen error", self.progress.name)
            self._fail(f"{type(error).__name__}: {error}")

    def _fail(self, message: str) -> None:
        self._report(replace(self.progress, state="failed", message=message))

    def _report(self, progress: PullProgress) -> None:
        self.progress = progress
        self._on_progress(progress)
