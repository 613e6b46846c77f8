"""A response that follows a run: it reads, encodes and sends, and never delays the run."""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from starlette.background import BackgroundTask
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from dovetail.events.model_events import ModelRequestEvent
from dovetail.events.run_events import Entry, RunEnd
from dovetail.runs.reader import Reader
from dovetail.server.responses import DONE, KEEP_ALIVE, SSE_HEADERS, dump, frame

logger = logging.getLogger(__name__)


class EventEncoder(Protocol):
    """The encoder of one protocol; each stream has its own."""

    @property
    def headers(self) -> Mapping[str, str]:
        """The response's headers."""
        ...

    def encode(self, entries: Sequence[Entry]) -> bytes:
        """Return the next entries as bytes."""
        ...

    @property
    def wants_pause(self) -> bool:
        """Whether the stream ends here although the run continues, because the client must act first."""
        ...

    def end(self) -> bytes:
        """Return the bytes after the last entry, or at a pause."""
        ...


class RunEventEncoder:
    """Our own events, one server-sent event per journal entry; `complete` restores requests.

    With the `path` of a child only its events are sent, and those of the agents that it calls.
    """

    headers = SSE_HEADERS

    def __init__(
        self,
        complete: Callable[[ModelRequestEvent], ModelRequestEvent] | None = None,
        path: tuple[str, ...] = (),
    ) -> None:
        self._complete = complete
        self._path = path
        self.wants_pause = False

    def encode(self, entries: Sequence[Entry]) -> bytes:
        """Return the entries as they are."""
        path = self._path
        own = [entry for entry in entries if entry.path[: len(path)] == path]
        if path and own and own[-1].path == path and isinstance(own[-1].event, RunEnd):
            self.wants_pause = True
        return b"".join(frame(dump(self._read(entry).to_dict()), entry.number) for entry in own)

    def _read(self, entry: Entry) -> Entry:
        if self._complete is None or not isinstance(entry.event, ModelRequestEvent):
            return entry
        return replace(entry, event=self._complete(entry.event))

    def end(self) -> bytes:
        """Return the mark that ends the stream."""
        return DONE


KEEP_ALIVE_SECONDS = 15.0
PACE = 0.04
"""Seconds between two writes: faster than that, no reader can see a text grow."""


class EventStream(Response):
    """Stream a run's events through an encoder; a client that disconnects ends only this stream.

    If the run leaves this process before its end, the response is not completed: the server closes the
    connection, and the client reads again, as after a crash. What it has seen may never be stored.

    `hold` is for how many seconds it stays open although the encoder wants a pause.
    """

    def __init__(
        self, reader: Reader, encoder: EventEncoder, *, opening: bytes = b"", hold: float = 0.0
    ) -> None:
        self.status_code = 200
        self.background: BackgroundTask | None = None
        self._reader = reader
        reader.pace = PACE
        self._encoder = encoder
        self._opening = opening
        self._hold = hold
        self._ticker: asyncio.TimerHandle | None = None
        self.raw_headers = [
            (name.encode("latin-1"), value.encode("latin-1")) for name, value in encoder.headers.items()
        ]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond to one request."""
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        async with self._reader:
            watcher = asyncio.create_task(self._watch(receive))
            release = asyncio.get_running_loop().call_later(self._hold, self._release) if self._hold else None
            self._tick()
            try:
                await self._follow(watcher, send)
            finally:
                watcher.cancel()
                if release is not None:
                    release.cancel()
                if self._ticker is not None:
                    self._ticker.cancel()

    async def _follow(self, watcher: "asyncio.Task[None]", send: Send) -> None:
        reader, encoder = self._reader, self._encoder
        body = self._opening
        while not reader.ended and not watcher.done():
            if encoder.wants_pause and reader.is_at_end and not self._hold:
                break
            if entries := await reader.next():
                body += encoder.encode(entries)
            elif not reader.ended:
                body += KEEP_ALIVE
            if body:
                await send({"type": "http.response.body", "body": body, "more_body": True})
                body = b""
        if reader.was_left and not watcher.done():
            logger.info("stream broken off: its run continues elsewhere, or later")
            if body:
                await send({"type": "http.response.body", "body": body, "more_body": True})
            return
        await send({"type": "http.response.body", "body": body + encoder.end(), "more_body": False})

    async def _watch(self, receive: Receive) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        self._reader.wake()

    def _release(self) -> None:
        self._hold = 0.0
        self._reader.wake()

    def _tick(self) -> None:
        """Wake the reader regularly; if it has nothing, a comment keeps the connection alive."""
        self._reader.wake()
        self._ticker = asyncio.get_running_loop().call_later(KEEP_ALIVE_SECONDS, self._tick)
