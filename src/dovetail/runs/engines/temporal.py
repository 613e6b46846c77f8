"""The Temporal engine: each run is a workflow, and the workers of Temporal attempt it.

A worker that dies sends no more heartbeats, and Temporal has another one attempt the run. While the server is
away, attempts in progress continue and new runs stay queued in the database; workers reconnect by themselves.
"""

import asyncio
import logging
from contextlib import suppress
from datetime import timedelta

from temporalio import activity
from temporalio.client import Client
from temporalio.exceptions import ApplicationError, ApplicationErrorCategory
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from dovetail.errors import ConflictError, NotFoundError
from dovetail.runs.engine import AttemptEnd, Engine, RunHost, Ticket, WakeReason
from dovetail.runs.engines.temporal_server import TemporalServer, name_task_queue
from dovetail.runs.engines.temporal_workflow import ATTEMPT, CANCEL, Job, RunWorkflow

logger = logging.getLogger(__name__)
HEARTBEAT_SECONDS = 2.0
RESTART_SECONDS = 5.0
CLOSE_SECONDS = 3.0
_MANY = 10_000  # attempts at once if the settings have no limit; Temporal's own default is 100
_CACHED_WORKFLOWS = 200  # the others are replayed from their short histories when they continue
_STICKY = timedelta(seconds=1)
_DRAIN = timedelta(days=1)  # `close` ends it earlier
_FIRST_PAUSE = 0.25
_LONGEST_PAUSE = 5.0


class TemporalEngine(Engine):
    """Start a workflow for each run, signal it, and work on the queues of this process."""

    def __init__(self) -> None:
        self._server: TemporalServer | None = None
        self._host: RunHost | None = None
        self._attempts: Attempts | None = None
        self._workers: dict[str, Worker] = {}
        self._tasks: list[asyncio.Task[None]] = []

    async def open(self, host: RunHost, *, works: bool) -> None:
        """Connect, and start a worker for each queue.

        Raises:
            ConfigError: the server cannot be reached.
        """
        self._host = host
        self._server = await TemporalServer.connect(host.settings)
        if works:
            self._attempts = Attempts(host)
            for queue in host.settings.queues:
                self._tasks.append(
                    asyncio.create_task(self._work(self._server.client, self._attempts, queue))
                )

    async def submit(self, ticket: Ticket) -> None:
        """Start the workflow of the run, or signal it if this is a further attempt."""
        await self._reach().send(ticket, "submit", eager=ticket.queue in self._workers)

    async def wake(self, ticket: Ticket, reason: WakeReason) -> None:
        """Signal the workflow that the run needs a further attempt, and why."""
        await self._reach().send(ticket, reason)

    async def recover(self) -> None:
        """Attempt runs that dead processes have left, and start their workflows if Temporal lost them.

        A process that is frozen has asked Temporal for work before, and may be given what it cannot do: a
        run that is left does not wait until Temporal notices that. The next activity here joins the attempt.
        """
        if self._host is not None and self._attempts is not None and not self._attempts.draining.is_set():
            for ticket in await self._host.find_left():
                if ticket.queue in self._workers:
                    self._attempts.begin(ticket.run_id)
                await self._reach().send(ticket, None)

    async def drain(self) -> None:
        """Ask Temporal for no more runs; those in progress continue, with their heartbeats."""
        if self._attempts is not None:
            self._attempts.draining.set()
        for queue in list(self._workers):
            self._tasks.append(asyncio.create_task(self._workers.pop(queue).shutdown()))

    async def close(self) -> None:
        """End the workers; Temporal offers the runs that were left to other workers at once."""
        await self.drain()
        if self._attempts is not None:
            await self._attempts.close()
        if self._tasks:  # while the server is away, workers take long to end
            _, late = await asyncio.wait(self._tasks, timeout=CLOSE_SECONDS)
            for task in late:
                task.cancel()
        self._tasks.clear()
        self._server = None

    def _reach(self) -> TemporalServer:
        if self._server is None:
            raise ConflictError("The Temporal engine is closed.")
        return self._server

    async def _work(self, client: Client, attempts: "Attempts", queue: str) -> None:
        """Work on a queue; replace a worker that fails, such as when its namespace is deleted."""
        while not attempts.draining.is_set():
            worker = self._workers[queue] = _make_worker(client, attempts, queue)
            try:
                await worker.run()
            except Exception as error:
                self._workers.pop(queue, None)
                logger.error("The Temporal worker of queue %r failed and is replaced: %s", queue, error)
                with suppress(TimeoutError):
                    await asyncio.wait_for(attempts.draining.wait(), RESTART_SECONDS)


def _make_worker(client: Client, attempts: "Attempts", queue: str) -> Worker:
    return Worker(
        client,
        task_queue=name_task_queue(queue),
        workflows=[RunWorkflow],
        activities=[attempts.attempt, attempts.cancel],
        workflow_runner=UnsandboxedWorkflowRunner(),  # the sandbox would import Dovetail for each workflow
        max_concurrent_activities=attempts.host.settings.concurrency or _MANY,
        max_cached_workflows=_CACHED_WORKFLOWS,
        sticky_queue_schedule_to_start_timeout=_STICKY,
        max_heartbeat_throttle_interval=timedelta(seconds=HEARTBEAT_SECONDS),
        graceful_shutdown_timeout=_DRAIN,
    )


class Attempts:
    """The activities of the workers of this process."""

    def __init__(self, host: RunHost) -> None:
        self.host = host
        self.draining = asyncio.Event()
        self._tasks: dict[str, asyncio.Task[AttemptEnd]] = {}

    @activity.defn(name=ATTEMPT)
    async def attempt(self, job: Job) -> AttemptEnd:
        """Attempt a run, with heartbeats; a run that is left fails the activity, and Temporal tries again.

        If Temporal takes the activity for lost, the attempt continues: the database shows that this process
        is alive, so that other workers leave the run to it. The next activity here joins the attempt.
        """
        if job.run_id not in self._tasks and self.draining.is_set():
            raise self._leave()
        task = self.begin(job.run_id)
        try:
            while not (await asyncio.wait({task}, timeout=HEARTBEAT_SECONDS))[0]:
                activity.heartbeat()
        except asyncio.CancelledError:
            raise self._leave() from None
        error = None if task.cancelled() else task.exception()
        if error is not None:
            raise _fail("The run cannot be attempted now.", type(error).__name__)
        if task.cancelled() or task.result() == "left":
            raise self._leave()
        return task.result()

    def begin(self, run_id: str) -> "asyncio.Task[AttemptEnd]":
        """Return the attempt at a run in this process, which begins now unless it is in progress."""
        task = self._tasks.get(run_id)
        if task is None:
            task = self._tasks[run_id] = asyncio.create_task(self.host.attempt(run_id), name=run_id)
            task.add_done_callback(self._note_end)
        return task

    def _note_end(self, task: "asyncio.Task[AttemptEnd]") -> None:
        """Forget an attempt; one that failed is made again, by Temporal or by `recover`."""
        del self._tasks[task.get_name()]
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.warning("run %s cannot be attempted now, trying again: %r", task.get_name(), error)

    @activity.defn(name=CANCEL)
    async def cancel(self, job: Job) -> None:
        """Cancel the run of a workflow that was cancelled in Temporal."""
        with suppress(ConflictError, NotFoundError):  # it has ended
            await self.host.cancel(job.run_id)

    async def close(self) -> None:
        """Wait for the attempts to be left."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _leave(self) -> ApplicationError:
        """Return the error of a run that is left; another worker is to try at once if this process stops."""
        pause = (
            0.01 if self.draining.is_set() else min(_FIRST_PAUSE * activity.info().attempt, _LONGEST_PAUSE)
        )
        return _fail("Another process works on the run.", "left", timedelta(seconds=pause))


def _fail(message: str, kind: str, retry_after: timedelta | None = None) -> ApplicationError:
    """Return an error that Temporal stores and retries; it says nothing about the contents of the run."""
    benign = ApplicationErrorCategory.BENIGN  # it is logged here
    return ApplicationError(message, type=kind, next_retry_delay=retry_after, category=benign)
