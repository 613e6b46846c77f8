"""Environment variables that set settings, and those that are read on their own."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dovetail.data.text import did_you_mean
from dovetail.errors import ConfigError
from dovetail.settings.section import find_hint
from dovetail.settings.sections import AllSettings
from dovetail.settings.value import check_value, read_number_text

ENVIRONMENT: Mapping[str, str] = {
    "DATABASE_URL": "store.url",
    "EXTENSIONS_ADMIN_TOKEN": "server.admin_token",
    "EXTENSION_IMPORT_LIMIT": "extensions.import_limit",
    "DOVETAIL_API_KEYS": "server.api_keys",
    "DOVETAIL_CORS_ORIGINS": "server.cors_origins",
    "DOVETAIL_FRAME_ANCESTORS": "server.frame_ancestors",
    "DOVETAIL_RATE_LIMIT": "server.rate_limit",
    "DOVETAIL_TRUSTED_PROXIES": "server.trusted_proxies",
    "DOVETAIL_LOG_FORMAT": "server.log_format",
    "DOVETAIL_LOG_LEVEL": "server.log_level",
    "DOVETAIL_ENGINE": "runs.engine",
    "DOVETAIL_QUEUES": "runs.queues",
    "TEMPORAL_ADDRESS": "runs.temporal_address",
    "TEMPORAL_NAMESPACE": "runs.temporal_namespace",
    "TEMPORAL_API_KEY": "runs.temporal_api_key",
    "DOVETAIL_MODEL": "model.name",
    "DOVETAIL_BASE_URL": "model.base_url",
    "DOVETAIL_API_KEY": "model.api_key",
}
"""Environment variables and the settings they set; read when an app or runtime is made, never at import."""

FURTHER_VARIABLES: Mapping[str, str] = {
    "WORKSPACE_ROOT": "The workspace, by default the current folder.",
    "DOVETAIL_CACHE": "The folder of downloaded models.",
    "DOVETAIL_DATA": "The folder that records which agent files are trusted.",
    "DOVETAIL_WEB_ALLOWED_HOSTS": "Hosts of private networks that the tool `fetch_url` may read.",
    "EXTENSION_EXCLUDED_EXTENSIONS": "Extension folders that are not loaded, with commas.",
    "EXTENSION_EXCLUDED_TOOLS": "Tools of extension folders that are not loaded, with commas.",
    "OPENAI_API_KEY": "The API key of OpenAI; each provider has a variable of its own (docs/models.md).",
    "OPENAI_BASE_URL": "The address of OpenAI; others have one, too (docs/models.md).",
    "DOVETAIL_URL": "The server that `dovetail ext reload`, `runs cancel` and `runs message` call.",
    "DOVETAIL_SERVER_KEY": "The API key that `dovetail ext reload` sends.",
    "DOVETAIL_EXTENSIONS_<FOLDER>_<NAME>": "A setting of an extension folder (docs/extensions.md).",
    "HOST": "The address that `dovetail serve` listens on; commands that call a server call it there.",
    "PORT": "The port that `dovetail serve` listens on; commands that call a server call it there.",
}
"""Environment variables that are read but set no setting."""

FOLDER_VARIABLES = "DOVETAIL_EXTENSIONS_"
"""The beginning of the variables that set settings of extension folders; each folder checks its own."""

_OUR_PREFIXES = ("DOVETAIL_", "EXTENSION")


def read_environment() -> Mapping[str, tuple[str, Any]]:
    """Return the settings that the environment sets: the variable and the value, by key.

    Raises:
        ConfigError: a variable is nearly one of ours, or its value is of a wrong type.
    """
    _check_variables()
    found: dict[str, tuple[str, Any]] = {}
    for variable, key in ENVIRONMENT.items():
        if text := os.environ.get(variable):
            hint = find_hint(AllSettings, key)
            value = check_value(read_number_text(text, hint), hint, f"{variable} ({key})")
            found[key] = variable, value
    return found


def _check_variables() -> None:
    known = ENVIRONMENT.keys() | FURTHER_VARIABLES.keys()
    ours = [name for name in os.environ if name.startswith(_OUR_PREFIXES) and name not in known]
    for name in [name for name in ours if not name.startswith(FOLDER_VARIABLES)]:
        if meant := did_you_mean(name, known, most=1, cutoff=0.9):
            raise ConfigError(f"Unknown environment variable {name!r}. {meant}")


def find_workspace(chosen: str | Path | None = None) -> Path:
    """Return the folder to work in: the chosen one, else `WORKSPACE_ROOT`, else the current one."""
    return Path(chosen or os.environ.get("WORKSPACE_ROOT") or Path.cwd()).resolve()
