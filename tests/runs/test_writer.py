"""What the writer stores when, and together with what."""

import asyncio
from collections.abc import Sequence

import pytest

from dovetail.errors import StoreError
from dovetail.events.model_events import TextDeltaEvent
from dovetail.events.run_events import RunEnd
from dovetail.runs.journal import Journal
from dovetail.runs.writer import Batch, JournalWriter
from patience import PATIENCE


class Drawer:
    """Keeps the numbers of what it is given, one list for each time."""

    def __init__(self) -> None:
        self.stored: list[list[tuple[str, list[int], bool]]] = []
        self.used = asyncio.Event()

    async def append(self, batches: Sequence[Batch]) -> list[str]:
        self.stored.append(
            [(one.run_id, [block.last for block in one.blocks], bool(one.save)) for one in batches]
        )
        self.used.set()
        return []


def write(writer: JournalWriter, run_id: str) -> Journal:
    journal = Journal(run_id)
    journal.append(TextDeltaEvent("t", "one"), (run_id,))
    writer.mark(journal)
    return journal


async def test_waiting_for_one_run_does_not_store_all_others() -> None:
    drawer = Drawer()
    writer = JournalWriter(drawer, lambda journal: None, interval=3600)
    first, second = write(writer, "first"), write(writer, "second")
    await writer.flush(first)
    assert (drawer.stored, second.saved) == ([[("first", [1], False)]], 0)
    await writer.close()
    assert drawer.stored[1:] == [[("second", [1], False)]]


async def test_all_news_are_stored_together_when_their_time_has_come() -> None:
    drawer = Drawer()
    writer = JournalWriter(drawer, lambda journal: None, interval=0)
    for name in ("first", "second"):
        write(writer, name)
    async with asyncio.timeout(PATIENCE):
        await drawer.used.wait()
    assert drawer.stored == [[("first", [1], False), ("second", [1], False)]]
    await writer.close()


async def test_nothing_more_is_stored_of_a_run_that_was_lost_also_when_it_comes_back() -> None:
    drawer = Drawer()
    writer = JournalWriter(drawer, lambda journal: None, interval=3600)
    lost = write(writer, "run")
    writer.forget(lost)
    back = write(writer, "run")
    await writer.flush(back)
    await writer.close()
    assert drawer.stored == [[("run", [1], False)]]
    assert (lost.saved, back.saved) == (0, 1)


async def test_what_is_kept_goes_with_the_end_of_its_run() -> None:
    drawer = Drawer()
    writer = JournalWriter(drawer, lambda journal: None, interval=3600)
    journal = write(writer, "run")
    await writer.flush(journal)
    await writer.end(journal, RunEnd("goal"), lambda connection: None)
    await writer.close()
    assert drawer.stored == [[("run", [1], False)], [("run", [2], True)]]
    assert journal.closed


async def test_a_process_that_stops_does_not_wait_long_for_a_full_disk(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class FullDisk:
        async def append(self, batches: Sequence[Batch]) -> list[str]:
            raise StoreError("the disk is full")

    writer = JournalWriter(FullDisk(), lambda journal: None, interval=3600, patience=3600, farewell=0.05)
    journal = write(writer, "run")
    async with asyncio.timeout(PATIENCE):
        await writer.close()
    assert "1 journals could not be stored before shutdown" in caplog.messages
    assert journal.saved == 0
