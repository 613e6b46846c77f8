"""Whether the runs of this process are still its own, after others may have counted it as dead.

Promises: a process that was frozen, hung or cut off asks the database before the next effect of a run and
before its next request to a model; a run that another process has taken over stops here. While the process
shows itself in time, this costs nothing.
"""

import logging
from collections.abc import Callable, Iterable

from dovetail.errors import ConflictError, StoreError
from dovetail.runs.journal import Journal
from dovetail.runs.store import RunStore
from dovetail.runs.task import LiveRun
from dovetail.store.persist import persist
from dovetail.store.processes import ProcessLink

logger = logging.getLogger(__name__)


class Ownership:
    """Ask about each run once in each life of the process; `lose` is called with those that are lost."""

    def __init__(self, store: RunStore, link: ProcessLink, lose: Callable[[Journal], None]) -> None:
        self._store = store
        self._link = link
        self._lose = lose

    async def confirm(self, live: LiveRun) -> None:
        """Return if the run belongs to this process; wait while the database cannot say so.

        Raises:
            ConflictError: another process has taken it over.
        """
        if live.life is not None and live.life == self._link.life:
            return
        await persist(lambda: self._check([live]))
        if live.leaves:
            raise ConflictError(f"Run {live.run_id!r} has been taken over by another process.")

    async def check_all(self, runs: Iterable[LiveRun]) -> None:
        """Leave the runs that other processes have taken over; what cannot be asked now is asked later."""
        if known := list(runs):
            try:
                await self._check(known)
            except StoreError as error:
                logger.warning("cannot check which runs were taken over: %s", error.message)

    async def _check(self, runs: list[LiveRun]) -> None:
        life = await self._link.renew()  # what is read after it holds for this life
        owned = await self._store.find_own([live.run_id for live in runs])
        for live in runs:
            if live.run_id in owned:
                live.life = life
            elif not live.leaves and not live.journal.closed:
                logger.warning("run %s was taken over by another process", live.run_id)
                self._lose(live.journal)
