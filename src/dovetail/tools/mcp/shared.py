"""MCP servers that several agents use: each is connected once, and closed when the program ends."""

import asyncio
import atexit
import concurrent.futures
from collections.abc import Container
from dataclasses import replace
from typing import Any
from weakref import WeakSet

from dovetail.errors import ConfigError, ToolError
from dovetail.tools.mcp.connection import McpConnection
from dovetail.tools.mcp.server import McpServer, read_servers
from dovetail.tools.mcp.source import McpSource
from dovetail.tools.registry import ToolRegistry

CLOSE_SECONDS = 5.0
"""How long the end of a program may wait for its servers."""

_connections: WeakSet[McpConnection] = WeakSet()


class SharedServers:
    """The MCP servers whose tools are in one registry; the same server again is the same connection."""

    def __init__(self, registry: ToolRegistry) -> None:
        self._registry = registry
        self._sources: list[McpSource] = []
        self._published: set[McpSource] = set()

    async def connect(self, transport: Any) -> set[str]:
        """Connect to the servers that a transport names; returns the origins of their tools.

        Raises:
            ConfigError: a server cannot be reached.
        """
        sources = [self._find(server) for server in read_servers(transport)]
        for source in sources:
            if source not in self._published:
                await self._publish(source)
        return {source.name for source in sources}

    async def close(self, origins: Container[str] | None = None) -> None:
        """Close the connections of these origins, or all; a later call of a tool opens its own again."""
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
        """The source of a server; a new one gets a name that no other has."""
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
    """Close what is still open, so that no server and no event loop complains at the very end."""
    closing = [
        asyncio.run_coroutine_threadsafe(connection.close(), connection.loop)
        for connection in list(_connections)
        if connection.loop is not None and connection.loop.is_running()
    ]
    concurrent.futures.wait(closing, timeout=CLOSE_SECONDS)
