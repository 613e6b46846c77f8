"""The part of the `dbos` engine that works: DBOS with a thread per queue, in one process.

DBOS looks into a queue at intervals. Here a bell ends the pause, so that a run starts within milliseconds and
an idle process asks the database once a second.
"""

import asyncio
import logging
import math
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import suppress
from typing import Any

from dovetail.errors import ConfigError
from dovetail.lazy import lazy
from dovetail.settings.sections import RunSettings
from dovetail.store.session import LONGEST_PAUSE

dbos = lazy("dbos", extra="dbos")
dbos_queue = lazy("dbos._queue", extra="dbos")
logger = logging.getLogger(__name__)

NAME = "dovetail"
WORKFLOW = "dovetail.attempt"
VERSION = "1"
"""The version that DBOS stores with a workflow: constant, so that a newer worker takes up older runs."""

CANCELS = "dovetail-cancels"
"""The queue of cancelled runs: without limits, so that they end though their own queue is full."""

_IDLE_PAUSE = 1.0
_SHARED_PAUSE = 0.25
_GATHER = 0.004
_LOOP_PAUSE = 0.5
_SETTLE = 0.02
_JOIN_SECONDS = 3.0


def name_queue(name: str) -> str:
    """Return the name that a queue of ours has in DBOS."""
    return f"dovetail.{name}"


class Bell(threading.Event):
    """The stop event of a queue's thread; ringing it ends the thread's pause.

    The pause lasts as long as the event loop hangs: what such a process took from the queue would wait.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__()
        self._loop = loop
        self._rung = threading.Event()

    def ring(self) -> None:
        """Have the thread look into its queue now."""
        self._rung.set()

    def set(self) -> None:
        """Stop the thread."""
        super().set()
        self._rung.set()

    def wait(self, timeout: float | None = None) -> bool:
        """Pause; return whether the thread has to stop."""
        if not self.is_set() and self._rung.wait(timeout) and not self.is_set():
            time.sleep(_GATHER)  # runs that arrive together are taken together
        self._rung.clear()
        self._wait_for_loop()
        return self.is_set()

    def _wait_for_loop(self) -> None:
        turned = threading.Event()
        with suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(turned.set)
            while not self.is_set() and not turned.wait(_LOOP_PAUSE):
                pass


class DbosWorker:
    """DBOS in this process; `attempt` is called on the event loop that made the worker."""

    def __init__(
        self,
        url: str,
        process_id: str,
        settings: RunSettings,
        attempt: Callable[[str], Coroutine[Any, Any, bool]],
    ) -> None:
        self.active: set[str] = set()
        """The workflows that run here."""
        self._url = url
        self._process_id = process_id
        self._settings = settings
        self._attempt = attempt
        self._is_ours = False
        self._loop = asyncio.get_running_loop()
        self._bells: dict[str, Bell] = {}
        self._threads: list[threading.Thread] = []
        self._busy: Counter[str] = Counter()
        self._full_until: defaultdict[str, float] = defaultdict(float)
        shared = settings.total_concurrency, settings.owner_concurrency, settings.starts_per_minute
        self._is_limited = shared != (None, None, None)

    def launch(self) -> None:
        """Start DBOS and the threads of the queues; blocks."""
        if dbos._dbos._dbos_global_instance is not None:
            raise ConfigError(
                "DBOS is already in use in this process.",
                hint="Let only one app of a process work on runs, or set runs.engine to local.",
            )
        self._is_ours = True
        dbos.DBOS(config=self._configure())
        dbos.DBOS.listen_queues([])  # the threads below look into the queues
        dbos.DBOS.workflow(name=WORKFLOW, max_recovery_attempts=None)(self._make_workflow())
        dbos.DBOS.launch()
        for name in self._settings.queues:
            self._listen(self._register(name))
        self._listen(dbos.DBOS.register_queue(CANCELS, polling_interval_sec=_IDLE_PAUSE))

    def ring(self, queue: str) -> bool:
        """Look into a queue now; return whether this process has room for another of its runs."""
        bell = self._bells.get(queue)
        if bell is None:
            return False
        bell.ring()
        most = self._settings.concurrency
        return most is None or queue == CANCELS or self._busy[queue] < most

    def drain(self) -> None:
        """Take no more runs; blocks until no queue is looked into any more."""
        for bell in self._bells.values():
            bell.set()
        end = time.monotonic() + _JOIN_SECONDS
        for thread in self._threads:
            thread.join(max(0.0, end - time.monotonic()))

    def recover(self, process_ids: Sequence[str]) -> int:
        """Have DBOS enqueue the runs of dead processes again; return their number."""
        return len(dbos.DBOS._recover_pending_workflows(list(process_ids)))

    def close(self) -> None:
        """Leave the runs that are still in progress to other processes, and stop DBOS; blocks."""
        self.drain()
        if not self._is_ours:
            return
        try:
            if self.active:
                self.recover([self._process_id])
        finally:
            dbos.DBOS.destroy(destroy_registry=True)

    def _configure(self) -> dict[str, Any]:
        return {
            "name": NAME,
            "system_database_url": self._url,
            "application_version": VERSION,
            "executor_id": self._process_id,
            "serializer": dbos.DBOSPortableJSONSerializer(),
            "enable_otlp": False,
            "use_listen_notify": False,
            "sys_db_pool_size": 8,
            "sys_db_idle_transaction_timeout_sec": LONGEST_PAUSE,
            "log_level": "WARNING",
        }

    def _register(self, name: str) -> Any:
        limits = self._settings
        most_of_owner = limits.owner_concurrency
        if most_of_owner is not None and limits.total_concurrency is not None:
            most_of_owner = min(most_of_owner, limits.total_concurrency)
        queue = dbos.DBOS.register_queue(
            name_queue(name),
            global_concurrency=limits.total_concurrency,
            partition_concurrency=most_of_owner,
            limiter=limits.starts_per_minute and {"limit": limits.starts_per_minute, "period": 60.0},
            polling_interval_sec=_SHARED_PAUSE if self._is_limited else _IDLE_PAUSE,
        )
        queue._worker_concurrency = limits.concurrency
        return queue

    def _listen(self, queue: Any) -> None:
        queue.database_backed_queue = False  # the limits of this process, and no query for them at each look
        bell = self._bells[queue.name] = Bell(self._loop)
        instance = dbos._dbos._get_dbos_instance()
        thread = threading.Thread(
            target=dbos_queue.queue_worker_thread, args=(bell, instance, queue), name=queue.name, daemon=True
        )
        thread.start()
        self._threads.append(thread)

    def _make_workflow(self) -> Callable[[str, str], Awaitable[None]]:
        async def attempt(run_id: str, queue: str) -> None:
            """Have a run attempted on our event loop; this one is that of DBOS."""
            workflow_id: str = dbos.DBOS.workflow_id
            self.active.add(workflow_id)
            self._count(queue, 1)
            future = asyncio.run_coroutine_threadsafe(self._attempt(run_id), self._loop)
            if not await asyncio.wrap_future(future):
                await asyncio.Event().wait()  # it stays in progress until `close` leaves it to others
            self.active.discard(workflow_id)
            self._count(queue, -1)
            if self._is_limited or time.monotonic() < self._full_until[queue]:
                # DBOS counts the run until it has stored its end.
                self._loop.call_soon_threadsafe(self._loop.call_later, _SETTLE, self.ring, queue)

        return attempt

    def _count(self, queue: str, change: int) -> None:
        if self._busy[queue] >= (self._settings.concurrency or math.inf):
            self._full_until[queue] = time.monotonic() + 2 * _IDLE_PAUSE
        self._busy[queue] += change
