"""What stops a loop, and what stops its clock."""

import asyncio
import gc

from dovetail.errors import ModelError
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


async def test_a_request_that_fails_as_its_run_is_left_leaves_no_unread_error() -> None:
    unread: list[dict[str, object]] = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: unread.append(context))
    await _leave_as_a_request_fails()
    gc.collect()
    assert not unread


async def _leave_as_a_request_fails() -> None:
    fails = asyncio.Event()

    async def request() -> None:
        await fails.wait()
        raise ModelError("The connection was closed.")

    async with Deadline(Budget(BudgetLimits()), CancelSignal()) as deadline:
        asked = asyncio.create_task(request())
        run = asyncio.create_task(deadline.guard(asked))
        await asyncio.sleep(0)  # both wait
        fails.set()
        asked.add_done_callback(lambda done: run.cancel())
        await asyncio.wait([run])
    assert run.cancelled()
