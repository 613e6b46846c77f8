"""Open asks: questions with an id, a time limit and exactly one answer, whichever way it comes.

The message bus, `PendingRegistry` and the asks of runs (which add storing) are built on these classes. Two
that answer at the same time cannot both win: the first claims the ask, the other is refused.
"""

import asyncio
import threading
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Protocol

from dovetail.concurrency import find_running_loop
from dovetail.data.shapes import is_number
from dovetail.events.run_events import AskKind
from dovetail.ids import new_id

DEFAULT_SECONDS = 60.0
LONGEST_SECONDS = 24 * 60 * 60.0
EARLY_SECONDS = 30.0
"""How long an answer is kept that comes before its question."""
TIMEOUT: Mapping[str, Any] = {"status": "timeout"}
"""The answer when the time limit is over."""


class Asker(Protocol):
    """Ask outside of the run and wait: `(kind, call_id, payload, time_limit)`.

    The answer is a mapping: `approved`, and where it fits `value`, `edited_args` and `remember` ("once",
    "run" or "always"); `{"status": "timeout"}` if there was none in time.
    """

    async def __call__(
        self, kind: AskKind, call_id: str, payload: Mapping[str, Any], time_limit: float | None, /
    ) -> Mapping[str, Any]: ...


@dataclass(slots=True, kw_only=True, eq=False)
class OpenAsk:
    """A question that waits for its answer; made inside the event loop that waits."""

    kind: AskKind
    call_id: str
    payload: Mapping[str, Any]
    timeout: float | None = None
    path: tuple[str, ...] = ()
    owner: str | None = None
    unstable: tuple[str, ...] = ()
    """Keys of the payload that may differ when the same is asked again after a restart."""
    has_listeners: bool = False
    """Whether listeners in this process may answer it."""
    ask_id: str = field(default_factory=lambda: new_id("ask"))
    is_stored: bool = False
    """Whether the store has the answer already."""
    is_from_listener: bool = False
    """Whether a listener on a bus answered it."""
    is_adopted: bool = False
    """Whether a run stores and answers it (see `adopt`)."""
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the run that adopted it has stored it; nothing outside may know of it before."""
    future: "asyncio.Future[Any]" = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _is_claimed: bool = False
    _is_late: bool = False
    _timer: asyncio.TimerHandle | None = None

    @property
    def is_open(self) -> bool:
        """Whether it still takes an answer."""
        return not self._is_claimed and not self.future.done()

    def answer(self, value: Any, *, is_from_listener: bool = False) -> bool:
        """Give the one answer, from any thread; False if there is one already or the wait has ended."""
        if not self.claim():
            return False
        self.is_from_listener = is_from_listener
        self.resolve(value)
        return True

    def claim(self) -> bool:
        """Reserve the right to answer, to be followed by `resolve` or `release`; False if it is taken."""
        with self._lock:
            if not self.is_open:
                return False
            self._is_claimed = True
            return True

    def resolve(self, value: Any) -> None:
        """Hand the answer to what waits; only after `claim`."""
        loop = self.future.get_loop()
        if find_running_loop() is loop:
            self._set(value)
        else:
            loop.call_soon_threadsafe(self._set, value)

    def release(self) -> None:
        """Give up the right to answer; a time limit that passed in between applies now."""
        self._is_claimed = False
        if self._is_late:
            self._expire()

    async def wait(self) -> Any:
        """Wait for the answer, `TIMEOUT` when the time limit is over."""
        self.start_timer()
        return await self.future

    def start_timer(self) -> None:
        """Start the time limit, if there is one."""
        if self.timeout is not None and self._timer is None:
            self._timer = self.future.get_loop().call_later(self.timeout, self._expire)
            self.future.add_done_callback(self._stop_timer)

    def _expire(self) -> None:
        self._is_late = True
        self.answer(TIMEOUT)

    def _stop_timer(self, future: "asyncio.Future[Any]") -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _set(self, value: Any) -> None:
        if not self.future.done():
            self.future.set_result(value)


class OpenAsks:
    """Open asks by id."""

    def __init__(self) -> None:
        self._asks: dict[str, OpenAsk] = {}

    def __len__(self) -> int:
        return len(self._asks)

    def __iter__(self) -> Iterator[OpenAsk]:
        return iter(list(self._asks.values()))

    @property
    def ids(self) -> list[str]:
        """The ids under which asks are kept."""
        return list(self._asks)

    def get(self, ask_id: str) -> OpenAsk | None:
        """Return the ask with this id, if any."""
        return self._asks.get(ask_id)

    @contextmanager
    def opened(self, ask: OpenAsk, ask_id: str | None = None) -> Generator[None]:
        """Keep an ask here while it waits, under its own id or another one."""
        key = ask_id or ask.ask_id
        self.add(ask, key)
        try:
            yield
        finally:
            self.remove(key)

    def add(self, ask: OpenAsk, ask_id: str) -> None:
        """Keep an ask under this id."""
        self._asks[ask_id] = ask

    def remove(self, ask_id: str) -> OpenAsk | None:
        """Remove the ask with this id, if any."""
        return self._asks.pop(ask_id, None)


_raised: ContextVar[OpenAsk | None] = ContextVar("dovetail_raised_ask", default=None)


@contextmanager
def raised(ask: OpenAsk) -> Generator[None]:
    """Let an asker that is called now `adopt` the ask, so that all ways to answer end the same one."""
    token = _raised.set(ask)
    try:
        yield
    finally:
        _raised.reset(token)


def adopt(kind: AskKind, call_id: str) -> OpenAsk | None:
    """Take over the ask that was raised for this call, if any: its answer is then the asker's to return."""
    ask = _raised.get()
    if ask is None or (ask.kind, ask.call_id) != (kind, call_id):
        return None
    ask.is_adopted = True
    return ask


def normalize_timeout(seconds: float | None) -> float:
    """Return a usable time limit: 60 s if there is none that makes sense, at most a day."""
    if not is_number(seconds) or seconds <= 0:
        return DEFAULT_SECONDS
    return min(float(seconds), LONGEST_SECONDS)
