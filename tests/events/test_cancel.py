"""A wish to stop becomes more urgent, never less, and any thread may have it."""

import asyncio
import threading

from dovetail.events.cancel import CancelSignal
from patience import PATIENCE


def test_more_urgent_wish_wins_in_either_order() -> None:
    early, late = CancelSignal(), CancelSignal()
    early.request("now")
    early.request("after_turn")
    late.request("after_turn")
    late.request("now")
    assert early.mode == late.mode == "now"
    assert early.now.is_set()
    assert late.now.is_set()


def test_soft_wish_does_not_stop_at_once() -> None:
    signal = CancelSignal()
    signal.request("after_tool")
    assert signal.mode == "after_tool"
    assert not signal.now.is_set()


async def test_a_wish_from_another_thread_wakes_the_loop_that_waits() -> None:
    signal, waits = CancelSignal(), threading.Event()

    def press() -> None:
        waits.wait()
        signal.request("now")

    button = threading.Thread(target=press)
    button.start()
    waiting = asyncio.create_task(signal.now.wait())
    # The task waits before this callback lets the button be pressed; then nothing else is left to do.
    asyncio.get_running_loop().call_soon(waits.set)
    async with asyncio.timeout(PATIENCE):
        await waiting
    await asyncio.to_thread(button.join)
    assert signal.now.is_set()


async def test_a_wish_after_the_loop_has_ended_harms_nothing() -> None:
    signal = CancelSignal()

    async def wait_a_moment() -> None:
        waiting = asyncio.create_task(signal.now.wait())
        await asyncio.sleep(0)
        waiting.cancel()

    await asyncio.to_thread(asyncio.run, wait_a_moment())
    signal.request("now")
    assert signal.mode == "now"
