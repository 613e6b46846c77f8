"""Reading at a pace."""

import asyncio

from dovetail.events.model_events import ModelProgress, TextDeltaEvent, TextEnd, TextStart
from dovetail.events.run_events import RunEnd
from dovetail.runs.journal import Block, Journal
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


async def test_how_far_the_model_is_comes_under_the_last_number_and_only_the_newest() -> None:
    journal = Journal("r")
    journal.append(TextStart("t"), ROOT)
    async with Reader(journal) as reader, Reader(journal, after=1) as other:
        await reader.next()
        for done in (1, 2):
            journal.append(ModelProgress("read", done, 3), ROOT)
        [entry] = await reader.next()
        assert (entry.number, entry.event) == (1, ModelProgress("read", 2, 3))
        assert await other.next() == [entry]
        waiting = asyncio.create_task(reader.next())
        await asyncio.sleep(0)
        assert not waiting.done()
        journal.append(TextEnd("t"), ROOT)
        assert [(entry.number, entry.event) for entry in await waiting] == [(2, TextEnd("t"))]


async def test_a_run_that_ends_while_its_model_reads_shows_only_its_end() -> None:
    journal = Journal("r")
    async with Reader(journal) as reader:
        journal.append(ModelProgress("read", 1, 3), ROOT)
        journal.end(RunEnd("error"))
        journal.mark_saved(1)
        assert [entry.event for entry in await reader.next()] == [RunEnd("error")]
        assert reader.ended


async def test_a_reader_of_a_run_that_was_deleted_elsewhere_is_released() -> None:
    async def load(run_id: str, after: int = 0) -> list[Block]:
        return []

    journal = Journal("r")
    async with Reader(journal, 1, load) as reader:
        journal.follow(3, has_ended=True)
        assert await reader.next() == []
        assert reader.ended
        assert not reader.was_left


def test_how_far_the_model_is_is_never_stored() -> None:
    journal = Journal("r")
    journal.append(TextStart("t"), ROOT)
    journal.append(ModelProgress("read", 1, 3), ROOT)
    journal.append(TextEnd("t"), ROOT)
    assert [block.event for block in journal.take_unsaved()] == [TextStart("t"), TextEnd("t")]
    assert [entry.number for entry in journal.after(0)] == [1, 2]
