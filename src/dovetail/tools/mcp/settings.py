"""The MCP servers that settings name: connected when an app starts, each by itself.

One that cannot be reached is reported and tried again at the next reload; the others and the app work without
it. The tools of a slow one may arrive later.
"""

import asyncio
import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dovetail.data.shapes import is_mapping
from dovetail.errors import ConfigError, DovetailError
from dovetail.lazy import lazy
from dovetail.settings import fill_variables
from dovetail.settings.section import check_keys
from dovetail.settings.sections import McpServerSettings
from dovetail.tools.mcp.server import McpServer, read_servers
from dovetail.tools.registry import ToolRegistry

if TYPE_CHECKING:
    from dovetail.tools.mcp.source import McpSource

mcp_source = lazy("dovetail.tools.mcp.source")

logger = logging.getLogger(__name__)

PATIENCE = 10.0
"""The number of seconds that the start waits for all servers together."""


class ConfiguredServers:
    """Connect to servers by name and register their tools; `problems` names those that failed, and why."""

    def __init__(self, registry: ToolRegistry) -> None:
        self.problems: dict[str, str] = {}
        self._registry = registry
        self._sources: dict[str, McpSource] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    async def connect(self, entries: Any) -> None:
        """Connect to all servers of the setting `mcp.servers` that are not connected yet."""
        if entries and not is_mapping(entries):
            raise ConfigError(
                f"mcp.servers must map server names to commands or urls, got {type(entries).__name__}."
            )
        for name, entry in (entries or {}).items():
            task = self._tasks.get(name)
            if task is None or (task.done() and name in self.problems):
                self._tasks[name] = asyncio.create_task(self._connect(name, entry), name=f"connect {name}")
        if self._tasks:
            await asyncio.wait(self._tasks.values(), timeout=PATIENCE)

    async def close(self) -> None:
        """Close the connections and cancel those still being opened."""
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)
        self._tasks.clear()
        for source in self._sources.values():
            await source.close()

    async def _connect(self, name: str, entry: Any) -> None:
        self.problems[name] = "not connected yet"
        try:
            source = self._sources.get(name)
            if source is None:
                source = self._sources[name] = mcp_source.McpSource(read_entry(name, entry), self._registry)
            self._registry.publish(source.name, await source.get_tools())
        except (DovetailError, ImportError) as error:
            logger.error("MCP server %r is not available: %s", name, error)
            self.problems[name] = str(error)
        except Exception as error:
            logger.exception("MCP server %r is not available", name)
            self.problems[name] = f"{type(error).__name__}: {error}"
        else:
            del self.problems[name]


def read_entry(name: str, entry: Any) -> McpServer:
    """Return one server of the settings; `${NAME}` stands for an environment variable.

    Unlike a server passed in code, it is trusted only if the entry says so.
    """
    place = f"mcp.servers.{name}"
    if is_mapping(entry):
        check_keys(McpServerSettings, entry, place)
    [server] = read_servers({"mcpServers": {name: fill_variables(entry, place)}})
    return server if "trusted" in entry else replace(server, trusted=False)
