"""Turns are handed out in order, who leaves does not hold up the others, and threads suit the cores."""

import asyncio
import threading

import pytest

from dovetail.requesters.local.llama import (
    CoreTimes,
    Ticket,
    TurnQueue,
    choose_threads,
    count_cores,
    measure_free,
)
from patience import PATIENCE


async def settle() -> None:
    """Let all tasks that can run do so."""
    for _ in range(10):
        await asyncio.sleep(0)


async def test_turns_come_in_the_order_of_asking() -> None:
    queue = TurnQueue()
    order: list[int] = []

    async def stand(number: int) -> None:
        ticket = await queue.take()
        order.append(number)
        await asyncio.sleep(0)
        ticket.leave()

    await asyncio.gather(*(stand(number) for number in range(5)))
    assert order == [0, 1, 2, 3, 4]
    assert len(queue) == 0


async def test_cancelled_waiter_leaves_the_line() -> None:
    queue = TurnQueue()
    first = await queue.take()
    second = asyncio.create_task(queue.take())
    third = asyncio.create_task(queue.take())
    await settle()
    second.cancel()
    await settle()
    assert len(queue) == 2
    first.leave()
    assert isinstance(await asyncio.wait_for(third, PATIENCE), Ticket)


async def test_waiter_cancelled_at_the_moment_of_its_turn_passes_it_on() -> None:
    queue = TurnQueue()
    first = await queue.take()
    second = asyncio.create_task(queue.take())
    third = asyncio.create_task(queue.take())
    await settle()
    first.leave()
    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second
    assert isinstance(await asyncio.wait_for(third, PATIENCE), Ticket)


async def test_leaving_twice_makes_no_second_turn() -> None:
    queue = TurnQueue()
    first = await queue.take()
    second = asyncio.create_task(queue.take())
    third = asyncio.create_task(queue.take())
    await settle()
    first.leave()
    first.leave()
    await settle()
    assert second.done()
    assert not third.done()
    third.cancel()


def test_event_loops_of_several_threads_share_one_line() -> None:
    queue = TurnQueue()
    inside = 0
    most = 0

    async def stand() -> None:
        nonlocal inside, most
        for _ in range(50):
            ticket = await queue.take()
            inside += 1
            most = max(most, inside)
            await asyncio.sleep(0)
            inside -= 1
            ticket.leave()

    threads = [threading.Thread(target=lambda: asyncio.run(stand())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert not any(thread.is_alive() for thread in threads)
    assert most == 1


@pytest.mark.parametrize(
    ("shares", "looks", "spared"),
    [([0.9], 1, 0), ([0.1, 0.9], 2, 0), ([0.1, 0.2], 2, 1)],
    ids=["quiet", "a short burst", "busy"],
)
def test_a_core_is_left_only_to_other_work_that_lasts(shares: list[float], looks: int, spared: int) -> None:
    seen: list[float] = []

    def measure(seconds: float) -> float:
        seen.append(seconds)
        return shares[len(seen) - 1]

    cores = count_cores()
    if cores == 1:
        assert choose_threads(measure) == 1
        return
    assert choose_threads(measure) == cores - spared
    assert len(seen) == looks
    assert sum(seen) <= 1


@pytest.mark.parametrize(
    ("idle", "own", "share"),
    [(0.0, 0.2, 1.0), (0.05, 0.1, 0.75), (0.05, 0.0, 0.25), (0.2, 0.01, 1.0)],
    ids=["only this process", "this one and another", "only another", "rounded"],
)
def test_the_work_of_this_process_counts_as_free(idle: float, own: float, share: float) -> None:
    first = CoreTimes(total=100.0, idle=50.0, own=1.0)
    later = CoreTimes(total=100.2, idle=50.0 + idle, own=1.0 + own)
    assert first.find_free_share(later) == pytest.approx(share)
    assert first.find_free_share(first) == 1.0


def test_the_free_share_of_this_machine_is_a_share() -> None:
    assert 0 <= measure_free(0.05) <= 1
