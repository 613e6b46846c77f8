"""What a stream sends besides the events of its run."""

import asyncio

from starlette.types import Message

from dovetail.events.model_events import TextDeltaEvent
from dovetail.events.run_events import RunEnd
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


async def test_stream_of_a_run_that_was_left_breaks_off_instead_of_ending() -> None:
    """Its last events may never be stored: the client has to read again, where the run continues."""
    journal = Journal("run")
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)
        if len(sent) == 2:
            journal.end(RunEnd("cancelled"))
            journal.freeze()

    async def receive() -> Message:
        await asyncio.Event().wait()
        return {"type": "http.disconnect"}

    journal.append(TextDeltaEvent("t", "one"), ("run",))
    stream = EventStream(Reader(journal), RunEventEncoder())
    await asyncio.wait_for(stream({"type": "http"}, receive, send), PATIENCE)
    assert [message.get("more_body") for message in sent] == [None, True]
    assert b"one" in sent[1]["body"]
