"""All tools of an app, in generations: a snapshot never changes, a change makes a new one.

Names are unique: two different tools under one name are an error that names both owners.
"""

import itertools
import logging
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Protocol

from dovetail.data.shapes import is_sequence, is_set
from dovetail.data.text import shorten
from dovetail.errors import ConfigError
from dovetail.tools.snapshot import ToolSnapshot, add_tool, check_tool
from dovetail.tools.tool import Tool, rename

logger = logging.getLogger(__name__)

_serials = itertools.count(1)


def new_serial() -> int:
    """Return a number that is larger than all before it."""
    return next(_serials)


class ToolSource(Protocol):
    """A source of tools: extension folders, agents, MCP servers."""

    @property
    def name(self) -> str:
        """The name of the source in messages."""
        ...

    async def get_tools(self) -> Sequence[Tool]:
        """Return its current tools."""
        ...


class ToolRegistry:
    """Collect tools from code and from sources, and publish snapshots of them; usable from all threads.

    `allowed` (None means all) and `excluded` name the tools that snapshots hold; the others stay registered.

    >>> registry = ToolRegistry()
    >>> registry.register_tool(make_tool(len, name="count", parameters={"type": "object"}))
    >>> registry.snapshot()
    ToolSnapshot(['count'], generation=1)
    """

    def __init__(self, *, allowed: Iterable[str] | None = None, excluded: Iterable[str] = ()) -> None:
        self._own: dict[str, Tool] = {}
        self._sources: dict[str, ToolSource] = {}
        self._sourced: dict[str, tuple[Tool, ...]] = {}
        self._problems: dict[str, str] = {}
        self._refreshers: list[Callable[[], None]] = []
        self._is_refreshing = False
        self._lock = threading.RLock()
        self._serials: dict[str, int] = {}
        self._generation = 0
        self._snapshot: ToolSnapshot | None = None
        self._allowed, self._excluded = _read_limits(allowed, excluded)

    def __repr__(self) -> str:
        return f"ToolRegistry({shorten([tool.name for tool in self.snapshot()])})"

    def limit(self, allowed: Any, excluded: Any) -> None:
        """Set which tools snapshots hold: those that are allowed (None means all) and not excluded.

        Raises:
            ConfigError: one of them is not a list of names.
        """
        self._allowed, self._excluded = _read_limits(allowed, excluded)
        self._change()

    @property
    def allowed(self) -> frozenset[str] | None:
        """The names of the tools that snapshots may hold; None means all."""
        self._refresh()
        return self._allowed

    @property
    def excluded(self) -> frozenset[str]:
        """The names of the tools that snapshots leave out."""
        self._refresh()
        return self._excluded

    def refresh_with(self, refresh: Callable[[], None]) -> None:
        """Call a function before tools are read, so that it can bring them up to date."""
        self._refreshers.append(refresh)

    @property
    def problems(self) -> Mapping[str, str]:
        """The errors of the last discovery, by source."""
        return MappingProxyType(self._problems)

    def register_tool(self, tool: Tool) -> None:
        """Add a tool, or replace the former definition of the same function.

        Raises:
            ConfigError: the name is taken by a different tool, or the parameter schema cannot be compiled.
        """
        check_tool(tool)
        with self._lock:
            self._refresh()
            sourced = self._make_way([tool])
            add_tool(_list_by_name(sourced), tool)
            add_tool(self._own, tool)
            self._sourced = sourced
            self._number([tool])
            self._change()

    def add_source(self, source: ToolSource) -> None:
        """Add a source, which every discovery asks for its tools."""
        self._sources[source.name] = source

    def publish(self, source: str, tools: Iterable[Tool]) -> None:
        """Replace the tools of one source, all at once.

        Raises:
            ConfigError: a tool cannot be registered; the former tools then stay.
        """
        tools = tuple(tools)
        with self._lock:
            sourced = self._make_way(tools)
            others = {name: sourced[name] for name in sourced if name != source}
            taken = self._own | _list_by_name(others)
            for tool in tools:
                check_tool(tool)
                add_tool(taken, tool)
            self._sourced = {**sourced, source: tools}
            self._number(tools)
            self._change()

    async def discover_all_tools(self) -> ToolSnapshot:
        """Ask every source for its tools; a source that fails keeps its former ones."""
        for name, source in list(self._sources.items()):
            try:
                self.publish(name, await source.get_tools())
            except Exception as error:
                logger.exception("failed to load the tools of %s", name)
                self._problems[name] = str(error)
            else:
                self._problems.pop(name, None)
        return self.snapshot()

    def get_tool(self, name: str) -> Tool | None:
        """Return the tool of that name, if any."""
        with self._lock:
            self._refresh()
            return self._find_all().get(name)

    def get_serial(self, name: str) -> int:
        """Return the number under which a name was first registered; later ones are larger."""
        return self._serials.get(name, 0)

    def get_all_tools(self) -> list[Tool]:
        """Return all tools, including those that snapshots leave out."""
        with self._lock:
            self._refresh()
            return list(self._find_all().values())

    def snapshot(self) -> ToolSnapshot:
        """Return the newest generation."""
        with self._lock:
            self._refresh()
            if self._snapshot is None:
                tools = {name: tool for name, tool in self._find_all().items() if self._holds(name)}
                self._snapshot = ToolSnapshot(self._generation, MappingProxyType(tools))
            return self._snapshot

    def is_active(self, name: str) -> bool:
        """Whether snapshots hold tools of that name."""
        self._refresh()
        return self._holds(name)

    def _holds(self, name: str) -> bool:
        return name not in self._excluded and (self._allowed is None or name in self._allowed)

    def _refresh(self) -> None:
        with self._lock:
            if self._is_refreshing:  # by a refresher that reads: it must not overtake itself
                return
            self._is_refreshing = True
            try:
                for refresh in self._refreshers:
                    refresh()
            finally:
                self._is_refreshing = False

    def _find_all(self) -> dict[str, Tool]:
        """Return all tools by name; those registered in code come first and win over those of a source."""
        return self._own | _list_by_name(self._sourced) | self._own

    def _make_way(self, tools: Iterable[Tool]) -> dict[str, tuple[Tool, ...]]:
        """Return the tools of all sources, with other names for those that step aside for these."""
        wanted = {tool.name for tool in tools if not tool.steps_aside}
        taken = {*self._find_all(), *wanted}

        def step_aside(tool: Tool) -> Tool:
            if not tool.steps_aside or tool.name not in wanted:
                return tool
            name = rename(tool.origin, tool.name, taken)
            taken.add(name)
            return tool.with_changes(name=name)

        return {source: tuple(map(step_aside, tools)) for source, tools in self._sourced.items()}

    def _number(self, tools: Iterable[Tool]) -> None:
        for tool in tools:
            self._serials.setdefault(tool.name, new_serial())

    def _change(self) -> None:
        self._generation += 1
        self._snapshot = None


def _list_by_name(sourced: Mapping[str, tuple[Tool, ...]]) -> dict[str, Tool]:
    return {tool.name: tool for tools in sourced.values() for tool in tools}


def _read_limits(allowed: Any, excluded: Any) -> tuple[frozenset[str] | None, frozenset[str]]:
    names = None if allowed is None else _read_names(allowed, "tools.allowed")
    return names, _read_names(excluded or (), "tools.excluded")


def _read_names(value: Any, key: str) -> frozenset[str]:
    if not (is_sequence(value) or is_set(value)) or not all(isinstance(name, str) for name in value):
        raise ConfigError(f"`{key}` must be a list of tool names, got {shorten(value)}.")
    return frozenset(value)
