"""How long a request to a model takes: what it waits for, its first token, its end, and its failed attempts.

A requester reports waits and failed attempts with `note_wait` and `note_retry`; they belong to the request
around it, if one is timed.
"""

import asyncio
import logging
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from time import monotonic

from dovetail.errors import ModelError
from dovetail.events.delta import Delta, ProgressDelta, RequestTiming

logger = logging.getLogger("dovetail.requests")


class RequestClock:
    """The clock of one request."""

    __slots__ = ("_began", "_retries", "_waited", "first")

    def __init__(self) -> None:
        self._began = monotonic()
        self._retries: list[str] = []
        self._waited = 0.0
        self.first: float | None = None
        """Seconds until the answer began."""

    def note(self, delta: Delta) -> None:
        """Take the first delta of the answer itself."""
        if not isinstance(delta, ProgressDelta):
            self.first = monotonic() - self._began

    def note_retry(self, why: str, seconds: float) -> None:
        """Take a failed attempt, after which the next one waits."""
        self._retries.append(why)
        self._waited += seconds

    def note_wait(self, seconds: float) -> None:
        """Take a wait before an attempt."""
        self._waited += seconds

    def read(self) -> RequestTiming:
        """Return the times so far."""
        first = None if self.first is None else round(self.first, 3)
        seconds, waited = round(monotonic() - self._began, 3), round(self._waited, 3)
        return RequestTiming(seconds=seconds, first_token=first, waited=waited, retries=tuple(self._retries))


_current: ContextVar[RequestClock | None] = ContextVar("dovetail_request_clock", default=None)


@contextmanager
def timed(model: str) -> Generator[RequestClock]:
    """Time a request to a model, and log a line at its end, however it ends."""
    clock = RequestClock()
    token = _current.set(clock)
    status = "ok"
    try:
        yield clock
    except (asyncio.CancelledError, GeneratorExit):
        status = "cancelled"
        raise
    except BaseException as error:
        status = name_failure(error)
        raise
    finally:
        _current.reset(token)
        timing = clock.read()
        fields = {
            "model": model,
            "status": status,
            "duration": timing.seconds,
            "first_token": timing.first_token,
            "waited": timing.waited,
            "retries": ",".join(timing.retries) or None,
        }
        shown = {name: value for name, value in fields.items() if value or name == "duration"}
        logger.info("model request", extra={"fields": shown})


def note_retry(error: ModelError, seconds: float) -> None:
    """Report a failed attempt of the request in progress; the next one comes in some seconds."""
    if (clock := _current.get()) is not None:
        clock.note_retry(name_failure(error), seconds)


@contextmanager
def waiting() -> Generator[None]:
    """Count the time of this block as a wait of the request in progress."""
    began = monotonic()
    try:
        yield
    finally:
        if (clock := _current.get()) is not None:
            clock.note_wait(monotonic() - began)


def name_failure(error: BaseException) -> str:
    """Return the HTTP status of a failed request, or the name of its error."""
    status = getattr(error, "status", None)
    return str(status) if status is not None else type(error).__name__
