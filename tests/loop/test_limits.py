"""What stops a loop, and what stops its clock."""

import asyncio

from dovetail.events.cancel import CancelSignal
from dovetail.loop.budget import Budget, BudgetLimits
from dovetail.loop.limits import Deadline
from patience import PATIENCE


async def test_a_run_in_a_thread_below_may_stop_the_clock() -> None:
    asyncio.get_running_loop().set_debug(True)  # it refuses what only its own thread may do
    above = Budget(BudgetLimits(seconds=60))
    below = Budget(parent=above)

    def ask() -> None:
        with below.paused():
            pass

    async with Deadline(above, CancelSignal()) as deadline:
        await asyncio.to_thread(ask)
        await asyncio.sleep(0)
    assert deadline.reason is None


async def test_a_timeout_without_an_open_question_stops_the_loop() -> None:
    async with (
        Deadline(Budget(BudgetLimits(seconds=0.01)), CancelSignal()) as deadline,
        asyncio.timeout(PATIENCE),
    ):
        await deadline.event.wait()
    assert deadline.reason == "timeout"
