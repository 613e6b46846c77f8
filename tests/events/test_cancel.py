"""A wish to stop becomes more urgent, never less."""

from dovetail.events.cancel import CancelSignal


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
