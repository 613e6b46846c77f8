"""One answer of a model's server while it arrives, and the watchdog of its time limits."""

import asyncio
import contextlib
from contextvars import Context
from typing import Any, Literal

from dovetail.errors import ModelError
from dovetail.events.call import ChatMessage, write_answer
from dovetail.events.delta import Delta, FinishDelta, ProviderPartDelta, ReasoningDelta, TextDelta
from dovetail.lazy import lazy
from dovetail.requesters.errors import Failures, describe_connection
from dovetail.requesters.http.reader import LARGEST_EVENT, AnswerReader
from dovetail.requesters.limits import TimeLimits
from dovetail.requesters.refusal import find_request_id

aiohttp = lazy("aiohttp")
DRAIN_LIMIT = 0.1
"""Seconds to wait for the end of a stream whose last event has arrived, so that its connection can stay."""


class AnswerStream:
    """Reader of a response: `first` holds its first deltas, `read` returns more until it is `over`."""

    def __init__(
        self, response: Any, reader: AnswerReader, failures: Failures, limits: TimeLimits, deadline: float
    ) -> None:
        self.pace = 0.0
        self.first: list[Delta] = []
        self.over = False
        self._response = response
        self._failures = failures
        self._limits = limits
        self._pieces = 0
        self._reader = reader
        self._kept: list[Delta] | None = [] if reader.pauses else None
        self._watchdog = Watchdog(response, limits, deadline)

    async def begin(self) -> None:
        """Read until the first delta, or the whole answer if it does not stream."""
        if self._response.content_type == "application/json":
            return await self._take_whole(b"")
        data = await self._response.content.readany()
        start = data.lstrip()[:1]
        if not self._reader.begins:
            self.first = self._feed(data)
        elif start == b"{":
            return await self._take_whole(data)
        elif start == b"<":
            raise self._failures.fail_page(self._response.status, data)
        elif start not in self._reader.begins:
            raise self._failures.fail_content_type(self._response.content_type, data)
        else:
            self.first = self._feed(data)
        while not self.first and not self.over:
            self.first = await self.read()

    async def read(self) -> list[Delta]:
        """Return the deltas that arrived next, possibly none."""
        failure = None
        try:
            data = await self._watchdog.read()
        except (aiohttp.ClientError, OSError) as error:
            data, failure = b"", self._explain(error)
        if failure is not None and not self._reader.is_complete:
            raise failure  # not inside the handler: the HTTP client's errors hold the headers
        deltas = self._feed(data)
        if self.pace and not self.over and deltas and isinstance(deltas[-1], TextDelta | ReasoningDelta):
            self._watchdog.rest(self.pace)
            return _join_text(deltas)
        return deltas

    def finish(self) -> FinishDelta:
        """Return the delta that ends the answer."""
        return self._reader.finish(find_request_id(self._response.headers))

    def build_message(self) -> ChatMessage:
        """Return the answer of a reader that may pause as a message that goes back to its provider."""
        text, parts = "", list[dict[str, Any]]()
        for delta in self._kept or ():
            if isinstance(delta, TextDelta):
                text += delta.text
            elif isinstance(delta, ProviderPartDelta):
                parts.append({"source": delta.source, "text": len(text), "calls": 0, "data": delta.data})
        return write_answer(text, (), parts)

    async def drain(self) -> None:
        """Free the connection for reuse if the server ends the response right away."""
        with contextlib.suppress(TimeoutError, aiohttp.ClientError, OSError):
            async with asyncio.timeout(DRAIN_LIMIT):
                while await self._response.content.readany():
                    pass

    def close(self) -> None:
        """Stop the generation, unless the answer is complete."""
        self._watchdog.stop()
        self._response.close()

    def _feed(self, data: bytes) -> list[Delta]:
        deltas = self._reader.feed(data) if data else self._reader.end()
        self._pieces += len(deltas)
        if self._kept is not None:
            self._kept += deltas
        self.over = self._reader.done or (not data and self._reader.is_complete)
        if not data and not deltas and not self.over:
            raise self._explain(None)
        return deltas

    async def _take_whole(self, beginning: bytes) -> None:
        pieces, size = [beginning], len(beginning)
        while piece := await self._response.content.readany():
            pieces.append(piece)
            size += len(piece)
            if size > LARGEST_EVENT:
                raise self._failures.fail_answer(f"sent an invalid answer: larger than {LARGEST_EVENT} bytes")
        self.first = self._reader.feed_whole(b"".join(pieces))
        if self._kept is not None:
            self._kept += self.first
        self.over = True

    def _explain(self, error: Exception | None) -> ModelError:
        hint = "Try again: the server, or a proxy in front of it, closed the connection too early."
        expired = self._watchdog.expired
        if expired:
            seconds = self._limits.idle if expired == "idle" else self._limits.total
            what = "no more data" if expired == "idle" else "not complete"
            reason = f"{what} within {seconds:g} s (model.timeouts.{expired})"
            hint = f"Raise model.timeouts.{expired} if the model needs more time."
        elif error is None:
            reason = "the stream closed before the final chunk"
        else:
            reason = f"the connection was lost{describe_connection(error, before=': ')}"
        pieces = "1 piece" if self._pieces == 1 else f"{self._pieces} pieces"
        text = f"The answer of {self._failures.where} was interrupted after {pieces}: {reason}"
        request_id = find_request_id(self._response.headers)
        return self._failures.fail_transient(text, hint=hint, request_id=request_id)


def _join_text(deltas: list[Delta]) -> list[Delta]:
    """Return the same text in fewer deltas."""
    joined: list[Delta] = []
    for delta in deltas:
        last = joined[-1] if joined else None
        if isinstance(delta, TextDelta) and isinstance(last, TextDelta):
            joined[-1] = TextDelta(last.text + delta.text)
        elif isinstance(delta, ReasoningDelta) and isinstance(last, ReasoningDelta):
            joined[-1] = ReasoningDelta(last.text + delta.text)
        else:
            joined.append(delta)
    return joined


class Watchdog:
    """Close `response` when one read exceeds the idle limit, or the answer the total limit."""

    __slots__ = ("_deadline", "_due", "_idle", "_loop", "_response", "_rest", "_timer", "expired")

    def __init__(self, response: Any, limits: TimeLimits, deadline: float) -> None:
        self.expired: Literal["", "idle", "total"] = ""
        self._loop = asyncio.get_running_loop()
        self._response = response
        self._idle = limits.idle
        self._deadline = deadline
        self._due = deadline
        self._rest: asyncio.TimerHandle | None = None
        self._timer = self._loop.call_at(
            min(self._loop.time() + self._idle, deadline), self._look, context=Context()
        )

    async def read(self) -> bytes:
        """Return the bytes that have arrived, at least one; empty at the end of the stream."""
        self._due = self._loop.time() + self._idle
        data: bytes = await self._response.content.readany()
        self._due = self._deadline
        return data

    def rest(self, seconds: float) -> None:
        """Pause reading from the socket: several pieces at once cost hardly more than one."""
        connection = self._response.connection
        if connection is not None and connection.transport is not None:
            connection.transport.pause_reading()
            self._rest = self._loop.call_later(seconds, connection.transport.resume_reading)

    def stop(self) -> None:
        """Stop watching."""
        self._timer.cancel()
        if self._rest is not None:
            self._rest.cancel()

    def _look(self) -> None:
        now = self._loop.time()
        due = min(self._due, self._deadline)
        if now < due:
            self._timer = self._loop.call_at(min(due, now + self._idle), self._look, context=Context())
            return
        self.expired = "total" if now >= self._deadline else "idle"
        self._response.close()
