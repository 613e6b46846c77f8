"""The usage of requests adds up, and is read from what older versions stored."""

from dovetail.events.delta import Usage


def test_usage_that_was_stored_without_cache_writes_can_be_read() -> None:
    old = {"input_tokens": 9, "output_tokens": 5, "cached_tokens": 4, "reasoning_tokens": 2, "cost": 0.5}
    assert Usage.read(old) == Usage(9, 5, 4, 2, 0.5, 0)
    assert Usage.read(None) == Usage()


def test_costs_add_up_as_far_as_they_are_known() -> None:
    assert Usage(1, 2, 3, 4, 0.5, 6) + Usage(1, 2, 3, 4, None, 6) == Usage(2, 4, 6, 8, 0.5, 12)
    assert (Usage(1) + Usage(2)).cost is None
    assert (Usage(cost=0.0) + Usage(2)).cost == 0.0
