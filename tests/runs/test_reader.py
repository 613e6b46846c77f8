"""Reading at a pace."""

import asyncio

from dovetail.events.model_events import TextDeltaEvent, TextEnd, TextStart
from dovetail.events.run_events import RunEnd
from dovetail.runs.journal import Journal
from dovetail.runs.reader import Reader

ROOT = ("r",)


async def test_what_comes_soon_after_is_given_together_and_the_end_at_once() -> None:
    journal = Journal("r")
    async with Reader(journal) as reader:
        reader.pace = 3600.0
        first = asyncio.create_task(reader.next())
        await asyncio.sleep(0)
        journal.append(TextStart("t"), ROOT)
        assert [entry.number for entry in await first] == [1]
        rest = asyncio.create_task(reader.next())
        await asyncio.sleep(0)
        for event in (TextDeltaEvent("t", "one"), TextDeltaEvent("t", "two"), TextEnd("t")):
            journal.append(event, ROOT)
            await asyncio.sleep(0)
        assert not rest.done()
        journal.append(RunEnd("goal"), ROOT)
        entries = await rest
    assert [entry.event for entry in entries] == [TextDeltaEvent("t", "onetwo"), TextEnd("t"), RunEnd("goal")]
    assert reader.ended


async def test_without_a_pace_everything_is_given_as_it_comes() -> None:
    journal = Journal("r")
    async with Reader(journal) as reader:
        for number, event in enumerate((TextStart("t"), TextDeltaEvent("t", "one")), 1):
            task = asyncio.create_task(reader.next())
            await asyncio.sleep(0)
            journal.append(event, ROOT)
            assert [entry.number for entry in await task] == [number]
