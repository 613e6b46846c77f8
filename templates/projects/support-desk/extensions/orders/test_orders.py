"""Calls the tools as a model would: through validation, rules and limits, with only this folder loaded."""

import pytest

from dovetail.errors import ToolError
from dovetail.testing import call_folder_tool


def test_an_order_is_found() -> None:
    assert call_folder_tool(__file__, "find_order", number="A-1001")["customer"] == "Ann Smith"


def test_a_refund_is_made_once_it_is_approved() -> None:
    text = call_folder_tool(__file__, "refund", number="A-1001", amount=10, reason="late")
    assert text == "Refunded 10.00 EUR to Ann Smith (A-1001): late"


@pytest.mark.parametrize("amount", [0, 48.01, 1000])
def test_more_than_the_order_or_the_limit_is_not_refunded(amount: float) -> None:
    with pytest.raises(ToolError, match="at most 48"):
        call_folder_tool(__file__, "refund", number="A-1001", amount=amount, reason="late")


def test_an_unknown_order_is_explained() -> None:
    with pytest.raises(ToolError, match="Unknown order 'B-1'"):
        call_folder_tool(__file__, "find_order", number="B-1")
