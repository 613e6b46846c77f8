"""The bell that ends the pause of a queue's thread."""

import threading

from dovetail.runs.engines.dbos_worker import Bell


def test_a_bell_that_was_rung_ends_the_next_pause_once() -> None:
    bell = Bell()
    bell.ring()
    assert not bell.wait(60)
    assert not bell.wait(0.001)


def test_ringing_ends_a_pause_in_progress() -> None:
    bell = Bell()
    threading.Timer(0.01, bell.ring).start()
    assert not bell.wait(60)


def test_stopping_ends_the_pause_and_every_later_one() -> None:
    bell = Bell()
    threading.Timer(0.01, bell.set).start()
    assert bell.wait(60)
    assert bell.is_set()
    assert bell.wait(60)
