"""Environment variables that set settings, and those that are read on their own."""

import logging
import os
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from dovetail.data.text import did_you_mean
from dovetail.errors import ConfigError
from dovetail.settings.section import find_hint, keys_of
from dovetail.settings.sections import AllSettings
from dovetail.settings.value import check_value, read_value_text

logger = logging.getLogger(__name__)

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
    "DOVETAIL_MODEL_OPTIONS": "model.options",
}
"""Environment variables and the settings they set; read when an app or runtime is made, never at import."""

FURTHER_VARIABLES: Mapping[str, str] = {
    "WORKSPACE_ROOT": "The workspace, by default the current folder.",
    "DOVETAIL_CACHE": "The folder of downloaded models.",
    "DOVETAIL_DATA": "The folder of keys, logins, remembered approvals and trusted agent files.",
    "DOVETAIL_WEB_ALLOWED_HOSTS": "Hosts of private networks that the tool `fetch_url` may read.",
    "EXTENSION_EXCLUDED_EXTENSIONS": "Extension folders that are not loaded, with commas.",
    "EXTENSION_EXCLUDED_TOOLS": "Tools of extension folders that are not loaded, with commas.",
    "OPENAI_API_KEY": "The API key of OpenAI; each provider has a variable of its own (docs/models.md).",
    "OPENAI_BASE_URL": "The address of OpenAI; others have one, too (docs/models.md).",
    "DOVETAIL_URL": "The server that `dovetail ext reload`, `runs cancel` and `runs message` call.",
    "DOVETAIL_SERVER_KEY": "The user's API key that `ext reload`, `runs cancel` and `runs message` send.",
    "DOVETAIL_EXTENSIONS_<FOLDER>_<NAME>": "A setting of an extension folder (docs/extensions.md).",
    "HOST": "The address that `dovetail serve` listens on; commands that call a server call it there.",
    "PORT": "The port that `dovetail serve` listens on; commands that call a server call it there.",
}
"""Environment variables that are read but set no setting."""

FOLDER_VARIABLES = "DOVETAIL_EXTENSIONS_"
"""The beginning of the variables that set settings of extension folders; each folder checks its own."""

_OUR_PREFIX = "DOVETAIL_"
_OUR_PREFIXES = (_OUR_PREFIX, "EXTENSION")
_INTERNAL = ("DOVETAIL_SHELL_CALL",)
"""Variables that programs started by an agent inherit."""


def read_environment(
    on_error: Callable[[ConfigError], object] | None = None,
) -> Mapping[str, tuple[str, Any]]:
    """Return the settings that the environment sets: the variable and the value, by key.

    With `on_error`, it is called for each invalid variable, and these are left out.

    Raises:
        ConfigError: a variable is nearly one of ours, or its value is of a wrong type.
    """
    found: dict[str, tuple[str, Any]] = {}
    for read in (_check_variables, *(partial(_read_variable, found, *each) for each in ENVIRONMENT.items())):
        try:
            read()
        except ConfigError as error:
            if on_error is None:
                raise
            on_error(error)
    return found


def _read_variable(found: dict[str, tuple[str, Any]], variable: str, key: str) -> None:
    if text := os.environ.get(variable):
        hint = find_hint(AllSettings, key)
        found[key] = variable, check_value(read_value_text(text, hint), hint, f"{variable} ({key})")


def _check_variables() -> None:
    known = ENVIRONMENT.keys() | FURTHER_VARIABLES.keys()
    ours = [name for name in os.environ if name.startswith(_OUR_PREFIXES) and name not in known]
    for name in [name for name in ours if not name.startswith(FOLDER_VARIABLES)]:
        if meant := did_you_mean(name, known, most=1, cutoff=0.9):
            raise ConfigError(f"Unknown environment variable {name!r}. {meant}")
        if name.startswith(_OUR_PREFIX) and name not in _INTERNAL:
            _warn_of_variable(name)


@lru_cache(maxsize=100)
def _warn_of_variable(name: str) -> None:
    """Say once that a variable has no effect, and where the setting belongs that it may mean."""
    section, _, key = name.removeprefix(_OUR_PREFIX).lower().partition("_")
    known = keys_of(AllSettings).get(section)
    inner = None if known is None else known.section
    is_setting = inner is not None and key in keys_of(inner)
    hint = f" Write `{key} = …` in the table [{section}] of dovetail.toml." if is_setting else ""
    logger.warning(
        "The environment variable %r has no effect: Dovetail reads no such variable.%s", name, hint
    )


def find_workspace(chosen: str | Path | None = None) -> Path:
    """Return the folder to work in: the chosen one, else `WORKSPACE_ROOT`, else the current one."""
    return Path(chosen or os.environ.get("WORKSPACE_ROOT") or Path.cwd()).resolve()
