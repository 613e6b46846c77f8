"""What a stream sends besides the events of its run."""

import asyncio

from starlette.types import Message

from dovetail.runs.journal import Journal
from dovetail.runs.reader import Reader
from dovetail.server.streams.event_stream import EventStream, RunEventEncoder
from patience import PATIENCE


async def test_stream_of_a_run_without_news_is_silent() -> None:
    sent: list[Message] = []
    started = asyncio.Event()

    async def send(message: Message) -> None:
        sent.append(message)
        started.set()

    async def receive() -> Message:
        await asyncio.Event().wait()
        return {"type": "http.disconnect"}

    stream = EventStream(Reader(Journal("run")), RunEventEncoder())
    answering = asyncio.create_task(stream({"type": "http"}, receive, send))
    await asyncio.wait_for(started.wait(), PATIENCE)
    await asyncio.wait([answering], timeout=0.05)
    answering.cancel()
    assert [message["type"] for message in sent] == ["http.response.start"]
