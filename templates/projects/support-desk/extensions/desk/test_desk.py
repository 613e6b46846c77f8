"""Calls the tool as a model would. A test has no browser: the call says so instead of waiting for one."""

import pytest

from dovetail.errors import ToolError
from dovetail.testing import call_folder_tool


def test_without_a_browser_the_call_is_an_error() -> None:
    with pytest.raises(ToolError, match="browser"):
        call_folder_tool(__file__, number="A-1001", lines=["oak board"])
