"""Layered settings and their defaults: app → agent → request, the nearest wins."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dovetail.data.layered import LayeredData
from dovetail.data.shapes import is_list, is_mapping
from dovetail.errors import ConfigError
from dovetail.lazy import lazy

difflib = lazy("difflib")
tomllib = lazy("tomllib")

_VARIABLE = re.compile(r"\$\{(\w+)\}")

DEFAULTS: dict[str, Any] = {
    "prompt": {
        "role_mapping": {
            "system": "system",
            "developer": "developer",
            "assistant": "assistant",
            "user": "user",
            "_": "assistant",
        },
        "prompt_title_mapping": {
            "system": "SYSTEM",
            "developer": "DEVELOPER DIRECTIONS",
            "chat_history": "CHAT HISTORY",
            "info": "INFO",
            "tools": "TOOLS",
            "action_results": "ACTION RESULTS",
            "instruct": "INSTRUCT",
            "examples": "EXAMPLES",
            "input": "INPUT",
            "output": "OUTPUT",
            "output_requirement": "OUTPUT REQUIREMENT",
        },
        "resolve_type_names": False,
    },
    "response": {"streaming_parse_path_style": "dot", "max_retries": 3, "timeout": None},
    "runtime": {"show_tool_logs": False, "show_model_logs": False, "record_requests": True},
    "tools": {"strategy": "judge", "max_rounds": 1, "allowed": None, "excluded": []},
    "subagents": {
        "enabled": True,
        "shape": "auto",
        "max_depth": 3,
        "max_children": 50,
        "max_subagents": 200,
    },
    "agents": {},
    "extensions": {"import_limit": None},
    "mcp": {"servers": {}},
    "bus": {"enabled": True},
    "policy": {"mode": "default", "max_mode": "default"},
    "store": {"url": None},
    "server": {
        "admin_token": None,
        "api_keys": None,
        "cors_origins": [],
        "rate_limit": 600,
        "trusted_proxies": ["127.0.0.1", "::1"],
        "log_format": "text",
        "log_level": "info",
    },
    "model": {
        "name": None,
        "base_url": None,
        "api_key": None,
        "structured": "auto",
        "stream": True,
        "context_tokens": None,
        "options": {},
        "headers": {},
        "body": {},
        "proxy": None,
        "timeouts": {"connect": 10.0, "first_token": 180.0, "idle": 90.0, "total": 900.0},
        "retries": {"attempts": 4, "first_delay": 0.5, "longest_delay": 8.0, "longest_wait": 60.0},
        "fallbacks": [],
        "providers": {},
        "prices": {},
    },
}

ENVIRONMENT = {
    "DATABASE_URL": "store.url",
    "EXTENSIONS_ADMIN_TOKEN": "server.admin_token",
    "EXTENSION_IMPORT_LIMIT": "extensions.import_limit",
    "DOVETAIL_API_KEYS": "server.api_keys",
    "DOVETAIL_CORS_ORIGINS": "server.cors_origins",
    "DOVETAIL_RATE_LIMIT": "server.rate_limit",
    "DOVETAIL_TRUSTED_PROXIES": "server.trusted_proxies",
    "DOVETAIL_LOG_FORMAT": "server.log_format",
    "DOVETAIL_LOG_LEVEL": "server.log_level",
    "DOVETAIL_MODEL": "model.name",
    "DOVETAIL_BASE_URL": "model.base_url",
    "DOVETAIL_API_KEY": "model.api_key",
}
"""Environment variables and the settings they set; read when an app or runtime is made, never at import."""


class Settings(LayeredData):
    """Settings by dotted key, with an optional parent whose values hold where this layer has none.

    Mappings of the layers merge; of everything else, lists included, the nearest wins.
    """

    joins_lists = False

    def __repr__(self) -> str:
        return f"Settings({', '.join(self)})"  # without the values: some are keys and passwords


def default_settings(file: Mapping[str, Any] | None = None) -> Settings:
    """A fresh layer: the defaults, over them a settings file's choices, over these the environment's."""
    settings = Settings(DEFAULTS)
    for section, values in (file or {}).items():
        settings.set(section, values)
    for variable, key in ENVIRONMENT.items():
        if value := os.environ.get(variable):
            settings.set(key, value)
    return settings


def as_settings(data: "Settings | Mapping[str, Any] | None", parent: Settings | None = None) -> Settings:
    """A settings layer over `parent`, holding `data`."""
    if isinstance(data, Settings):
        return data
    return Settings(data, parent=parent or default_settings())


def open_settings(data: "Settings | Mapping[str, Any] | None", folder: Path) -> Settings:
    """A settings layer over the defaults, the file `dovetail.toml` of a folder and the environment."""
    if isinstance(data, Settings):
        return data
    return as_settings(data, default_settings(read_settings_file(folder / "dovetail.toml")))


def find_workspace(chosen: str | Path | None = None) -> Path:
    """The folder to work in: the chosen one, else `WORKSPACE_ROOT`, else the current one."""
    return Path(chosen or os.environ.get("WORKSPACE_ROOT") or Path.cwd()).resolve()


def fill_variables(value: Any) -> Any:
    """A setting with `${NAME}` filled from the environment, at every depth.

    Raises:
        ConfigError: the environment has no such variable.
    """
    if isinstance(value, str):
        return _VARIABLE.sub(_find_variable, value)
    if is_mapping(value):
        return {key: fill_variables(item) for key, item in value.items()}
    return [fill_variables(item) for item in value] if is_list(value) else value


def _find_variable(match: "re.Match[str]") -> str:
    value = os.environ.get(match[1])
    if value is None:
        raise ConfigError(f"the environment has no {match[1]}, which the settings name")
    return value


def read_settings_file(path: Path) -> Mapping[str, Any]:
    """The settings of a TOML file, one table for each section; empty when there is no file.

    Raises:
        ConfigError: it cannot be read, is no TOML, or has a section that does not exist.
    """
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path}: the settings cannot be read: {error}") from error
    for section, values in data.items():
        if section not in DEFAULTS:
            near = difflib.get_close_matches(section, DEFAULTS, n=1) or sorted(DEFAULTS)
            raise ConfigError(f"{path}: no settings {section!r}; there are: {', '.join(near)}")
        if not is_mapping(values):
            raise ConfigError(f"{path}: `{section}` must be a table [{section}], not {values!r}")
    return data
