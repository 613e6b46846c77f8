"""Layered settings: app → agent → request, the nearest wins.

The lowest layer has three sources, from weak to strong: the defaults, the file `dovetail.toml` of the
workspace, the environment. Over it are the keys that were entered on the page, and on top what code sets.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from dovetail.data.layered import LayeredData
from dovetail.data.private_file import read_private, write_private
from dovetail.errors import ConfigError
from dovetail.lazy import lazy
from dovetail.settings.environment import read_environment
from dovetail.settings.section import Section, check_path, find_key
from dovetail.settings.sections import DEFAULTS, AllSettings

tomllib = lazy("tomllib")

S = TypeVar("S", bound=Section)

NOTES = "request."
"""Where a request keeps notes of its own, such as its tool calls."""


FORMER = {
    **dict.fromkeys(
        ("OpenAI", "OpenAICompatible", "OAIClient"),
        "Agent(model='openai:…'), and set_settings('model.base_url', …) for another address",
    ),
    "debug": "set_settings('runtime.show_tool_logs', True), or read the log of `dovetail`",
}
"""Settings that programs for Agently begin with, and ours for the same thing."""


class Settings(LayeredData):
    """Settings by dotted key, with an optional parent whose values hold where this layer has none.

    Mappings of the layers merge; of everything else, lists included, the nearest wins. An unknown key in one
    of the sections is an error; names outside of them are free.
    """

    joins_lists = False

    def section(self, kind: type[S]) -> S:
        """Return a section with the values of all layers, checked; computed again only after a change.

        Raises:
            ConfigError: a value is of a wrong type.
        """
        return self.find_layer(kind.key).compute(kind.of)

    def __repr__(self) -> str:
        return f"Settings({', '.join(self)})"  # without the values: some are keys and passwords

    def check_write(self, key: str, value: Any) -> None:
        """Refuse a key that is not a setting, and keys in a mapping that are not.

        Raises:
            ConfigError: the key is unknown; the message names the nearest one.
        """
        if instead := FORMER.get(key.split(".")[0]):
            raise ConfigError(f"Unknown setting {key!r}.", hint=f"Write {instead}.")
        if not key.startswith(NOTES):
            check_path(AllSettings, key.split("."), value)


class ProviderKeys(Settings):
    """The layer of the keys of model providers that were entered on the page; they are kept in a file."""

    def __init__(self, path: Path, parent: Settings | None = None) -> None:
        super().__init__(parent=parent)
        self.path = path
        self.read()

    @classmethod
    def of(cls, settings: Settings, folder: Path) -> "ProviderKeys":
        """Return the layer below some settings; it is added if they have none."""
        layer: LayeredData | None = settings
        while layer is not None:
            if isinstance(layer, ProviderKeys):
                return layer
            layer = layer.parent
        keys = cls(_find_key_file(folder))
        keys.parent, settings.parent = settings.parent, keys
        return keys

    def read(self) -> None:
        """Take over what the file holds now.

        Raises:
            ConfigError: it cannot be read.
        """
        keys = {str(name): str(key) for name, key in read_private(self.path).items()}
        if keys != self.get_keys():
            self.delete("model")
            if keys:
                self.set("model", {"providers": {name: {"api_key": key} for name, key in keys.items()}})

    def get_keys(self) -> dict[str, str]:
        """Return the keys by provider."""
        own: Mapping[str, Any] = self.get("model.providers", {}, inherit=False)
        return {name: part["api_key"] for name, part in own.items()}

    def keep(self, provider: str, key: str | None) -> None:
        """Store the key of a provider, or with None remove it; it holds from the next request on.

        Raises:
            ConfigError: the file cannot be written.
        """
        kept = {name: value for name, value in read_private(self.path).items() if name != provider}
        write_private(self.path, kept if key is None else {**kept, provider: key})
        self.read()


def _find_key_file(folder: Path) -> Path:
    return folder / ".dovetail" / "keys.json"


def default_settings(file: Mapping[str, Any] | None = None) -> Settings:
    """Return a fresh layer: the defaults, over them a settings file's choices, over these the environment's.

    Raises:
        ConfigError: an environment variable is misspelt, or its value is of a wrong type.
    """
    settings = Settings(DEFAULTS)
    for section, values in (file or {}).items():
        settings.set(section, values)
    for key, (_, value) in read_environment().items():
        settings.set(key, value)
    return settings


def as_settings(data: "Settings | Mapping[str, Any] | None", parent: Settings | None = None) -> Settings:
    """Return a settings layer over `parent`, holding `data`."""
    if isinstance(data, Settings):
        return data
    return Settings(data, parent=parent or default_settings())


def open_settings(data: "Settings | Mapping[str, Any] | None", folder: Path) -> Settings:
    """Return a settings layer over the defaults, the files of a folder and the environment.

    Raises:
        ConfigError: a key is unknown, or a value is of a wrong type.
    """
    if isinstance(data, Settings):
        return data
    lowest = default_settings(read_settings_file(folder / "dovetail.toml"))
    settings = as_settings(data, ProviderKeys(_find_key_file(folder), lowest))
    AllSettings.read(settings.get())
    return settings


def read_settings_file(path: Path) -> Mapping[str, Any]:
    """Return the settings of a TOML file, one table for each section; empty if the file does not exist.

    Raises:
        ConfigError: it cannot be read, is not TOML, has an unknown key, or a value of a wrong type.
    """
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise ConfigError(f"Cannot read the settings in {path}: {error}") from error
    try:
        for section in data:
            find_key(AllSettings, section, section, is_open=False)
        AllSettings.read(data)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error.message}", hint=error.hint) from error
    return data
