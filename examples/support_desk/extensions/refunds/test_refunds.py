"""The tool of this folder, called as a model would call it; approvals count as given."""

import shutil
from pathlib import Path

import pytest

from dovetail.errors import ToolError
from dovetail.testing import call_folder_tool


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the workspace, whose orders a test may refund."""
    copy = shutil.copytree(
        Path(__file__).parents[2], tmp_path / "desk", ignore=shutil.ignore_patterns("*.db")
    )
    return copy / "extensions" / "refunds"


def test_a_refund_is_paid_once(folder: Path) -> None:
    said = call_folder_tool(folder, order="a-1004", amount=59, reason="lost")
    assert "refunded 59.00 euros of order A-1004 (set of three chisels) to Carla Rossi" in said
    with pytest.raises(ToolError, match="Order A-1004 was already refunded in full"):
        call_folder_tool(folder, order="A-1004", amount=59, reason="lost")


def test_no_more_than_the_rest_of_the_price_is_paid(folder: Path) -> None:
    call_folder_tool(folder, order="A-1004", amount=20, reason="late")
    with pytest.raises(ToolError, match=r"At most 39\.00 euros of order A-1004"):
        call_folder_tool(folder, order="A-1004", amount=59, reason="lost")


def test_an_old_order_is_not_refunded(folder: Path) -> None:
    with pytest.raises(ToolError, match="refunds end after 30 days"):
        call_folder_tool(folder, order="A-1005", amount=10, reason="late")


def test_an_unknown_order_is_named(folder: Path) -> None:
    with pytest.raises(ToolError, match="Unknown order 'B-1'"):
        call_folder_tool(folder, order="B-1", amount=10, reason="late")
