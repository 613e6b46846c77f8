"""The tool of this folder, called as a model would call it."""

import pytest

from dovetail.errors import ToolError
from dovetail.testing import call_folder_tool


def test_an_order_is_found_by_its_number() -> None:
    [order] = call_folder_tool(__file__, search="a-1003")
    assert (order["customer"], order["price"]) == ("Bob Miller", 640.0)


@pytest.mark.parametrize("search", ["ann@example.com", "Ann Smith", "smith"])
def test_orders_of_a_customer_are_found_newest_first(search: str) -> None:
    assert [order["number"] for order in call_folder_tool(__file__, search=search)] == ["A-1002", "A-1001"]


def test_a_search_without_a_result_says_what_to_search_for() -> None:
    with pytest.raises(ToolError, match=r"No order matches 'A-9'\. Search for an order number"):
        call_folder_tool(__file__, search="A-9")
