"""The engine `dbos`: runs wait in queues of DBOS, in PostgreSQL, until a process that works takes them.

Each attempt at a run is one workflow of DBOS with the id `{run_id}.{attempt}`. What the run did is in the
journal; DBOS only knows which process works on it. A step of DBOS would store nothing that the journal lacks,
so a workflow has none: after a crash DBOS starts it again, and the attempt continues from the journal.
"""

import asyncio
import logging
import random
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from typing import Any, TypeVar

from dovetail.concurrency import backoff, retrying
from dovetail.errors import ConfigError, StoreError
from dovetail.lazy import lazy
from dovetail.runs.engine import Engine, RunHost, Ticket, WakeReason
from dovetail.runs.engines.dbos_worker import CANCELS, NAME, WORKFLOW, DbosWorker, name_queue
from dovetail.store.address import parse_address, show_address
from dovetail.store.errors import translated_errors

dbos = lazy("dbos", extra="dbos")
logger = logging.getLogger(__name__)
T = TypeVar("T")

KEEP_SECONDS = 3600.0
"""How long DBOS remembers attempts that have ended."""

CLEAN_SECONDS = 300.0
_BATCH = 1000
_MIDDLE = 2**29
_ENDED = ("SUCCESS", "ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED")
_PAUSES = (0.1, 0.2, 0.4, 0.8, 1.6)
"""Pauses before a run is tried again that belongs to another process, which may just be ending."""


class DbosEngine(Engine):
    """Queues of DBOS: any process submits runs, the processes that work take them."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(4, thread_name_prefix="dovetail-dbos")
        self._client: Any = None
        self._worker: DbosWorker | None = None
        self._queues: set[str] = set()
        self._idle: set[str] = set()
        self._is_draining = False
        self._clean_at = 0.0

    async def open(self, host: RunHost, *, works: bool) -> None:
        """Connect to DBOS, create its tables if they are missing, and take runs if `works`."""
        self._host = host
        url = find_database(host)
        try:
            await self._call(self._connect, url)
            if works:
                self._worker = DbosWorker(url, host.process_id, host.settings, self._attempt)
                await self._call(self._worker.launch)
        except StoreError as error:
            place = show_address(parse_address(url))
            raise ConfigError(
                f"Cannot open the database of DBOS at {place}: {error.message}",
                hint="Check runs.dbos_url and DATABASE_URL, and that the database server is running.",
            ) from error

    async def submit(self, ticket: Ticket) -> None:
        """Enqueue an attempt at a run."""
        await self._enqueue(ticket, name_queue(ticket.queue))

    async def wake(self, ticket: Ticket, reason: WakeReason) -> None:
        """Enqueue the next attempt at a run; one that is cancelled does not wait for its turn."""
        await self._enqueue(ticket, CANCELS if reason == "cancel" else name_queue(ticket.queue))

    def hear(self, kind: str, subject: str) -> None:
        """Look into a queue because another process has put a run into it."""
        if kind == "queue" and self._worker is not None:
            self._worker.ring(subject)

    async def recover(self) -> None:
        """Hand the runs of dead processes to DBOS, and have those enqueued that it has lost."""
        if self._worker is None or self._is_draining:
            return
        pending = await self._list(status="PENDING")
        others = {flow.executor_id for flow in pending} - {self._host.process_id, None}
        dead = [process_id for process_id in others if not await self._host.is_alive(process_id)]
        if dead:
            count = await self._call(self._worker.recover, dead)
            logger.info("DBOS resumes %d runs of processes that have ended", count)
        await self._resume_idle({flow.workflow_id for flow in pending if flow.executor_id not in others})
        await self._submit_left()
        if dead:
            self._ring_all()
        await self._clean()

    async def drain(self) -> None:
        """Take no more runs."""
        self._is_draining = True
        if self._worker is not None:
            await self._call(self._worker.drain)

    async def close(self) -> None:
        """Leave the runs in progress to other processes, and disconnect."""
        await self.drain()
        if self._worker is not None:
            await self._call(self._worker.close)
            self._worker = None
            self._ring_all()
        if self._client is not None:
            await self._call(self._client.destroy)
        self._threads.shutdown(wait=False)

    def _connect(self, url: str) -> None:
        _forward_logs()
        dbos.DBOS.migrate(url)
        self._client = dbos.DBOSClient(
            system_database_url=url,
            serializer=dbos.DBOSPortableJSONSerializer(),
            application_name=NAME,
            retry_connection_errors=False,
        )

    async def _enqueue(self, ticket: Ticket, queue: str) -> None:
        options = {
            "workflow_name": WORKFLOW,
            "workflow_id": name_workflow(ticket),
            "queue_name": queue,
            "queue_partition_key": ticket.owner,
            # The smallest number comes first; a run that continues comes before one that starts.
            "priority": 2 * (_MIDDLE - ticket.priority) - (ticket.attempt > 0),
        }
        await self._call(self._client.enqueue, options, ticket.run_id, queue)
        if self._worker is None or not self._worker.ring(queue):
            self._host.link.announce("queue", queue)
            await self._check_queue(queue)

    async def _check_queue(self, queue: str) -> None:
        """Warn once if no process has ever worked on a queue."""
        if queue in self._queues:
            return
        self._queues.add(queue)
        with suppress(StoreError):
            if await self._call(self._client.retrieve_queue, queue) is None:
                name = queue.removeprefix(name_queue(""))
                logger.warning("runs in the queue %r wait for `dovetail worker --queues %s`", name, name)

    async def _attempt(self, run_id: str) -> bool:
        """Attempt a run; False if it is left to other processes because this one stops."""
        async for _ in retrying(_PAUSES):
            if await self._attempt_once(run_id) != "left":
                return True
            if self._is_draining:
                return False
        return True  # another process works on it; `recover` finds it if that one dies

    async def _attempt_once(self, run_id: str) -> str:
        async for _ in retrying(backoff(0.2, 10.0)):
            try:
                return await self._host.attempt(run_id)
            except StoreError as error:
                logger.warning("run %s cannot be taken up now: %s", run_id, error.message)
            except Exception:
                logger.exception("run %s could not be taken up", run_id)
            if self._is_draining:
                break
        return "left"

    async def _resume_idle(self, own: set[str]) -> None:
        """Enqueue workflows again that DBOS gave to this process but that it does not work on."""
        idle = own - self._worker.active if self._worker is not None else set[str]()
        for workflow_id in idle & self._idle:
            await self._call(self._client.resume_workflow, workflow_id)
        self._idle = idle

    async def _submit_left(self) -> None:
        """Submit runs again whose process has died and that DBOS takes for ended, or does not know."""
        left = {name_workflow(ticket): ticket for ticket in await self._host.find_left()}
        if not left:
            return
        known = {flow.workflow_id: flow.status for flow in await self._list(workflow_ids=list(left))}
        if over := [workflow_id for workflow_id, status in known.items() if status in _ENDED]:
            await self._call(self._client.delete_workflows, over)
        for workflow_id, ticket in left.items():
            if workflow_id not in known or workflow_id in over:
                await self.submit(ticket)

    async def _clean(self) -> None:
        """Delete the workflows of attempts that ended some time ago."""
        if time.monotonic() < self._clean_at:
            return
        self._clean_at = time.monotonic() + CLEAN_SECONDS * random.SystemRandom().uniform(0.8, 1.2)
        before = datetime.fromtimestamp(time.time() - KEEP_SECONDS, UTC).isoformat()
        old = {"status": list(_ENDED), "completed_before": before, "name": WORKFLOW, "limit": _BATCH}
        while found := await self._list(**old):
            await self._call(self._client.delete_workflows, [flow.workflow_id for flow in found])

    async def _list(self, **wanted: Any) -> list[Any]:
        listing = partial(self._client.list_workflows, load_input=False, load_output=False)
        return await self._call(partial(listing, **wanted))

    def _ring_all(self) -> None:
        for name in self._host.settings.queues:
            if self._worker is not None:
                self._worker.ring(name_queue(name))
            self._host.link.announce("queue", name_queue(name))

    async def _call(self, function: Callable[..., T], *arguments: Any) -> T:
        """Call a function of DBOS, which blocks, in a thread."""
        with translated_errors():
            return await asyncio.get_running_loop().run_in_executor(self._threads, function, *arguments)


def name_workflow(ticket: Ticket) -> str:
    """Return the id of the workflow of an attempt."""
    return f"{ticket.run_id}.{ticket.attempt}"


def find_database(host: RunHost) -> str:
    """Return the URL of the database in which DBOS keeps its queues."""
    if host.settings.dbos_url is not None:
        url = parse_address(str(host.settings.dbos_url))
    elif host.database.is_in_memory:
        raise ConfigError(
            "The engine 'dbos' cannot keep its queues in memory.",
            hint="Set DATABASE_URL to a PostgreSQL database, or to an SQLite file for tests.",
        )
    elif host.database.is_sqlite:
        url = host.database.url.set(database=f"{host.database.url.database}.dbos")
    else:
        url = host.database.url
    return url.set(drivername=url.get_backend_name()).render_as_string(hide_password=False)


class _Forward(logging.Handler):
    """Passes the warnings of DBOS on to our logs, which mask secrets."""

    def emit(self, record: logging.LogRecord) -> None:
        """Log a line; that runs are left when this process ends is expected."""
        if not record.getMessage().startswith("Asyncio task cancelled"):
            logger.log(record.levelno, "%s", record.getMessage(), exc_info=record.exc_info)


def _forward_logs() -> None:
    source = logging.getLogger("dbos")
    source.handlers = [_Forward(logging.WARNING)]
    source.propagate = False
