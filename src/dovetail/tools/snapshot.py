"""Snapshots of tools: a run takes one at its start and keeps it, whatever changes in the registry."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from dovetail.data.text import shorten
from dovetail.errors import ConfigError
from dovetail.events.call import ToolSpec
from dovetail.lazy import lazy
from dovetail.tools.tool import Tool, check_name

_view = lazy("dovetail.data.rich_view")


@dataclass(frozen=True, slots=True, weakref_slot=True, eq=False)
class ToolSnapshot:
    """The tools of one generation by name, in the order of their registration; iterating yields the tools.

    >>> snapshot = ToolSnapshot.of([make_tool(len, name="count", parameters={"type": "object"})])
    >>> [tool.name for tool in snapshot], "count" in snapshot
    (['count'], True)
    """

    generation: int
    tools: Mapping[str, Tool]

    @staticmethod
    def of(tools: Iterable[Tool], generation: int = 0) -> "ToolSnapshot":
        """Return a snapshot of just these tools."""
        by_name: dict[str, Tool] = {}
        for tool in tools:
            add_tool(by_name, tool)
        return ToolSnapshot(generation, MappingProxyType(by_name))

    def __repr__(self) -> str:
        return f"ToolSnapshot({shorten([*self.tools])}, generation={self.generation})"

    def _repr_html_(self) -> str:
        """Show the tools in a notebook, one in each row."""
        rows = [(tool.name, tool.kind.value, tool.description) for tool in self]
        return _view.show_table(("tool", "kind", "description"), rows)

    def __iter__(self) -> Iterator[Tool]:
        return iter(self.tools.values())

    def __len__(self) -> int:
        return len(self.tools)

    def __contains__(self, name: object) -> bool:
        return name in self.tools

    def get(self, name: str) -> Tool | None:
        """Return the tool of that name, if any."""
        return self.tools.get(name)

    @property
    def specs(self) -> list[ToolSpec]:
        """The descriptions of these tools for a model."""
        return [tool.spec for tool in self]

    def select(self, names: Iterable[str]) -> "ToolSnapshot":
        """Return a snapshot of the same generation with these tools only."""
        wanted = set(names)
        kept = {name: tool for name, tool in self.tools.items() if name in wanted}
        return ToolSnapshot(self.generation, MappingProxyType(kept))


def sort_tools(listed: Iterable[tuple[int, Tool]]) -> list[Tool]:
    """Return the tools in the order of their numbers, each once."""
    ordered = sorted(listed, key=lambda entry: entry[0])
    return list({id(tool): tool for _, tool in ordered}.values())


def make_snapshot(listed: Iterable[tuple[int, Tool]], generation: int) -> ToolSnapshot:
    """Return a snapshot of the tools in the order of their numbers; of two of one name the first."""
    by_name: dict[str, Tool] = {}
    for tool in sort_tools(listed):
        by_name.setdefault(tool.name, tool)
    return ToolSnapshot(generation, MappingProxyType(by_name))


def check_tool(tool: Tool) -> None:
    """Reject a tool that no model can call."""
    check_name(tool.name)
    _ = tool.checker


def add_tool(tools: dict[str, Tool], tool: Tool) -> None:
    """Add a tool to a dict under its name.

    Raises:
        ConfigError: the name is taken by a different tool, not by an older definition of the same one.
    """
    known = tools.get(tool.name)
    if known is not None and known is not tool and not _is_redefinition(known, tool):
        raise ConfigError(
            f"Duplicate tool name {tool.name!r}: defined by {known.owner} and by {tool.owner}",
            hint="Give one of them another name.",
        )
    tools[tool.name] = tool


def _is_redefinition(known: Tool, tool: Tool) -> bool:
    return bool(tool.source) and (known.origin, known.source) == (tool.origin, tool.source)
