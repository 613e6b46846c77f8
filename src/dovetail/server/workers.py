"""Several server processes under one parent: started together, replaced when one dies, stopped together."""

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
"""Serves as the worker of a number until a signal comes, and calls what it is given when it is ready."""

STOP_SECONDS = 20.0
RESTART_SECONDS = 1.0
_spawning = get_context("spawn")


@dataclass(slots=True)
class _Worker:
    number: int
    process: SpawnProcess
    pipe: Connection
    since: float
    is_ready: bool = False


class Workers:
    """Runs `count` processes that all do `work`, which must be something that can be pickled."""

    def __init__(self, count: int, work: Work, on_exit: Callable[[int], None]) -> None:
        self._work = work
        self._on_exit = on_exit
        self._count = count
        self._workers: dict[int, _Worker] = {}

    def run(self, on_ready: Callable[[], None]) -> None:
        """Serve until SIGTERM or Ctrl-C; what keeps a worker from its first start is raised."""
        with _signals() as stopped:
            try:
                for number in range(self._count):
                    self._start(number)
                while not self._have_news(stopped):
                    if all(worker.is_ready for worker in self._workers.values()):
                        on_ready()
                        break
                while not self._have_news(stopped):
                    pass
            finally:
                self._stop()

    def _have_news(self, stopped: Connection) -> bool:
        """Wait for something to happen and see to it; True when it is time to stop."""
        pipes = {worker.pipe: worker for worker in self._workers.values()}
        for ready in wait([stopped, *pipes]):
            if ready is stopped:
                return True
            if isinstance(ready, Connection) and ready in pipes:
                self._hear(pipes[ready])
        return False

    def _hear(self, worker: _Worker) -> None:
        try:
            told = worker.pipe.recv()
        except (EOFError, OSError):
            self._replace(worker)
            return
        if told is None:
            worker.is_ready = True
            logger.info("worker %d is ready", worker.number, extra={"fields": {"pid": worker.process.pid}})
        elif not worker.is_ready:
            message, hint = told
            raise ConfigError(message, hint=hint)

    def _replace(self, worker: _Worker) -> None:
        worker.process.join(STOP_SECONDS)
        self._on_exit(worker.process.pid or 0)
        code = worker.process.exitcode
        if not worker.is_ready:
            raise ConfigError(f"worker {worker.number} ended while it started, with code {code}")
        logger.error("worker %d ended with code %s and is replaced", worker.number, code)
        time.sleep(max(0.0, worker.since + RESTART_SECONDS - time.monotonic()))
        self._start(worker.number)

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
        end = time.monotonic() + STOP_SECONDS
        for process in processes:
            process.join(max(0.0, end - time.monotonic()))
            if process.is_alive():
                logger.error("%s did not stop within %g s and is ended", process.name, STOP_SECONDS)
                process.kill()
                process.join()


def _be_worker(work: Work, number: int, pipe: Connection) -> None:
    """The life of a worker process; it does not outlive its parent."""
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
    """A connection that can be read once the process was asked to stop."""
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
