"""The engine of the embedded models: weights are loaded once per process and shared, one answer at a time.

A generation runs in a thread of its own. Cancelling stops it at its next token, or at its next piece of the
prompt; only then is the engine free for the next one.
"""

import asyncio
import atexit
import contextlib
import os
import secrets
import threading
import time
from collections import deque
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Any

from dovetail.errors import ModelError
from dovetail.lazy import install_packages, lazy
from dovetail.requesters.local import states
from dovetail.requesters.local.files import read_model
from dovetail.requesters.local.weights import CONTEXT, Weights, find_entry, remove_if_corrupt

xllamacpp = lazy("xllamacpp")
_KEY = secrets.token_hex(32)
"""The library also listens on a loopback port, which only this process may use, to keep what was read."""
PROMPT_STEP = 128
"""Prompt tokens between two checks for cancellation: about three seconds on two slow cores."""
CACHED_PROMPTS = 512
"""MiB of cache for the prompts of other conversations, which need not be read again."""

FREE_SHARE = 0.4
"""Share of time that other processes must leave for the model to use every core."""
LOOKS = (0.1, 0.9)
"""Seconds for which they are watched; the second time only if the first finds them busy."""


class Slot(IntEnum):
    """The prompts that the engine keeps side by side, so that reading one does not push out the others."""

    ANSWER = 0
    CHOICE = 1
    FIT = 2
    ARGUMENTS = 3


STALL_LIMIT = 300.0
"""Seconds without output after which a generation has stalled."""
Piece = Mapping[str, Any]


class Ticket:
    """A place in the queue; `leave` removes it from the front or elsewhere, and is idempotent."""

    def __init__(self, queue: "TurnQueue") -> None:
        self.turn: Future[None] = Future()
        self._queue = queue

    def leave(self) -> None:
        """Leave the queue; the next ticket gets the turn."""
        self._queue.remove(self)


class TurnQueue:
    """A queue of turns, first come, first served."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tickets: deque[Ticket] = deque()

    async def take(self) -> Ticket:
        """Wait for the turn; leave the queue if cancelled."""
        ticket = Ticket(self)
        with self._lock:
            self._tickets.append(ticket)
            is_first = len(self._tickets) == 1
        if is_first:
            return ticket
        try:
            await asyncio.wrap_future(ticket.turn)
        except BaseException:
            ticket.leave()
            raise
        return ticket

    def remove(self, ticket: Ticket) -> None:
        """Remove a ticket; if it was the first, the next one gets the turn."""
        with self._lock:
            if ticket not in self._tickets:
                return
            was_first = self._tickets[0] is ticket
            self._tickets.remove(ticket)
            following = self._tickets[0] if was_first and self._tickets else None
        # A ticket whose waiter was just cancelled will leave by itself and pass the turn on.
        if following is not None and following.turn.set_running_or_notify_cancel():
            following.turn.set_result(None)

    def __len__(self) -> int:
        return len(self._tickets)


class Generation:
    """One generation; its pieces arrive on the event loop that started it."""

    def __init__(self, on_end: Callable[[], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._pieces: asyncio.Queue[Piece | BaseException | None] = asyncio.Queue()
        self._on_end = on_end
        self._is_cancelled = False
        self.thread: threading.Thread | None = None

    def start(self, run: Callable[[Callable[[Piece], bool]], None]) -> None:
        """Run `run` in a thread; its argument receives a piece and returns whether to stop."""
        self.thread = threading.Thread(target=self._run, args=(run,), name="dovetail-model", daemon=True)
        self.thread.start()

    def cancel(self) -> None:
        """Stop at the next piece."""
        self._is_cancelled = True

    async def read(self) -> AsyncGenerator[Piece, None]:
        """Yield the pieces as they arrive."""
        while True:
            try:
                piece = await asyncio.wait_for(self._pieces.get(), STALL_LIMIT)
            except TimeoutError as error:
                raise ModelError(
                    f"No output from the embedded model within {STALL_LIMIT:.0f} s.", provider="local"
                ) from error
            if piece is None:
                return
            if isinstance(piece, BaseException):
                raise piece
            yield piece

    def _run(self, run: Callable[[Callable[[Piece], bool]], None]) -> None:
        outcome: BaseException | None = None
        try:
            run(self._receive)
        except BaseException as error:
            outcome = error
        self._on_end()  # before the reader, which may start the next generation at once
        self._put(outcome)

    def _receive(self, piece: Piece) -> bool:
        self._put(piece)
        return self._is_cancelled

    def _put(self, piece: Piece | BaseException | None) -> None:
        try:
            self._loop.call_soon_threadsafe(self._pieces.put_nowait, piece)
        except RuntimeError:  # the event loop is closed
            self._is_cancelled = True


class Engine:
    """One loaded model. Use `share_engine`, so that the weights are in memory only once."""

    def __init__(self, path: Path, context: int = CONTEXT) -> None:
        self.path = path
        self.context = context
        self.queue = TurnQueue()
        self.users = 0
        self._server: Any = None
        self._fresh: set[Slot] = set()
        self._current: Generation | None = None

    def start(self, slot: Slot, body: Mapping[str, Any], on_end: Callable[[], None]) -> Generation:
        """Start a generation; the caller must have the turn, and must not start another before `on_end`."""
        generation = Generation(on_end)
        self._current = generation

        def run(receive: Callable[[Piece], bool]) -> None:
            self._prepare(slot, body["messages"])
            self._server.handle_chat_completions({**body, "id_slot": int(slot)}, receive)

        generation.start(run)
        return generation

    def _prepare(self, slot: Slot, texts: Sequence[Mapping[str, str]]) -> None:
        """Load the weights if that is not done, and restore what the slot read in an earlier process."""
        if self._server is None:
            self._server = load(self.path, self.context)
            self._fresh = set(Slot)
        if slot in self._fresh:
            self._fresh.discard(slot)
            states.restore(self._server, _KEY, slot, self._name_state(slot, texts))

    def is_new(self, slot: Slot, texts: Sequence[Mapping[str, str]]) -> bool:
        """Whether a slot has read nothing, and nothing that begins like some texts was kept for it."""
        is_fresh = self._server is None or slot in self._fresh
        return is_fresh and self.path.exists() and not states.exists(self._name_state(slot, texts))

    def keep(self, slot: Slot, texts: Sequence[Mapping[str, str]]) -> None:
        """Keep what a slot has read for later processes; the caller must have the turn, and no generation."""
        states.save(self._server, _KEY, slot, self._name_state(slot, texts))

    def _name_state(self, slot: Slot, texts: Sequence[Mapping[str, str]]) -> str:
        return states.name_state(self.path, self.context, slot, texts[0]["content"])

    def close(self) -> None:
        """Stop the generation, if any, and free the memory."""
        generation, self._current = self._current, None
        if generation is not None and generation.thread is not None:
            generation.cancel()
            generation.thread.join(10)
        self._server = None


_engines: dict[tuple[Path, int], Engine] = {}
_lock = threading.Lock()


def share_engine(path: Path, context: int = CONTEXT) -> Engine:
    """Return the engine of a weights file; each user releases it with `release_engine`."""
    with _lock:
        engine = _engines.setdefault((path, context), Engine(path, context))
        engine.users += 1
        return engine


def release_engine(engine: Engine) -> None:
    """Release an engine; the last user frees its memory."""
    with _lock:
        engine.users -= 1
        if engine.users > 0:
            return
        _engines.pop((engine.path, engine.context), None)
    engine.close()


@atexit.register
def _close_all() -> None:
    # A thread inside the model must not return into an interpreter that has ended.
    for engine in list(_engines.values()):
        engine.close()


def load(path: Path, context: int = CONTEXT) -> Any:
    """Load a weights file; a corrupt one of the catalogue is deleted, so that it can be downloaded again."""
    entry = find_entry(path)
    if entry is None:
        read_model(path)
    elif remove_if_corrupt(path, entry):
        raise _explain_broken(path, entry)
    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.n_ctx = context
    params.n_parallel = len(Slot)
    params.kv_unified = True  # one slot may use the whole context
    params.cache_idle_slots = False
    params.n_batch = params.n_ubatch = PROMPT_STEP
    params.cache_ram_mib = CACHED_PROMPTS
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = choose_threads()
    # These three halve the loading time and save a third of the memory; on a CPU they cost no speed.
    params.fit_params = False
    params.warmup = False
    params.no_extra_bufts = True
    params.api_keys = [_KEY]
    with contextlib.suppress(OSError):  # without the folder nothing is kept
        states.find_folder().mkdir(mode=0o700, parents=True, exist_ok=True)
        params.slot_save_path = f"{states.find_folder()}{os.sep}"
    params.ui = False
    params.verbosity = -1
    try:
        return xllamacpp.Server(params)
    except RuntimeError as error:
        raise _explain_failure(path) from error


def _explain_broken(path: Path, entry: Weights) -> ModelError:
    return ModelError(
        f"The weights of {entry.model} were corrupt and have been deleted ({path}).",
        provider="local",
        hint=f"Download them again: dovetail models pull {entry.name}",
        remedy="models",
    )


def _explain_failure(path: Path) -> ModelError:
    return ModelError(
        f"Cannot load the weights {str(path)!r}.",
        provider="local",
        hint="Either memory is too small, or the engine does not know the model's architecture: "
        + install_packages("--upgrade", "xllamacpp"),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class CoreTimes:
    """The seconds that all cores together have had, were idle, and worked for this process, until now."""

    total: float
    idle: float
    own: float

    @classmethod
    def read(cls) -> "CoreTimes":
        """Read the times of now; an `OSError` or `ValueError` if the system does not have them."""
        with Path("/proc/stat").open() as file:
            ticks = [int(each) for each in file.readline().split()[1:9]]  # what follows is counted in these
        second = os.sysconf("SC_CLK_TCK")
        idle = ticks[3] + ticks[4]  # and waiting for a disk
        return cls(total=sum(ticks) / second, idle=idle / second, own=time.process_time())

    def find_free_share(self, later: "CoreTimes") -> float:
        """Return the share of the time until `later` that no other process has used."""
        total = later.total - self.total
        free = later.idle - self.idle + later.own - self.own
        return min(free / total, 1.0) if total > 0 else 1.0


def measure_free(seconds: float) -> float:
    """Return the share of time that other processes leave, as of now; 1.0 if the system does not say."""
    try:
        first = CoreTimes.read()
        time.sleep(seconds)
        return first.find_free_share(CoreTimes.read())
    except (OSError, ValueError):
        return 1.0


def choose_threads(measure: Callable[[float], float] = measure_free) -> int:
    """Return the threads that compute: one per core, but one core is left to other work that keeps it busy.

    Threads that share a core with other work nearly stall, because each step waits for all of them. The
    number holds as long as the model is loaded, so a short burst of other work does not decide it.
    """
    cores = count_cores()
    is_busy = cores > 1 and all(measure(seconds) <= FREE_SHARE for seconds in LOOKS)
    return cores - 1 if is_busy else cores


def count_cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
