"""Tools come in generations, and a name has one owner."""

from collections.abc import Sequence
from typing import Any

import pytest

from dovetail.errors import ConfigError
from dovetail.tools.makers.function import make_tool, tool
from dovetail.tools.registry import ToolRegistry
from dovetail.tools.tool import Tool


@tool
def saw() -> None:
    """Cut."""


class Folder:
    name = "extension:shed"

    def __init__(self, *tools: Tool) -> None:
        self.tools: Sequence[Tool] = tools

    async def get_tools(self) -> Sequence[Tool]:
        return self.tools


def make(name: str, origin: str) -> Tool:
    return make_tool(lambda: None, name=name, origin=origin, source="")


def test_snapshot_stays_as_it_was_when_tools_change() -> None:
    registry = ToolRegistry()
    registry.register_tool(saw)
    before = registry.snapshot()
    registry.register_tool(make("plane", "code"))
    assert [entry.name for entry in before] == ["saw"]
    assert [entry.name for entry in registry.snapshot()] == ["saw", "plane"]
    assert registry.snapshot().generation > before.generation
    assert registry.snapshot() is registry.snapshot()


def test_two_tools_of_one_name_are_an_error_with_both_owners() -> None:
    registry = ToolRegistry()
    registry.register_tool(make("saw", "extension:shed"))
    with pytest.raises(ConfigError, match=r"'saw': defined by extension:shed and by code \(.*:saw\)"):
        registry.register_tool(saw)


def test_redefinition_of_the_same_function_takes_its_place() -> None:
    registry = ToolRegistry()
    registry.register_tool(saw)
    again = make_tool(saw.function, description="Cut better.")
    registry.register_tool(again)
    assert registry.get_tool("saw") is again


def test_schema_that_cannot_be_compiled_is_refused_at_registration() -> None:
    registry = ToolRegistry()
    with pytest.raises(ConfigError, match="Invalid parameter schema of tool 'saw'"):
        registry.register_tool(make_tool(saw.function, parameters={"properties": {"a": {"type": "numbr"}}}))
    assert registry.get_all_tools() == []


async def test_sources_are_asked_at_discovery_and_a_broken_one_keeps_its_tools() -> None:
    registry = ToolRegistry()
    registry.register_tool(saw)
    folder = Folder(make("plane", "extension:shed"))
    registry.add_source(folder)
    await registry.discover_all_tools()
    assert [entry.name for entry in registry.snapshot()] == ["saw", "plane"]
    folder.tools = [make("file", "extension:shed"), make("saw", "extension:shed")]
    await registry.discover_all_tools()
    assert [entry.name for entry in registry.snapshot()] == ["saw", "plane"]
    assert "Duplicate tool name 'saw'" in registry.problems["extension:shed"]
    folder.tools = [make("file", "extension:shed")]
    await registry.discover_all_tools()
    assert [entry.name for entry in registry.snapshot()] == ["saw", "file"]
    assert not registry.problems


def test_excluded_tools_stay_registered_but_leave_the_snapshot() -> None:
    registry = ToolRegistry(excluded=["saw"])
    registry.register_tool(saw)
    assert len(registry.snapshot()) == 0
    assert registry.get_tool("saw") is saw


@pytest.mark.parametrize("name", ["größe", "a.b", "x" * 65, "two words", "", "查天气"])
def test_a_name_that_providers_refuse_is_refused_where_it_is_defined(name: str) -> None:
    async def execute(args: Any, context: Any) -> None:
        return None

    with pytest.raises(ConfigError, match="Invalid tool name"):
        ToolRegistry().register_tool(Tool(name=name, description="", parameters={}, execute=execute))
    if name:
        with pytest.raises(ConfigError, match="Invalid tool name"):
            make_tool(lambda: None, name=name)


def test_a_function_without_a_usable_name_is_refused() -> None:
    with pytest.raises(ConfigError, match="Invalid tool name '<lambda>'"):
        make_tool(lambda: None)


def test_a_registered_tool_takes_its_name_from_one_that_steps_aside() -> None:
    registry = ToolRegistry()
    registry.publish("mcp:files", [make_tool(print_it, origin="mcp:files", steps_aside=True)])
    registry.register_tool(make_tool(print_it))
    assert {tool.name: tool.origin for tool in registry.snapshot()} == {
        "print_it": "code",
        "files_print_it": "mcp:files",
    }


def test_tools_that_are_refused_rename_no_other() -> None:
    registry = ToolRegistry()
    mine = make_tool(print_it, origin="mcp:files", steps_aside=True)
    registry.publish("mcp:files", [mine])
    registry.register_tool(make("saw", "code"))
    wrong = [make("print_it", "extension:a"), make("saw", "extension:a")]
    with pytest.raises(ConfigError, match="Duplicate tool name 'saw'"):
        registry.publish("extension folders", wrong)
    assert registry.get_tool("print_it") is mine
    assert list(registry.snapshot().tools) == ["saw", "print_it"]


def print_it() -> None:
    """Print."""
