"""Calls the tool as a model would: through validation, rules and limits, with only this folder loaded."""

import pytest

from dovetail.errors import ToolError
from dovetail.testing import call_folder_tool


def test_an_item_is_counted_and_a_small_number_is_low() -> None:
    assert call_folder_tool(__file__, item="chisel") == "chisel: 3 in stock (low)"
    assert call_folder_tool(__file__, item="saw") == "saw: 12 in stock (enough)"


def test_an_unknown_item_is_an_error_that_names_the_known_ones() -> None:
    with pytest.raises(ToolError, match="Expected one of: chisel, plane, saw"):
        call_folder_tool(__file__, item="hammer")
