"""One MCP server as it is configured: how to reach it and which of its tools to use."""

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from dovetail.data.shapes import is_list, is_mapping, is_number, is_sequence
from dovetail.errors import ConfigError
from dovetail.tools.tool import TIME_LIMIT

_FORMS = (
    "a URL, the path of a .py or .js script, {'command': …, 'args': […]}, {'url': …} or {'mcpServers': {…}}"
)
_INTERPRETERS = {".py": sys.executable, ".js": "node"}


@dataclass(frozen=True, slots=True, kw_only=True)
class McpServer:
    """One MCP server: a command to start, a `url` to call, or (`target`) anything the MCP package accepts.

    `allow` and `exclude` are globs of tool names. A server that is not `trusted` cannot declare its own tools
    harmless: each call needs approval.
    """

    name: str
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    cwd: str | None = None
    url: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    target: Any = None
    allow: tuple[str, ...] = ("*",)
    exclude: tuple[str, ...] = ()
    time_limit: float | None = TIME_LIMIT
    trusted: bool = True

    def __post_init__(self) -> None:
        limit = self.time_limit
        if limit is not None and (not is_number(limit) or limit <= 0):
            raise ConfigError(
                f"The time_limit of MCP server {self.name!r} must be seconds above 0 or None, got {limit!r}."
            )

    def takes(self, tool_name: str) -> bool:
        """Whether a tool of the server is to be used."""
        is_allowed = any(fnmatchcase(tool_name, glob) for glob in self.allow)
        return is_allowed and not any(fnmatchcase(tool_name, glob) for glob in self.exclude)


def read_servers(transport: Any) -> list[McpServer]:
    """Return the servers that a transport names.

    Raises:
        ConfigError: it has none of the known forms.
    """
    if isinstance(transport, McpServer):
        return [transport]
    if isinstance(transport, str | Path):
        return [_read_text(str(transport))]
    if is_list(transport):
        return [server for entry in transport for server in read_servers(entry)]
    if not is_mapping(transport):
        return [McpServer(name=_make_name(getattr(transport, "name", "server")), target=transport)]
    servers = transport.get("mcpServers")
    if is_mapping(servers):
        return [_read_entry(name, entry) for name, entry in servers.items()]
    return [_read_entry(str(transport.get("name", "")), transport)]


def _read_text(text: str) -> McpServer:
    if text.startswith(("http://", "https://")):
        return McpServer(name=_make_name(urlsplit(text).netloc), url=text)
    path = Path(text)
    interpreter = _INTERPRETERS.get(path.suffix)
    if interpreter is None or not path.is_file():
        raise ConfigError(f"Invalid MCP server {text!r}.", hint=f"It can be {_FORMS}.")
    return McpServer(name=_make_name(path.stem), command=interpreter, args=(str(path),))


def _read_entry(name: str, entry: Any) -> McpServer:
    if not is_mapping(entry) or not ("command" in entry or "url" in entry):
        # Its values are not shown: a header or a variable may be a secret.
        got = f"a {type(entry).__name__}"
        if is_mapping(entry):
            got = f"an entry with {', '.join(map(str, entry)) or 'nothing'}"
        raise ConfigError(f"Invalid MCP server: got {got}.", hint=f"It can be {_FORMS}.")
    url, command = str(entry.get("url", "")), str(entry.get("command", ""))
    name = _make_name(name or (urlsplit(url).netloc if url else Path(command).stem))
    return McpServer(
        name=name,
        command=command,
        args=_read_list(name, entry, "args"),
        env=_read_table(name, entry, "env"),
        cwd=entry.get("cwd"),
        url=url,
        headers=_read_table(name, entry, "headers"),
        allow=_read_list(name, entry, "allow") or ("*",),
        exclude=_read_list(name, entry, "exclude"),
        time_limit=entry.get("time_limit", TIME_LIMIT),
        trusted=_read_flag(name, entry, "trusted", default=True),
    )


def _read_flag(server: str, entry: Mapping[str, Any], field: str, *, default: bool) -> bool:
    value = entry.get(field, default)
    if not isinstance(value, bool):
        raise ConfigError(f"`{field}` of MCP server {server!r} must be true or false, got {value!r}.")
    return value


def _read_list(server: str, entry: Mapping[str, Any], field: str) -> tuple[str, ...]:
    value: Any = entry.get(field) or []
    if not is_sequence(value):
        raise ConfigError(f"`{field}` of MCP server {server!r} must be a list, got {type(value).__name__}.")
    return tuple(str(item) for item in value)


def _read_table(server: str, entry: Mapping[str, Any], field: str) -> dict[str, str]:
    value: Any = entry.get(field) or {}
    if not is_mapping(value):
        raise ConfigError(f"`{field}` of MCP server {server!r} must be a table, got {type(value).__name__}.")
    return {key: str(item) for key, item in value.items()}


def _make_name(text: str) -> str:
    return re.sub(r"[^\w-]+", "_", text.rpartition("@")[2]).strip("_") or "server"
