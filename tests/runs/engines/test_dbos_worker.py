"""The bell that ends the pause of a queue's thread."""

import asyncio
import threading
from collections.abc import Generator

import pytest

from dovetail.runs.engines.dbos_worker import Bell
from patience import PATIENCE


@pytest.fixture
def loop() -> Generator[asyncio.AbstractEventLoop]:
    """An event loop that turns, in a thread of its own."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    yield loop
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


def test_a_bell_that_was_rung_ends_the_next_pause_once(loop: asyncio.AbstractEventLoop) -> None:
    bell = Bell(loop)
    bell.ring()
    assert not bell.wait(60)
    assert not bell.wait(0.001)


def test_ringing_ends_a_pause_in_progress(loop: asyncio.AbstractEventLoop) -> None:
    bell = Bell(loop)
    threading.Timer(0.01, bell.ring).start()
    assert not bell.wait(60)


def test_stopping_ends_the_pause_and_every_later_one(loop: asyncio.AbstractEventLoop) -> None:
    bell = Bell(loop)
    threading.Timer(0.01, bell.set).start()
    assert bell.wait(60)
    assert bell.is_set()
    assert bell.wait(60)


def test_a_queue_is_left_alone_while_the_event_loop_hangs(loop: asyncio.AbstractEventLoop) -> None:
    bell, hangs, freed = Bell(loop), threading.Event(), threading.Event()
    loop.call_soon_threadsafe(lambda: hangs.set() or freed.wait(PATIENCE))
    assert hangs.wait(PATIENCE)
    looked: list[bool] = []
    thread = threading.Thread(target=lambda: looked.append(bell.wait(0.001)))
    thread.start()
    thread.join(0.1)
    assert looked == []
    freed.set()
    thread.join(PATIENCE)
    assert looked == [False]
