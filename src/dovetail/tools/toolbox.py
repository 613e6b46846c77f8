"""The tools of one agent: its own ones, and those of the registry that it uses.

An agent's own tools are not in a registry: two agents may have different tools of the same name, and an
agent's tools disappear with it.
"""

from collections.abc import Callable, Iterable
from typing import Any
from weakref import WeakKeyDictionary

from dovetail.errors import ConfigError
from dovetail.tools.registry import ToolRegistry, new_serial
from dovetail.tools.snapshot import add_tool, check_tool
from dovetail.tools.tool import Tool, find_free_name, rename


class Toolbox:
    """The tools of one agent; a manager lists it under the agent's tag for as long as it exists."""

    def __init__(self, tag: str, owner: str) -> None:
        self.tag = tag
        self.owner = owner
        self.origins: set[str] = set()
        """The MCP servers whose tools are used, as origins of tools."""
        self._own: dict[str, Tool] = {}
        self._serials: dict[str, int] = {}
        self._used: dict[str, None] = {}
        self._renamed: WeakKeyDictionary[Tool, Tool] = WeakKeyDictionary()

    @property
    def own(self) -> list[Tool]:
        """The tools that only this box holds."""
        return list(self._own.values())

    def add(self, tool: Tool) -> None:
        """Add a tool, or replace the former definition of the same function.

        Raises:
            ConfigError: the box has a different tool of that name, or the tool's schema cannot be compiled.
        """
        check_tool(tool)
        add_tool(self._own, tool)
        self._serials.setdefault(tool.name, new_serial())

    def use(self, tool: Tool) -> None:
        """Use a tool of the registry, always in its newest version."""
        known = self._own.get(tool.name)
        if known is not None and known is not tool:
            raise ConfigError(
                f"{self.owner} already has its own tool {tool.name!r} of {known.owner}, "
                f"so it cannot use the one of {tool.owner}.",
                hint="Give one of them another name.",
            )
        self._used[tool.name] = None

    def get(self, name: str) -> Tool | None:
        """Return the box's own tool of that name, if any."""
        return self._own.get(name)

    def find(self, function: Callable[..., Any]) -> Tool | None:
        """Return the box's own tool that was made from a function, if any."""
        return find_function(self.own, function)

    def list_own(self, registry: ToolRegistry) -> list[tuple[int, Tool]]:
        """Return the box's own tools that the registry allows, with their registration numbers."""
        return [(self._serials[tool.name], tool) for tool in self.own if registry.is_active(tool.name)]

    def list_tools(self, registry: ToolRegistry) -> list[tuple[int, Tool]]:
        """Return all tools of the box, with their registration numbers.

        A tool of an MCP server has the server's name for it, whatever other agents use. It is prefixed with
        the name of the server if the box has one of the same name.
        """
        listed = self.list_own(registry)
        shared = registry.snapshot() if self._used or self.origins else ()
        used = [tool for tool in shared if tool.name in self._used or tool.origin in self.origins]
        taken = {*self._own, *(tool.name for tool in used)}
        for tool in used:
            name = self._choose_name(tool, taken, registry)
            if name:
                listed.append((registry.get_serial(tool.name), self._rename(tool, name)))
        return listed

    def _choose_name(self, tool: Tool, taken: set[str], registry: ToolRegistry) -> str:
        """Return the name of a shared tool in this box; empty if the box's own one hides it."""
        if tool.origin not in self.origins:
            return "" if tool.name in self._own else tool.name
        name = find_free_name(tool.source, ())
        if tool.name in self._own:
            name = rename(tool.origin, tool.name, taken)
        elif name in taken or not registry.is_active(name):
            return tool.name
        taken.add(name)
        return name

    def _rename(self, tool: Tool, name: str) -> Tool:
        if name == tool.name:
            return tool
        renamed = self._renamed.get(tool)
        if renamed is None or renamed.name != name:
            renamed = self._renamed[tool] = tool.with_changes(name=name)
        return renamed


def find_function(tools: Iterable[Tool], function: Callable[..., Any]) -> Tool | None:
    """Return the tool that was made from a function, or from the same method of the same object."""
    return next((tool for tool in tools if getattr(tool, "function", None) == function), None)


def is_same(tool: Tool, other: Tool) -> bool:
    """Whether two tools are the same or call the same function."""
    return tool is other or getattr(tool, "function", tool) == getattr(other, "function", other)
