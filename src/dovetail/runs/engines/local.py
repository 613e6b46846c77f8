"""The local engine: a run works in the process that it was sent to; another one takes it up if that stops.

Each process holds a lock in the database and looks every few seconds for runs whose process has lost its own.
"""

import asyncio
import logging

from dovetail.concurrency import backoff, retrying
from dovetail.errors import StoreError
from dovetail.runs.engine import Engine, RunHost, Ticket

logger = logging.getLogger(__name__)
_FIRST_PAUSE = 0.1
_LONGEST_PAUSE = 2.0


class LocalEngine(Engine):
    """Attempt every run in this process."""

    starts_here = True

    def __init__(self) -> None:
        self._host: RunHost | None = None
        self._attempts: dict[str, asyncio.Task[None]] = {}
        self._is_draining = False

    async def open(self, host: RunHost, *, works: bool) -> None:
        """Remember the host; a process that does not work still attempts what is sent to it."""
        self._host = host

    async def submit(self, ticket: Ticket) -> None:
        """Attempt the run here, now."""
        if ticket.run_id not in self._attempts:
            task = asyncio.create_task(self._attempt(ticket.run_id))
            self._attempts[ticket.run_id] = task
            task.add_done_callback(lambda _: self._attempts.pop(ticket.run_id, None))

    async def recover(self) -> None:
        """Take up the runs of dead processes."""
        if self._host is not None and not self._is_draining:
            for ticket in await self._host.find_left():
                await self.submit(ticket)

    async def drain(self) -> None:
        """Leave the runs of dead processes to other processes."""
        self._is_draining = True

    async def close(self) -> None:
        """Wait for the attempts in progress to be left."""
        for attempt in self._attempts.values():
            attempt.cancel()
        await asyncio.gather(*self._attempts.values(), return_exceptions=True)

    async def _attempt(self, run_id: str) -> None:
        async for _ in retrying(backoff(_FIRST_PAUSE, _LONGEST_PAUSE)):
            try:
                if self._host is not None and not self._is_draining:
                    await self._host.attempt(run_id)
                return
            except StoreError as error:
                logger.warning("run %s cannot be taken up now: %s", run_id, error.message)
            except Exception:  # `recover` finds the run again
                logger.exception("run %s could not be resumed", run_id)
                return
