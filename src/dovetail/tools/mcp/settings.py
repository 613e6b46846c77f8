"""The MCP servers that settings name: connected when an app starts, each by itself.

One that cannot be reached is reported and tried again at the next reload; the others and the app work without
it. The tools of a slow one may arrive later. Each process has its own connections; logins are shared.
"""

import asyncio
import hmac
import logging
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from dovetail.data.secrets import MASK, SecretMask, names_secret, show_address
from dovetail.data.shapes import is_mapping, is_sequence
from dovetail.data.text import explain_unknown
from dovetail.errors import ConfigError, ConflictError, DovetailError, NotFoundError
from dovetail.lazy import lazy
from dovetail.settings import fill_variables
from dovetail.settings.section import check_keys
from dovetail.settings.sections import McpServerSettings
from dovetail.tools.mcp.log import mask_for
from dovetail.tools.mcp.server import McpServer, read_servers
from dovetail.tools.registry import ToolRegistry

if TYPE_CHECKING:
    from dovetail.tools.mcp.login import Login
    from dovetail.tools.mcp.source import McpSource

mcp_source = lazy("dovetail.tools.mcp.source")
mcp_login = lazy("dovetail.tools.mcp.login")

logger = logging.getLogger(__name__)

PATIENCE = 10.0
"""The number of seconds that the start waits for all servers together."""


ServerState: TypeAlias = Literal["connected", "connecting", "lost", "login", "failed", "disabled"]
"""`lost`: it is connected again by the next call. `login`: it can be used after a login."""


class ConfiguredServers:
    """Connect to servers by name and register their tools; `problems` names those that failed, and why.

    `logins` is the folder that keeps the tokens of logins; without one there are none.
    """

    def __init__(self, registry: ToolRegistry, logins: Path | None = None) -> None:
        self.problems: dict[str, str] = {}
        self._registry = registry
        self._logins = logins
        self._entries: dict[str, Any] = {}
        self._sources: dict[str, McpSource] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    async def connect(self, entries: Any) -> None:
        """Connect to all servers of the setting `mcp.servers` that are not connected yet."""
        if entries and not is_mapping(entries):
            raise ConfigError(
                f"mcp.servers must map server names to commands or urls, got {type(entries).__name__}."
            )
        self._entries = dict(entries or {})
        for name, entry in self._entries.items():
            task = self._tasks.get(name)
            if not _is_enabled(entry):
                continue
            if task is None or (task.done() and name in self.problems):
                self._start(name, entry)
        if self._tasks:
            await asyncio.wait(self._tasks.values(), timeout=PATIENCE)

    async def close(self) -> None:
        """Close the connections and cancel those still being opened."""
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)
        self._tasks.clear()
        for source in self._sources.values():
            if source.connection.login is not None:
                await source.connection.login.cancel()
            await source.close()

    def describe(self, name: str | None = None) -> list[dict[str, Any]]:
        """Return all servers, or one, as JSON data: how they are reached, their state and their last lines.

        Raises:
            NotFoundError: no server has this name.
        """
        if name is not None:
            return [self._describe(name, self._get_entry(name))]
        return [self._describe(each, entry) for each, entry in self._entries.items()]

    async def reconnect(self, name: str) -> None:
        """Close the connection to a server and open it again, waiting for it for a while.

        Raises:
            NotFoundError: no server has this name.
            ConflictError: the server is disabled.
        """
        entry = self._get_entry(name)
        if not _is_enabled(entry):
            raise ConflictError(
                f"MCP server {name!r} is disabled.", hint=f"Remove `enabled = false` from mcp.servers.{name}."
            )
        task = self._tasks.pop(name, None)
        if task is not None:
            task.cancel()
            await asyncio.wait([task])
        if (source := self._sources.get(name)) is not None:
            await source.close()
        await asyncio.wait([self._start(name, entry)], timeout=PATIENCE)

    def get_login(self, name: str) -> "Login":
        """Return the login at a server.

        Raises:
            NotFoundError: no server has this name, or it is not reached over HTTP.
        """
        self._get_entry(name)
        source = self._sources.get(name)
        if source is None or source.connection.login is None:
            raise NotFoundError(
                f"MCP server {name!r} has no login.", hint="Only servers with a `url` can have one."
            )
        return source.connection.login

    async def log_out(self, name: str) -> None:
        """Forget the login at a server and withdraw its tools, which cannot be called without one.

        Raises:
            NotFoundError: no server has this name, or it has no login.
        """
        login = self.get_login(name)
        await login.cancel()
        login.file.delete()
        login.error = ""
        self._registry.publish(self._sources[name].name, [])
        await self.reconnect(name)

    def find_login(self, state: str) -> "tuple[str, Login]":
        """Return the server and the login for which a browser comes back.

        Raises:
            NotFoundError: no login waits for this state, which only the browser knows.
        """
        for name, source in self._sources.items():
            login = source.connection.login
            if (
                login is not None
                and login.state
                and hmac.compare_digest(login.state.encode(), state.encode())
            ):
                return name, login
        raise NotFoundError("This login has ended.", hint="Start it again on the page (MCP servers).")

    def _get_entry(self, name: str) -> Any:
        if name not in self._entries:
            raise NotFoundError(explain_unknown("MCP server", name, self._entries))
        return self._entries[name]

    def _describe(self, name: str, entry: Any) -> dict[str, Any]:
        source = self._sources.get(name)
        connection = source.connection if source else None
        login = connection.login if connection else None
        origin = source.name if source else None
        tools = [tool.name for tool in self._registry.get_all_tools() if tool.origin == origin]
        mask = mask_for(source.server) if source else SecretMask(None)
        state = self._find_state(name, entry)
        return {
            "name": name,
            **_describe_address(entry, mask),
            "state": state,
            "problem": mask.apply(self.problems.get(name, "")) if state in ("failed", "login") else None,
            "connected_at": connection.connected_at if connection else None,
            "tools": tools,
            "trusted": bool(is_mapping(entry) and entry.get("trusted")),
            "login": {
                "possible": login is not None,
                "waiting": login is not None and login.is_waiting,
                "done": login is not None and login.file.has_tokens,
                "error": mask.apply(login.error) if login and login.error else None,
            },
            "log": [{"at": at, "text": text} for at, text in (connection.log.lines if connection else [])],
        }

    def _find_state(self, name: str, entry: Any) -> ServerState:
        source, task = self._sources.get(name), self._tasks.get(name)
        if not _is_enabled(entry):
            return "disabled"
        if task is not None and not task.done():
            return "connecting"
        if source is None or name in self.problems:
            return "login" if source and source.connection.wants_login else "failed"
        return "connected" if source.connection.is_open else "lost"

    def _start(self, name: str, entry: Any) -> "asyncio.Task[None]":
        task = asyncio.create_task(self._connect(name, entry), name=f"connect {name}")
        self._tasks[name] = task
        return task

    def _make_source(self, name: str, entry: Any) -> "McpSource":
        source = mcp_source.McpSource(read_entry(name, entry), self._registry)
        server = source.server
        if (
            server.url
            and self._logins
            and not any(each.lower() == "authorization" for each in server.headers)
        ):
            source.connection.login = mcp_login.Login(server, self._logins)
        return source

    async def _connect(self, name: str, entry: Any) -> None:
        self.problems[name] = "not connected yet"
        try:
            source = self._sources.get(name)
            if source is None:
                source = self._sources[name] = self._make_source(name, entry)
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


def _is_enabled(entry: Any) -> bool:
    return not (is_mapping(entry) and entry.get("enabled") is False)


def _describe_address(entry: Any, mask: SecretMask) -> dict[str, Any]:
    """Return how a server is reached, as the settings say it: `${NAME}` is not filled in."""
    if not is_mapping(entry):
        return {"transport": "program", "address": ""}
    if entry.get("url"):
        return {"transport": "http", "address": mask.apply(show_address(str(entry["url"])))}
    given: Any = entry.get("args")
    words = [str(entry.get("command", "")), *(map(str, given) if is_sequence(given) else ())]
    return {"transport": "program", "address": mask.apply(" ".join(_hide_options(words)))}


def _hide_options(words: Sequence[str]) -> Iterator[str]:
    """Yield the words of a command; the value of an option that names a secret is masked."""
    is_secret = False
    for word in words:
        option, equals, value = word.partition("=")
        names = option.startswith("-") and names_secret(option)
        if names and equals and "${" not in value:
            yield f"{option}={MASK}"
        else:
            yield MASK if is_secret and "${" not in word and not word.startswith("-") else word
        is_secret = names and not equals
