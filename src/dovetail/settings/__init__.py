"""What can be set, where it is set, and the checks of both."""

from dovetail.settings.environment import ENVIRONMENT, find_workspace
from dovetail.settings.sections import DEFAULTS, LOCAL_OWNER
from dovetail.settings.settings import (
    ProviderKeys,
    Settings,
    as_settings,
    default_settings,
    open_settings,
    read_settings_file,
)
from dovetail.settings.value import fill_variables

__all__ = [
    "DEFAULTS",
    "ENVIRONMENT",
    "LOCAL_OWNER",
    "ProviderKeys",
    "Settings",
    "as_settings",
    "default_settings",
    "fill_variables",
    "find_workspace",
    "open_settings",
    "read_settings_file",
]
