"""Several server processes under one parent: started together, replaced when one dies, stopped together.

An error at the first start of a worker is raised, because the operator is watching then. Once all have been
ready, the parent stays: a worker that dies, or a replacement that cannot start (such as while the database is
not available), is started again after a pause that grows with each failure.
"""

import logging
import os
import signal
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import TypeAlias

from dovetail.errors import ConfigError, DovetailError

logger = logging.getLogger(__name__)

Work: TypeAlias = Callable[[int, Callable[[], None]], None]
"""Serve as the worker with this number until a signal arrives; call the function when ready."""

STOP_SECONDS = 20.0
RESTART_SECONDS = 1.0
LONGEST_PAUSE = 30.0
_spawning = get_context("spawn")


@dataclass(slots=True)
class _Worker:
    number: int
    process: SpawnProcess
    pipe: Connection
    since: float
    is_ready: bool = False
    problem: str = ""


class Workers:
    """Run `count` processes that all do `work`, which must be picklable."""

    def __init__(
        self, count: int, work: Work, on_exit: Callable[[int], None], *, stop_seconds: float = STOP_SECONDS
    ) -> None:
        self._work = work
        self._stop_seconds = stop_seconds
        self._on_exit = on_exit
        self._count = count
        self._has_started = False
        self._workers: dict[int, _Worker] = {}
        self._due: dict[int, float] = {}  # when a number that has no worker now gets one
        self._pauses: dict[int, float] = {}

    def run(self, on_ready: Callable[[], None]) -> None:
        """Serve until SIGTERM or Ctrl-C; raise if a worker fails at its first start."""
        with _signals() as stopped:
            try:
                for number in range(self._count):
                    self._start(number)
                while not self._have_news(stopped):
                    if not self._has_started and self._are_all_ready():
                        self._has_started = True
                        on_ready()
            finally:
                self._stop()

    def _are_all_ready(self) -> bool:
        return len(self._workers) == self._count and all(each.is_ready for each in self._workers.values())

    def _have_news(self, stopped: Connection) -> bool:
        """Wait for an event and handle it; return True when it is time to stop."""
        pipes = {worker.pipe: worker for worker in self._workers.values()}
        pause = min(self._due.values()) - time.monotonic() if self._due else None
        for ready in wait([stopped, *pipes], None if pause is None else max(0.0, pause)):
            if ready is stopped:
                return True
            if isinstance(ready, Connection) and ready in pipes:
                self._hear(pipes[ready])
        for number in [each for each, due in self._due.items() if due <= time.monotonic()]:
            self._restart(number)
        return False

    def _restart(self, number: int) -> None:
        del self._due[number]
        try:
            self._start(number)
        except OSError as error:  # out of memory, processes or descriptors
            self._due[number] = time.monotonic() + LONGEST_PAUSE
            logger.error("cannot start worker %d, retrying in %g s: %s", number, LONGEST_PAUSE, error)

    def _hear(self, worker: _Worker) -> None:
        try:
            report = worker.pipe.recv()
        except (EOFError, OSError):
            self._bury(worker)
            return
        if report is None:
            worker.is_ready = True
            logger.info("worker %d is ready", worker.number, extra={"fields": {"pid": worker.process.pid}})
            return
        worker.problem, hint = report
        if not self._has_started and not worker.is_ready:
            raise ConfigError(worker.problem, hint=hint)

    def _bury(self, worker: _Worker) -> None:
        """Remove a dead worker and plan its replacement."""
        worker.process.join(RESTART_SECONDS)
        if worker.process.is_alive():  # it has let go of its pipe and can no longer be talked to
            worker.process.kill()
            worker.process.join()
        worker.pipe.close()
        del self._workers[worker.number]
        self._on_exit(worker.process.pid or 0)
        code = worker.process.exitcode
        if not worker.is_ready and not self._has_started:
            raise ConfigError(f"Worker {worker.number} exited with code {code} while starting.")
        self._plan(worker, code)

    def _plan(self, worker: _Worker, code: int | None) -> None:
        now = time.monotonic()
        has_served = worker.is_ready and now - worker.since > LONGEST_PAUSE
        pause = RESTART_SECONDS if has_served else self._pauses.get(worker.number, RESTART_SECONDS)
        self._pauses[worker.number] = min(2 * pause, LONGEST_PAUSE)
        due = self._due[worker.number] = max(now, worker.since + pause)
        what = "ended" if worker.is_ready else "could not start"
        logger.error(
            "worker %d %s with code %s and will be replaced in %.0f s%s",
            *(worker.number, what, code, due - now, f": {worker.problem}" if worker.problem else ""),
        )

    def _start(self, number: int) -> None:
        ours, theirs = _spawning.Pipe()
        process = _spawning.Process(
            target=_be_worker, args=(self._work, number, theirs), name=f"worker {number}"
        )
        process.start()
        theirs.close()
        self._workers[number] = _Worker(number, process, ours, time.monotonic())

    def _stop(self) -> None:
        processes = [worker.process for worker in self._workers.values()]
        for process in processes:
            process.terminate()
        end = time.monotonic() + self._stop_seconds
        for process in processes:
            process.join(max(0.0, end - time.monotonic()))
            if process.is_alive():
                logger.error("%s did not stop within %g s and is killed", process.name, self._stop_seconds)
                process.kill()
                process.join()


def _be_worker(work: Work, number: int, pipe: Connection) -> None:
    """Run a worker process, which does not outlive its parent."""
    threading.Thread(target=_leave_with_parent, args=(pipe,), daemon=True).start()
    try:
        work(number, lambda: pipe.send(None))
    except DovetailError as error:
        pipe.send((error.message, error.hint))
        raise SystemExit(1) from error


def _leave_with_parent(pipe: Connection) -> None:
    try:
        pipe.recv()  # nothing is ever sent: it ends when the parent does
    except (EOFError, OSError):
        os.kill(os.getpid(), signal.SIGTERM)


@contextmanager
def _signals() -> Generator[Connection]:
    """Return a connection that is readable once the process is asked to stop."""
    hears, tells = _spawning.Pipe(duplex=False)

    def tell(number: int, frame: object) -> None:
        tells.send(number)

    before = {each: signal.signal(each, tell) for each in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield hears
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
        hears.close()
        tells.close()
