"""Agent files of other programs, read as our own: Claude Code, OpenCode and gemini-cli."""

from collections.abc import Mapping
from typing import Any

from dovetail.agents.definition import check_limit
from dovetail.data.shapes import is_list, is_mapping
from dovetail.data.text import shorten
from dovetail.errors import ConfigError

OPTIONS = ("temperature", "thinking")
"""Options that may be keys of the file itself."""
IGNORED = ("color", "hooks", "memory", "mode", "permissionMode", "skills")
"""Keys of other programs that an agent works without; `dovetail agents check` names them."""
_KEYS = ("kind", "mcpServers", "timeout_mins", "maxTurns", "disallowedTools", *OPTIONS, *IGNORED)

OUR_NAMES = {
    "read": "read_file",
    "Read": "read_file",
    "read_many_files": "read_file",
    "write": "write_file",
    "Write": "write_file",
    "edit": "write_file",
    "Edit": "write_file",
    "MultiEdit": "write_file",
    "NotebookEdit": "write_file",
    "patch": "write_file",
    "replace": "write_file",
    "list": "list_files",
    "LS": "list_files",
    "list_directory": "list_files",
    "glob": "list_files",
    "Glob": "list_files",
    "grep": "search_files",
    "Grep": "search_files",
    "grep_search": "search_files",
    "search_file_content": "search_files",
    "bash": "run_shell_command",
    "Bash": "run_shell_command",
    "webfetch": "fetch_url",
    "WebFetch": "fetch_url",
    "web_fetch": "fetch_url",
    "todowrite": "write_todos",
    "TodoWrite": "write_todos",
}
"""What the tools of other programs are called here."""


def convert_foreign(front: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the front matter with keys of other programs converted to our own.

    Raises:
        ConfigError: a key cannot be converted, and the agent would be another one without it.
    """
    _check(front)
    own = {key: value for key, value in front.items() if key not in _KEYS}
    own |= _convert_tools(front)
    if "maxTurns" in front:
        own.setdefault("max_turns", front["maxTurns"])
    if "timeout_mins" in front:
        check_limit("timeout_mins", front["timeout_mins"])
        own.setdefault("max_seconds", front["timeout_mins"] and 60.0 * front["timeout_mins"])
    options: Any = {} if front.get("options") is None else front["options"]
    flat = {key: front[key] for key in OPTIONS if key in front}
    if flat and is_mapping(options):
        own["options"] = {**flat, **options}
    return own


def _check(front: Mapping[str, Any]) -> None:
    """Refuse what cannot be converted."""
    if front.get("kind", "local") != "local":
        raise ConfigError(f"`kind` must be local, got {shorten(front['kind'])}.")
    if "mcpServers" in front and "mcp_servers" in front:
        raise ConfigError("Use either `mcp_servers` or `mcpServers`, not both.")


def _convert_tools(front: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the tools and servers of a file in our form, as far as it has another one."""
    own: dict[str, Any] = {"mcp_servers": front["mcpServers"]} if "mcpServers" in front else {}
    tools = _split(front.get("tools"))
    off: Any = _split(front.get("disallowedTools")) or []
    if not is_list(off) or not all(isinstance(name, str) and "(" not in name for name in off):
        hint = "Name whole tools; a rule in policy.toml can deny some calls of one."
        raise ConfigError(f"`disallowedTools` must be a list of tools, got {shorten(off)}.", hint=hint)
    if off and is_list(tools) and all(isinstance(name, str) for name in tools):
        tools = {"*": False, **dict.fromkeys(tools, True)}
    if off and (tools is None or is_mapping(tools)):
        tools = {**(tools or {}), **dict.fromkeys(off, False)}
    if tools is not None:
        own["tools"] = _add_our_names(tools) if is_mapping(tools) else tools
    return own


def _split(value: Any) -> Any:
    """Return a text with commas, as Claude Code has it (`Read, Grep`), as a list; anything else as it is."""
    return [name.strip() for name in value.split(",") if name.strip()] if isinstance(value, str) else value


def _add_our_names(switches: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the switches with those that are off under our names, too: `write: false` means `write_file`."""
    own = {OUR_NAMES[name]: False for name, on in switches.items() if name in OUR_NAMES and on is False}
    return {**switches, **own}


def read_server_names(value: Any) -> tuple[str, ...]:
    """Return the names of the MCP servers that are an agent's own.

    Raises:
        ConfigError: the value is not a list of names, such as the definition of a server.
    """
    if value is None or value == []:
        return ()
    if is_list(value) and all(isinstance(name, str) and name for name in value):
        return tuple(value)
    raise ConfigError(
        f"`mcp_servers` must be a list of names of configured MCP servers, got {shorten(value)}.",
        hint="Configure each server in dovetail.toml as [mcp.servers.<name>], "
        "then write `mcp_servers: [<name>]`: only this agent will have its tools.",
    )
