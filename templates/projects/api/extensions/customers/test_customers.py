"""Calls the tool as a model would: through validation, rules and limits, with only this folder loaded."""

import pytest

from dovetail.errors import ToolError
from dovetail.testing import call_folder_tool


def test_a_customer_is_found_by_number() -> None:
    assert call_folder_tool(__file__, number="C-7") == {"name": "Ann Smith", "plan": "business"}


@pytest.mark.parametrize(
    ("number", "problem"), [("seven", "must match the pattern"), ("C-9", "Unknown customer")]
)
def test_a_wrong_number_is_explained(number: str, problem: str) -> None:
    with pytest.raises(ToolError, match=problem):
        call_folder_tool(__file__, number=number)
