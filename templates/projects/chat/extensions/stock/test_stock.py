"""Calls the tool as a model would: through validation, rules and limits, with only this folder loaded."""

import csv
from pathlib import Path

import pytest

from dovetail.errors import ToolError
from dovetail.testing import call_folder_tool


def test_an_item_is_counted_and_a_small_number_is_low() -> None:
    assert call_folder_tool(__file__, item="chisel") == "chisel: 3 in stock (low)"
    assert call_folder_tool(__file__, item="saw") == "saw: 12 in stock (enough)"


def test_every_item_of_the_file_can_be_counted() -> None:
    with (Path(__file__).parent / "stock.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            assert f"{row['item']}: {row['pieces']}" in call_folder_tool(__file__, item=row["item"])


def test_an_unknown_item_is_an_error_that_names_the_known_ones() -> None:
    with pytest.raises(ToolError, match=r"chisel.*plane.*saw"):
        call_folder_tool(__file__, item="hammer")
