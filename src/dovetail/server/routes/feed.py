"""The feed: one stream per client with everything of its owner that changes."""

import asyncio
from contextlib import suppress

from fastapi import APIRouter
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from dovetail.app import Dovetail
from dovetail.errors import ConfigError
from dovetail.runs.feed import FeedReader
from dovetail.server.responses import DONE, KEEP_ALIVE, SSE_HEADERS, dump, frame
from dovetail.server.schemas import App, Owner
from dovetail.server.streams.event_stream import KEEP_ALIVE_SECONDS

router = APIRouter(prefix="/api/v1/feed", tags=["feed"])


@router.get("", response_class=Response)
async def follow_feed(app: App, owner: Owner) -> Response:
    """Stream what changes: sessions, runs, questions and extension folders.

    The first event is `reset`: read what you show. It comes again whenever news may have been missed.
    """
    return FeedStream(app.runs.feed.read(owner))


def end_feeds(app: Dovetail) -> None:
    """End all feeds of an app: its server stops."""
    with suppress(ConfigError):  # it has not started
        app.runs.feed.close()


class FeedStream(Response):
    """Stream an owner's news until the client disconnects or the server stops."""

    def __init__(self, reader: FeedReader) -> None:
        self.status_code = 200
        self.background = None
        self._reader = reader
        self.raw_headers = [(name.encode(), value.encode()) for name, value in SSE_HEADERS.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond to one request."""
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        async with self._reader:
            watcher = asyncio.create_task(self._watch(receive))
            try:
                while not watcher.done() and not self._reader.has_ended:
                    await send({"type": "http.response.body", "body": await self._next(), "more_body": True})
            finally:
                watcher.cancel()
        await send({"type": "http.response.body", "body": DONE, "more_body": False})

    async def _next(self) -> bytes:
        """Return the next news as events; after a quiet while a comment that keeps the connection alive."""
        try:
            async with asyncio.timeout(KEEP_ALIVE_SECONDS):
                return b"".join(frame(dump(news)) for news in await self._reader.next())
        except TimeoutError:
            return KEEP_ALIVE

    async def _watch(self, receive: Receive) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        self._reader.wake()
