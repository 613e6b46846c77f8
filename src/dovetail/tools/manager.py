"""Document 000's face of the registry: tools by name, grouped by tags, called by name."""

import difflib
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias

from dovetail.concurrency import run_sync
from dovetail.errors import ConfigError, ToolError
from dovetail.lazy import lazy
from dovetail.messages.call import ToolCall, new_call_id
from dovetail.tools.function import FunctionTool, make_tool
from dovetail.tools.kwargs import read_parameters, write_parameters
from dovetail.tools.mcp.server import McpServer, read_servers
from dovetail.tools.registry import ToolRegistry, ToolSnapshot
from dovetail.tools.result import read_value
from dovetail.tools.runner import CallScope, ToolRunner
from dovetail.tools.tool import Tool

mcp_source = lazy("dovetail.tools.mcp.source")

Tags: TypeAlias = str | Iterable[str] | None


class ToolManager:
    """Registers, tags, lists and calls tools; calls go through the pipeline like all others."""

    def __init__(self, registry: ToolRegistry | None = None, runner: ToolRunner | None = None) -> None:
        self.registry = registry or ToolRegistry()
        self.runner = runner or ToolRunner()
        self._tags: dict[str, set[str]] = {}
        self._tagged_origins: dict[str, set[str]] = {}
        self._notations: dict[str, dict[str, Any]] = {}
        self._sources: dict[str, Any] = {}

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
        parameters = write_parameters(kwargs, _find_optional(func))
        tool = make_tool(func, name=name, description=desc, parameters=parameters)
        self.add(tool, tags)
        self._notations[name] = {"kwargs": dict(kwargs), **({} if returns is None else {"returns": returns})}
        return tool

    def tool_func(self, func: Callable[..., Any] | None = None, *, tags: Tags = None) -> Any:
        """Register a function by its signature and docstring; a decorator that gives the function back."""
        if func is None:
            return partial(self.tool_func, tags=tags)
        self.add(func if isinstance(func, Tool) else make_tool(func), tags)
        return func

    def add(self, tool: Tool, tags: Tags = None) -> None:
        """Register a tool of any maker."""
        self.registry.register_tool(tool)
        self._notations.pop(tool.name, None)
        self.tag(tool.name, tags or ())

    def tag(self, tool_names: str | Iterable[str], tags: Tags) -> None:
        """Put tools into groups.

        Raises:
            ConfigError: there is no tool of that name.
        """
        names = [tool_names] if isinstance(tool_names, str) else list(tool_names)
        for name in names:
            if self.registry.get_tool(name) is None:
                raise ConfigError(_explain_unknown(name, self.registry))
        for tag in _list_tags(tags):
            self._tags.setdefault(tag, set()).update(names)

    def get_tools(self, tags: Tags = None) -> list[Tool]:
        """The tools that carry one of the tags, in the order of their registration; all without tags."""
        tools = list(self.registry.snapshot())
        if tags is None:
            return tools
        names = set[str]().union(*(self._tags.get(tag, ()) for tag in _list_tags(tags)))
        origins = set[str]().union(*(self._tagged_origins.get(tag, ()) for tag in _list_tags(tags)))
        return [tool for tool in tools if tool.name in names or tool.origin in origins]

    def get_snapshot(self, tags: Tags = None) -> ToolSnapshot:
        """The tools that carry one of the tags, as the pipeline takes them."""
        return self.registry.snapshot().select(tool.name for tool in self.get_tools(tags))

    def get_tool_info(self, tags: Tags = None) -> dict[str, dict[str, Any]]:
        """What prompts tell of the tools, by name: `name`, `desc`, `kwargs` and perhaps `returns`."""
        return {tool.name: self._describe(tool) for tool in self.get_tools(tags)}

    def get_tool_list(self, tags: Tags = None) -> list[dict[str, Any]]:
        """What prompts tell of the tools, in the order of their registration."""
        return list(self.get_tool_info(tags).values())

    async def async_call_tool(
        self, name: str, kwargs: Mapping[str, Any] | None = None, scope: CallScope | None = None
    ) -> Any:
        """Call a tool through the pipeline; gives what it returned.

        Raises:
            ToolError: there is no such tool, the arguments are wrong, the call is denied or the tool failed.
        """
        call = ToolCall(call_id=new_call_id(), name=name, arguments=dict(kwargs or {}))
        outcome = await self.runner.run_call(self.registry.snapshot(), call, scope or CallScope())
        error = outcome.result.error
        if error is not None:
            raise ToolError(error.message, type=error.type, data=outcome.result.data)
        return read_value(outcome.result)

    def call_tool(self, name: str, kwargs: Mapping[str, Any] | None = None) -> Any:
        """Call a tool through the pipeline; gives what it returned."""
        return run_sync(self.async_call_tool(name, kwargs))

    async def async_use_mcp(self, transport: Any, tags: Tags = None) -> list[Tool]:
        """Connect to the MCP servers that a transport names and register their tools; gives these.

        The tags hold for all tools of these servers, also for those that appear later.
        """
        servers = [self._name_apart(server) for server in read_servers(transport)]
        new = [server for server in servers if server.name not in self._sources]
        for source in await mcp_source.connect(new, self.registry):
            self._sources[source.server.name] = source
        origins = {self._sources[server.name].name for server in servers}
        for tag in _list_tags(tags):
            self._tagged_origins.setdefault(tag, set()).update(origins)
        return [tool for tool in self.registry.snapshot() if tool.origin in origins]

    async def async_close(self) -> None:
        """Close the connections to MCP servers."""
        for source in self._sources.values():
            await source.close()

    def use_mcp(self, transport: Any, tags: Tags = None) -> list[Tool]:
        """Connect to an MCP server (or several) and register its tools; gives these."""
        return run_sync(self.async_use_mcp(transport, tags))

    def _name_apart(self, server: McpServer) -> McpServer:
        """The server under a name that no other server has."""
        others = {name for name, source in self._sources.items() if source.server != server}
        name, number = server.name, 2
        while name in others:
            name, number = f"{server.name}_{number}", number + 1
        return server if name == server.name else replace(server, name=name)

    def _describe(self, tool: Tool) -> dict[str, Any]:
        notation = self._notations.get(tool.name)
        if notation is None:
            notation = {"kwargs": read_parameters(tool.parameters)}
            if isinstance(tool, FunctionTool) and tool.returns is not None:
                notation["returns"] = tool.returns
        return {"name": tool.name, "desc": tool.description, **notation}


def _list_tags(tags: Tags) -> list[str]:
    return [tags] if isinstance(tags, str) else list(tags or ())


def _find_optional(func: Callable[..., Any]) -> frozenset[str]:
    try:
        parameters = inspect.signature(func).parameters.values()
    except (TypeError, ValueError):  # a builtin without a signature: everything must be given
        return frozenset()
    return frozenset(entry.name for entry in parameters if entry.default is not entry.empty)


def _explain_unknown(name: str, registry: ToolRegistry) -> str:
    names = [tool.name for tool in registry.get_all_tools()]
    near = difflib.get_close_matches(name, names, n=3)
    return f"no tool {name!r}; there are: {', '.join(near or names) or 'none'}"
