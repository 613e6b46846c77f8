"""A call that waits for the browser gets one answer: early, in time, or a time-out."""

import asyncio
import math

import pytest

from dovetail.errors import ConfigError
from dovetail.events.asks import normalize_timeout
from dovetail.policy.pending import PendingRegistry


def ack(call_id: str, output: object = None) -> dict[str, object]:
    return {"toolCallId": call_id, "status": "success", "output": output}


async def test_answer_resolves_its_waiter_once() -> None:
    registry = PendingRegistry()
    waiting = registry.register("call", 60)
    assert registry.resolve(ack("call", 1)) == "resolved"
    assert registry.resolve(ack("call", 2)) == "missing"
    assert (await waiting)["output"] == 1


async def test_early_answer_is_kept_for_its_waiter_and_a_second_one_is_refused() -> None:
    registry = PendingRegistry()
    assert registry.resolve(ack("call", 1)) == "stored"
    assert registry.resolve(ack("call", 2)) == "missing"
    assert (await registry.register("call"))["output"] == 1
    assert registry.resolve(ack("call", 3)) == "missing"


async def test_early_answer_is_dropped_after_thirty_seconds() -> None:
    now = 100.0
    registry = PendingRegistry(clock=lambda: now)
    assert registry.resolve(ack("call", 1)) == "stored"
    now = 130.0
    waiting = registry.register("call", 0.01)
    assert await waiting == {"status": "timeout"}


async def test_time_out_resolves_and_a_late_answer_is_missing() -> None:
    registry = PendingRegistry()
    assert await registry.register("call", 0.01) == {"status": "timeout"}
    assert registry.resolve(ack("call")) == "missing"
    with pytest.raises(ConfigError, match="has already been used"):
        registry.register("call")


async def test_one_waiter_per_call_id() -> None:
    registry = PendingRegistry()
    waiting = registry.register("call")
    with pytest.raises(ConfigError, match="'call' has already been used"):
        registry.register("call")
    with pytest.raises(ConfigError, match="Missing call id"):
        registry.register("  ")
    registry.cancel("call")
    assert waiting.cancelled()


async def test_answers_are_delivered_only_to_their_owner() -> None:
    registry = PendingRegistry()
    waiting = registry.register("call", owner="ann")
    assert registry.resolve(ack("call", "forged"), owner="bob") == "missing"
    assert registry.resolve(ack("call", "true"), owner="ann") == "resolved"
    assert (await waiting)["output"] == "true"
    assert registry.resolve(ack("early", "forged"), owner="bob") == "stored"
    assert await registry.register("early", 0.01, owner="ann") == {"status": "timeout"}


async def test_cancelled_waiter_leaves_nothing_behind() -> None:
    registry = PendingRegistry()
    waiting = asyncio.ensure_future(registry.register("call"))
    waiting.cancel()
    await asyncio.wait([waiting])
    assert registry.resolve(ack("call")) == "missing"


async def test_number_of_early_answers_is_bounded() -> None:
    registry = PendingRegistry()
    for number in range(1001):
        assert registry.resolve(ack(f"call-{number}")) == "stored"
    assert await registry.register("call-0", 0.01) == {"status": "timeout"}
    assert (await registry.register("call-1000"))["status"] == "success"


@pytest.mark.parametrize(
    ("given", "used"),
    [(None, 60), (0, 60), (-1, 60), (math.nan, 60), (math.inf, 60), (10**400, 60), (5, 5), (10**9, 86_400)],
)
def test_time_limit_is_a_minute_by_default_and_a_day_at_most(given: float | None, used: float) -> None:
    assert normalize_timeout(given) == used


async def test_early_answer_of_another_user_blocks_no_one() -> None:
    registry = PendingRegistry()
    assert registry.resolve({"toolCallId": "call-1", "status": "failed"}, owner="bob") == "stored"
    assert registry.resolve({"toolCallId": "call-1", "status": "success"}, owner="ann") == "stored"
    assert (await registry.register("call-1", 60, owner="ann"))["status"] == "success"
