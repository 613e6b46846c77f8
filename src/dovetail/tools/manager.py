"""The registry as agents use it (rule A20): tools by name, grouped by tags, called by name."""

import inspect
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeAlias
from weakref import WeakKeyDictionary, WeakValueDictionary

from dovetail.concurrency import run_sync
from dovetail.data.text import explain_unknown
from dovetail.errors import ConfigError, ToolError
from dovetail.events.call import ToolCall
from dovetail.events.run_context import RunContext
from dovetail.ids import new_id
from dovetail.lazy import lazy
from dovetail.schema.notation import read_parameters, write_parameters
from dovetail.tools.makers.function import FunctionTool, make_tool
from dovetail.tools.pipeline.runner import ToolRunner
from dovetail.tools.registry import ToolRegistry, new_serial
from dovetail.tools.result import read_value
from dovetail.tools.snapshot import ToolSnapshot, make_snapshot, sort_tools
from dovetail.tools.tool import Tool
from dovetail.tools.toolbox import Toolbox, is_same

if TYPE_CHECKING:
    from dovetail.tools.mcp.source import SharedServers

mcp_shared = lazy("dovetail.tools.mcp.source")

Tags: TypeAlias = str | Iterable[str] | None


class ToolManager:
    """Register, tag, list and call tools; calls go through the pipeline like all others.

    >>> manager = ToolManager()
    >>> tool = manager.register(name="double", desc="Double.", kwargs={"n": (int,)}, func=lambda n: n * 2)
    >>> manager.call_tool("double", {"n": 2})
    4
    """

    def __init__(self, registry: ToolRegistry | None = None, runner: ToolRunner | None = None) -> None:
        self.registry = registry or ToolRegistry()
        self.runner = runner or ToolRunner()
        self._tags: dict[str, dict[str, Tool | None]] = {}  # by tag and name; None: the registry's own
        self._tagged_origins: dict[str, set[str]] = {}
        self._boxes: WeakValueDictionary[int, Toolbox] = WeakValueDictionary()
        self._boxes_lock = threading.Lock()
        self._notations: WeakKeyDictionary[Tool, dict[str, Any]] = WeakKeyDictionary()

    def open_box(self, tag: str, owner: str) -> Toolbox:
        """Open a box for an agent's own tools; it is listed here under its tag for as long as it exists."""
        box = Toolbox(tag, owner)
        with self._boxes_lock:
            self._boxes[new_serial()] = box
        return box

    def list_box(self, box: Toolbox) -> ToolSnapshot:
        """Return all tools of an agent: those in its box and those with its tag."""
        listed = box.list_tools(self.registry)
        names = {tool.name for _, tool in listed}
        listed += (entry for entry in self._list_tagged([box.tag]) if entry[1].name not in names)
        return make_snapshot(listed, self.registry.snapshot().generation)

    def make(
        self, name: str, desc: str, kwargs: Mapping[str, Any], func: Callable[..., Any], returns: Any = None
    ) -> Tool:
        """Return a tool that calls a function, with its parameters as `{name: (type, description)}`."""
        parameters = write_parameters(kwargs, _find_optional(func))
        tool = make_tool(func, name=name, description=desc, parameters=parameters)
        self._notations[tool] = {"kwargs": dict(kwargs), **({} if returns is None else {"returns": returns})}
        return tool

    def register(
        self,
        name: str,
        desc: str,
        kwargs: Mapping[str, Any],
        func: Callable[..., Any],
        returns: Any = None,
        tags: Tags = None,
    ) -> Tool:
        """Register a function under a name, with its parameters as `{name: (type, description)}`."""
        tool = self.make(name, desc, kwargs, func, returns)
        self.add(tool, tags)
        return tool

    def tool_func(self, func: Callable[..., Any] | None = None, *, tags: Tags = None) -> Any:
        """Register a function by its signature and docstring; a decorator that returns the function."""
        if func is None:
            return partial(self.tool_func, tags=tags)
        self.add(func if isinstance(func, Tool) else make_tool(func), tags)
        return func

    def add(self, tool: Tool, tags: Tags = None) -> None:
        """Register a tool, however it was made."""
        self.registry.register_tool(tool)
        self.tag(tool.name, tags or ())

    def tag(self, tool_names: str | Iterable[str], tags: Tags) -> None:
        """Put tools into groups; those tagged `agent-<name>` are tools of the agents of that name.

        Raises:
            ConfigError: the tool is unknown, or several agents have different ones of that name.
        """
        names = [tool_names] if isinstance(tool_names, str) else list(tool_names)
        found = {name: self.find(name) for name in names}
        tools = {name: None if self.registry.get_tool(name) else tool for name, tool in found.items()}
        for tag in _list_tags(tags):
            self._tags.setdefault(tag, {}).update(tools)

    def find(self, name: str) -> Tool:
        """Return the registered tool of that name, otherwise the only one of that name that an agent has.

        Raises:
            ConfigError: the tool is unknown, or several agents have different ones of that name.
        """
        tool = self.registry.get_tool(name)
        if tool is not None:
            return tool
        owners = self._find_owners(name)
        if not owners:
            known = dict.fromkeys(each.name for each in self.get_tools())  # agents may share a name
            raise ConfigError(explain_unknown("tool", name, known))
        if len(owners) > 1:
            raise ConfigError(
                _explain_several(name, owners),
                hint="Pass the function itself, or register one tool for all of them with the manager.",
            )
        return next(iter(owners))

    def get_tools(self, tags: Tags = None) -> list[Tool]:
        """Return the tools that carry one of the tags, in the order of registration; all without tags."""
        registry, boxes = self.registry, self._list_boxes()
        if tags is None:
            listed = [(registry.get_serial(tool.name), tool) for tool in registry.snapshot()]
            return sort_tools([*listed, *(entry for box in boxes for entry in box.list_own(registry))])
        wanted = _list_tags(tags)
        listed = [entry for box in boxes if box.tag in wanted for entry in box.list_tools(registry)]
        return sort_tools([*listed, *self._list_tagged(wanted)])

    def get_snapshot(self, tags: Tags = None) -> ToolSnapshot:
        """Return a snapshot of the tools that carry one of the tags; of two of one name the first."""
        return make_snapshot(enumerate(self.get_tools(tags)), self.registry.snapshot().generation)

    def get_tool_info(self, tags: Tags = None) -> dict[str, dict[str, Any]]:
        """Return the tools as prompts describe them, by name: `name`, `desc`, `kwargs` and `returns`, if any.

        They are in the order of registration; of two of one name the first.
        """
        return {tool.name: self.describe(tool) for tool in self.get_snapshot(tags)}

    def get_tool_list(self, tags: Tags = None) -> list[dict[str, Any]]:
        """Return the tools as prompts describe them, in the order of registration."""
        return [self.describe(tool) for tool in self.get_tools(tags)]

    async def async_call_tool(
        self, name: str, kwargs: Mapping[str, Any] | None = None, scope: RunContext | None = None
    ) -> Any:
        """Call a tool through the pipeline and return its value.

        Raises:
            ToolError: the tool is unknown, the arguments are invalid, the call is denied or the tool failed.
        """
        call = ToolCall(call_id=new_id("call"), name=name, arguments=dict(kwargs or {}))
        outcome = await self.runner.run_call(self._find_snapshot(name), call, scope or RunContext())
        error = outcome.result.error
        if error is not None:
            raise ToolError(error.message, type=error.type, data=outcome.result.data)
        return read_value(outcome.result)

    def call_tool(self, name: str, kwargs: Mapping[str, Any] | None = None) -> Any:
        """Call a tool through the pipeline and return its value."""
        return run_sync(self.async_call_tool(name, kwargs))

    @cached_property
    def servers(self) -> "SharedServers":
        """The MCP servers whose tools are registered here."""
        return mcp_shared.SharedServers(self.registry)

    async def async_use_mcp(self, transport: Any, tags: Tags = None) -> list[Tool]:
        """Connect to the MCP servers that a transport names, and register and return their tools.

        The tags apply to all tools of these servers, including those that appear later.
        """
        origins = await self.servers.connect(transport)
        for tag in _list_tags(tags):
            self._tagged_origins.setdefault(tag, set()).update(origins)
        return [tool for tool in self.registry.snapshot() if tool.origin in origins]

    async def async_close(self) -> None:
        """Close the connections to MCP servers."""
        await self.servers.close()

    async def close_box(self, box: Toolbox) -> None:
        """Close the connections to MCP servers that only the agent of this box uses."""
        others = [other.origins for other in self._list_boxes() if other is not box]
        kept = set[str]().union(*others, *self._tagged_origins.values())
        unused, box.origins = box.origins - kept, set()
        await self.servers.close(unused)

    def use_mcp(self, transport: Any, tags: Tags = None) -> list[Tool]:
        """Connect to MCP servers, and register and return their tools."""
        return run_sync(self.async_use_mcp(transport, tags))

    def describe(self, tool: Tool) -> dict[str, Any]:
        """Return a tool as prompts describe it."""
        notation = self._notations.get(tool)
        if notation is None:
            notation = {"kwargs": read_parameters(tool.parameters)}
            if isinstance(tool, FunctionTool) and tool.returns is not None:
                notation["returns"] = tool.returns
        return {"name": tool.name, "desc": tool.description, **notation}

    def _list_boxes(self) -> list[Toolbox]:
        with self._boxes_lock:
            return list(self._boxes.values())

    def _list_tagged(self, tags: list[str]) -> Iterator[tuple[int, Tool]]:
        """Return the tools that were tagged here, with their registration numbers."""
        registry = self.registry
        tagged = {name: tool for tag in tags for name, tool in dict(self._tags.get(tag, {})).items()}
        origins = {origin for tag in tags for origin in self._tagged_origins.get(tag, ())}
        for tool in registry.snapshot() if tagged or origins else ():
            if tool.name in tagged or tool.origin in origins:
                yield registry.get_serial(tool.name), tool
        yield from ((0, tool) for tool in tagged.values() if tool is not None)

    def _find_owners(self, name: str) -> dict[Tool, str]:
        """Return the different tools of that name that agents have, with their owners."""
        owners: dict[Tool, str] = {}
        for box in self._list_boxes():
            tool = box.get(name)
            if tool is not None and not any(is_same(tool, known) for known in owners):
                owners[tool] = box.owner
        return owners

    def _find_snapshot(self, name: str) -> ToolSnapshot:
        """Return a snapshot that holds the tool of that name."""
        if self.registry.get_tool(name) is not None:
            return self.registry.snapshot()
        owners = self._find_owners(name)
        if len(owners) > 1:
            raise ToolError(_explain_several(name, owners), type="ambiguous_tool")
        return ToolSnapshot.of(owners) if owners else self.get_snapshot()


def _list_tags(tags: Tags) -> list[str]:
    return [tags] if isinstance(tags, str) else list(tags or ())


def _find_optional(func: Callable[..., Any]) -> frozenset[str]:
    try:
        parameters = inspect.signature(func).parameters.values()
    except (TypeError, ValueError):  # a builtin without a signature: everything must be given
        return frozenset()
    return frozenset(entry.name for entry in parameters if entry.default is not entry.empty)


def _explain_several(name: str, owners: Mapping[Tool, str]) -> str:
    listed = ", ".join(f"{owner} ({tool.source or tool.origin})" for tool, owner in owners.items())
    return f"Several agents have different tools named {name!r}: {listed}."
