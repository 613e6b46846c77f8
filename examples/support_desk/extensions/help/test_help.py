"""The tool of this folder, called as a model would call it."""

import pytest

from dovetail.errors import ToolError
from dovetail.testing import call_folder_tool


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("How long does delivery take?", "Delivery"),
        ("Can I send a table back?", "Returns and refunds"),
        ("my table has a water stain, how do I care for oiled wood", "Care of oiled wood"),
        ("Which payment methods are there?", "Payment"),
        ("Is there a guarantee?", "Guarantee"),
    ],
)
def test_the_article_that_fits_is_first(question: str, title: str) -> None:
    assert call_folder_tool(__file__, question=question)[0]["title"] == title


def test_a_question_without_an_article_is_an_error_that_says_so() -> None:
    with pytest.raises(ToolError, match="No help article fits"):
        call_folder_tool(__file__, question="quantum chromodynamics")
