"""The tools of an MCP server as `Tool`s, in a registry that follows their changes."""

import asyncio
import atexit
import concurrent.futures
import logging
from collections.abc import Container, Sequence
from dataclasses import replace
from typing import Any
from weakref import WeakSet

from dovetail.errors import ConfigError, ToolError
from dovetail.events.call import Kind
from dovetail.events.tool_context import ToolContext
from dovetail.tools.mcp.connection import McpConnection
from dovetail.tools.mcp.server import McpServer, read_servers
from dovetail.tools.registry import ToolRegistry
from dovetail.tools.tool import Execute, Tool, find_free_name

logger = logging.getLogger(__name__)


class McpSource:
    """Register the tools of one MCP server, with a prefixed name if their own is taken."""

    def __init__(self, server: McpServer, registry: ToolRegistry) -> None:
        self.server = server
        self.connection = McpConnection(server)
        self._registry = registry
        self._names: dict[str, str] = {}
        self._fingerprints: dict[str, str] = {}
        self.connection.on_change = self._publish

    @property
    def name(self) -> str:
        """The name of the source in messages, and the origin of its tools."""
        return f"mcp:{self.server.name}"

    async def get_tools(self) -> Sequence[Tool]:
        """Return the server's current tools."""
        return self._make_tools(await self.connection.list_tools())

    async def close(self) -> None:
        """Close the connection; the tools stay registered and reopen it."""
        await self.connection.close()

    def _publish(self, descriptions: Sequence[Any]) -> None:
        self._registry.publish(self.name, self._make_tools(descriptions))

    def _make_tools(self, descriptions: Sequence[Any]) -> list[Tool]:
        others = (tool for tool in self._registry.get_all_tools() if tool.origin != self.name)
        taken = {tool.name for tool in others}
        siblings = {description.name for description in descriptions}
        tools: list[Tool] = []
        for description in descriptions:
            if not self.server.takes(description.name):
                continue
            name = self._choose_name(description.name, {*taken, *(siblings - {description.name})})
            taken.add(name)
            try:
                tool = _make_tool(self.connection, description, name, self.name)
                _ = tool.checker
            except ConfigError as error:
                logger.warning("skipping a tool of MCP server %r: %s", self.server.name, error)
                continue
            self._note_fingerprint(tool)
            tools.append(tool)
        return tools

    def _note_fingerprint(self, tool: Tool) -> None:
        """Warn about a tool that has changed; remembered approvals of it no longer apply."""
        known = self._fingerprints.setdefault(tool.name, tool.fingerprint)
        if known != tool.fingerprint:
            self._fingerprints[tool.name] = tool.fingerprint
            logger.warning(
                "MCP server %r has changed its tool %r: remembered approvals of it no longer apply",
                *(self.server.name, tool.name),
            )

    def _choose_name(self, name: str, taken: set[str]) -> str:
        """Return the tool's own name, or one prefixed with the server's; it stays the same while free."""
        if self._names.get(name) is None or self._names[name] in taken:
            clean = find_free_name(name, ())
            chosen = find_free_name(f"{self.server.name}_{name}", taken) if clean in taken else clean
            if clean != name:
                logger.warning(
                    "tool %r of MCP server %r is registered as %r: model providers reject its own name",
                    name,
                    self.server.name,
                    chosen,
                )
            self._names[name] = chosen
        return self._names[name]


def _make_tool(connection: McpConnection, description: Any, name: str, origin: str) -> Tool:
    hints = description.annotations
    idempotent = bool(hints and (hints.idempotent_hint or hints.read_only_hint)) and connection.server.trusted
    return Tool(
        name=name,
        description=description.description or "",
        display_name=description.title or (hints.title if hints else None) or "",
        parameters=description.input_schema,
        kind=_choose_kind(hints, connection.server.trusted),
        origin=origin,
        source=description.name,
        steps_aside=True,
        idempotent=idempotent,
        can_update_output=True,
        time_limit=connection.server.time_limit,
        execute=_make_execute(connection, description.name, idempotent),
    )


def _choose_kind(hints: Any, trusted: bool) -> Kind:
    """Return the kind that a trusted server declares for its tool; an unknown effect may be any effect."""
    if not trusted:
        return Kind.Execute
    if hints is not None and hints.read_only_hint:
        return Kind.Read
    return Kind.Execute if hints is not None and hints.destructive_hint else Kind.Other


def _make_execute(connection: McpConnection, name: str, idempotent: bool) -> Execute:
    async def execute(args: dict[str, Any], context: ToolContext) -> Any:
        return await connection.call(name, args, context, idempotent=idempotent)

    return execute


CLOSE_SECONDS = 5.0
"""The number of seconds that the end of a program may wait for its servers."""

_connections: WeakSet[McpConnection] = WeakSet()


class SharedServers:
    """The MCP servers whose tools are in one registry; each server has one connection."""

    def __init__(self, registry: ToolRegistry) -> None:
        self._registry = registry
        self._sources: list[McpSource] = []
        self._published: set[McpSource] = set()

    async def connect(self, transport: Any) -> set[str]:
        """Connect to the servers that a transport names and return the origins of their tools.

        Raises:
            ConfigError: a server cannot be reached.
        """
        sources = [self._find(server) for server in read_servers(transport)]
        for source in sources:
            if source not in self._published:
                await self._publish(source)
        return {source.name for source in sources}

    async def close(self, origins: Container[str] | None = None) -> None:
        """Close the connections of these origins, or all; a later call of a tool reopens its own."""
        for source in self._sources:
            if origins is None or source.name in origins:
                await source.close()

    async def _publish(self, source: McpSource) -> None:
        try:
            self._registry.publish(source.name, await source.get_tools())
        except ToolError as error:
            if source in self._sources and source not in self._published:
                self._sources.remove(source)
            await source.close()
            raise ConfigError(error.message) from error
        self._registry.add_source(source)
        self._published.add(source)

    def _find(self, server: McpServer) -> McpSource:
        """Return the source of a server; a new one gets a unique name."""
        for source in self._sources:
            if replace(source.server, name=server.name) == server:
                return source
        taken = {source.server.name for source in self._sources}
        name, number = server.name, 2
        while name in taken:
            name, number = f"{server.name}_{number}", number + 1
        source = McpSource(replace(server, name=name), self._registry)
        self._sources.append(source)
        _connections.add(source.connection)
        return source


@atexit.register
def _close_all() -> None:
    """Close open connections, so that no server and no event loop complains at exit."""
    closing = [
        asyncio.run_coroutine_threadsafe(connection.close(), connection.loop)
        for connection in list(_connections)
        if connection.loop is not None and connection.loop.is_running()
    ]
    concurrent.futures.wait(closing, timeout=CLOSE_SECONDS)
