"""One attempt at an answer: read independently of its readers until it ends, times out or is cancelled."""

import asyncio
import threading
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import Any, Generic, TypeVar

from dovetail.concurrency import require_asyncio
from dovetail.errors import AnswerTimeoutError, CancelledRunError
from dovetail.events.delta import TextDelta
from dovetail.response.field_event import FieldEvent
from dovetail.response.log import Log, LogEntry
from dovetail.response.parser import AnswerFormat, InstantParser
from dovetail.response.result import Result


class Fields:
    """Follows a log with a parser; `events` grows as far as readers ask."""

    def __init__(self, log: Log[LogEntry], parser: InstantParser) -> None:
        self.events: list[FieldEvent] = []
        self._log = log
        self._parser = parser
        self._position = 0
        self._lock = threading.Lock()

    def catch_up(self) -> int:
        """Parse the new entries; return the number of entries read so far."""
        with self._lock:
            items = self._log.items
            while self._position < len(items):
                entry = items[self._position]
                if isinstance(entry, TextDelta):
                    self.events += self._parser.feed(entry.text)
                self._position += 1
            return self._position

    def finish(self) -> None:
        """Complete open fields once the answer has ended; those of one that was cut off stay open."""
        with self._lock:
            self.events += self._parser.finish()


T = TypeVar("T")
AtEnd = Callable[[Result[Any]], Awaitable[None]]


class Attempt(Generic[T]):
    """Reads a source into a log, once, in the event loop of its first reader."""

    def __init__(
        self,
        source: AsyncGenerator[LogEntry, None],
        format: AnswerFormat[T],
        *,
        number: int = 1,
        timeout: float | None = None,
        extra: dict[str, Any] | None = None,
        at_end: AtEnd | None = None,
    ) -> None:
        self.log: Log[LogEntry] = Log()
        self.error: BaseException | None = None
        self.number = number
        self.format = format
        self.fields = Fields(self.log, format.make_parser())
        self._source = source
        self._timeout = timeout
        self._extra = extra
        self._at_end = at_end
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None
        self._times: dict[str, float | None] = {"first_token": None, "total": None}

    @property
    def state(self) -> str:
        """Where the answer is, in words: not sent, in progress, complete, cancelled or failed."""
        if not self.log.ended:
            return "not sent" if self._task is None else "in progress"
        if self.error is None:
            return "complete"
        return "cancelled" if isinstance(self.error, CancelledRunError) else f"failed: {self.error!r}"

    def read(self) -> AsyncGenerator[LogEntry, None]:
        """Yield every entry from the first on; the first reader starts the request."""
        self.start()
        return self.log.read()

    async def wait(self) -> Result[T]:
        """Return the result when the answer is complete."""
        self.start()
        await self.log.wait_for_end()
        self.raise_error()
        return await self.make_result().read_ahead()

    def raise_error(self) -> None:
        """Raise the error that interrupted the answer, if any."""
        if self.error is not None:
            raise self.error

    def start(self) -> None:
        """Start reading in this event loop, unless reading has started."""
        with self._lock:
            if self._task is None and not self.log.ended:
                self._loop = require_asyncio()
                self._task = self._loop.create_task(self._run())

    def cancel(self) -> None:
        """Stop reading; entries received so far are kept, then readers get a `CancelledRunError`."""
        with self._lock:
            if self.log.ended:
                return
            if self._loop is None or self._task is None:
                self.error = CancelledRunError("The request was cancelled before it was sent.")
                self.log.end()
            else:
                self.error = CancelledRunError("The request was cancelled.")
                self._loop.call_soon_threadsafe(self._task.cancel)

    def make_result(self) -> Result[T]:
        """Return the entries received so far as a result."""
        return Result(
            tuple(self.log.items),
            self.format,
            timings=self._times,
            extra=self._extra,
            attempt=self.number,
        )

    def runs_in(self, loop: asyncio.AbstractEventLoop | None) -> bool:
        """Return whether this loop is still to read it."""
        return loop is not None and self._loop is loop and not self.log.ended

    async def _run(self) -> None:
        began = time.perf_counter()
        limit = asyncio.timeout(self._timeout)
        try:
            async with limit:
                await self._read(began)
        except TimeoutError as error:
            self.error = self._describe_timeout() if limit.expired() else error
        except asyncio.CancelledError:
            if self.error is None:  # not our cancel: the event loop is going down
                self.error = CancelledRunError("The event loop ended before the answer did.")
                raise
        except Exception as error:
            self.error = error
        finally:
            self._times["total"] = time.perf_counter() - began
            await self._end()

    async def _read(self, began: float) -> None:
        append = self.log.append
        async with aclosing(self._source) as source:
            async for entry in source:
                append(entry)
                break
            self._times["first_token"] = time.perf_counter() - began
            async for entry in source:
                append(entry)

    async def _end(self) -> None:
        try:
            if self._at_end is not None:
                await self._at_end(self.make_result())
        except Exception as error:
            self.error = self.error or error
        finally:
            self.log.end()

    def _describe_timeout(self) -> AnswerTimeoutError:
        text = self.make_result().text
        received = f"{len(text)} characters had arrived" if text else "nothing had arrived"
        return AnswerTimeoutError(
            f"No complete answer after {self._timeout} s; {received}.",
            hint="Allow more time with `timeout=`.",
        )
