"""A test of a folder calls its tools as a model would."""

from pathlib import Path

import pytest

from dovetail.errors import ConfigError, ToolError
from dovetail.testing import async_call_folder_tool, call_folder_tool
from extension_folders import Folders

SEVERAL = """
def double(number: int): return number * 2
def fail(): raise ValueError("broken pipe")
NUMBER = {"number": {"type": "integer", "required": True}}
TOOLS = [
    {"label": "m", "name": "double", "description": "x 2", "parameters": NUMBER, "execute": double},
    dict(label="m", name="fail", description="Fails", parameters={}, execute=fail, kind="delete"),
]
"""


def test_the_only_tool_needs_no_name(tmp_path: Path) -> None:
    folders = Folders(tmp_path)
    folder = folders.write_tool("one", "ask_one", "yes")
    folders.write("two", "raise SystemExit")  # a neighbour that is broken
    assert call_folder_tool(folder) == "yes"
    assert call_folder_tool(folder / "extension.py") == "yes"


async def test_arguments_are_read_and_checked_and_errors_raised(tmp_path: Path) -> None:
    folder = Folders(tmp_path).write("several", SEVERAL)
    assert await async_call_folder_tool(folder, "double", number="21") == 42
    with pytest.raises(ToolError, match='`number` must be integer, got "many"'):
        await async_call_folder_tool(folder, "double", number="many")
    with pytest.raises(ToolError, match="ValueError: broken pipe"):
        await async_call_folder_tool(folder, "fail")  # approvals count as given
    (folder / "policy.toml").write_text('[[rule]]\ntool = "fail"\naction = "deny"\n')
    with pytest.raises(ToolError, match="is not allowed"):
        await async_call_folder_tool(folder, "fail")


def test_an_approval_that_the_folder_asks_for_counts_as_given(tmp_path: Path) -> None:
    folder = Folders(tmp_path).write("several", SEVERAL)
    (folder / "policy.toml").write_text('[[rule]]\ntool = "double"\naction = "ask"\n')
    assert call_folder_tool(folder, "double", number=21) == 42


def test_what_is_wrong_with_the_folder_is_said(tmp_path: Path) -> None:
    folders = Folders(tmp_path)
    several = folders.write("several", SEVERAL)
    with pytest.raises(ConfigError, match=r"has 2 tools: name one. Expected one of: double, fail\."):
        call_folder_tool(several)
    with pytest.raises(ConfigError, match="has no tool 'trouble'"):
        call_folder_tool(several, "trouble")
    with pytest.raises(ConfigError, match="SyntaxError"):
        call_folder_tool(folders.write("broken", "TOOL = ("))


def test_the_folder_has_its_settings(tmp_path: Path) -> None:
    (tmp_path / "dovetail.toml").write_text('[extensions.shop]\ncurrency = "CHF"\n')
    folder = Folders(tmp_path / "extensions").write(
        "shop",
        """
        found = {}
        def setup(context): found.update(context.settings)
        def price(): return found["currency"]
        TOOL = dict(label="s", name="price", description="d", parameters={}, execute=price)
        """,
    )
    assert call_folder_tool(folder) == "CHF"
