"""Layered settings: app → agent → request, the nearest wins.

The lowest layer has three sources, from weak to strong: the defaults, the file `dovetail.toml` of the
workspace, the environment. Over it are the keys that were entered on the page, and on top what code sets.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from dovetail.data.known_secrets import protect, protect_file
from dovetail.data.layered import LayeredData
from dovetail.data.private_file import read_private, write_private
from dovetail.data.private_folder import settle_private
from dovetail.errors import ConfigError
from dovetail.lazy import lazy
from dovetail.settings.environment import read_environment
from dovetail.settings.section import Section, check_path
from dovetail.settings.sections import DEFAULTS, AllSettings

tomllib = lazy("tomllib")
file_secrets = lazy("dovetail.settings.file_secrets")

S = TypeVar("S", bound=Section)

KEY_FILE = "keys.json"
"""The keys of model providers that were entered on the page, in the private folder of the workspace."""
NOTES = "request."
"""Where a request keeps notes of its own, such as its tool calls."""


FORMER = {
    **dict.fromkeys(
        ("OpenAI", "OpenAICompatible", "OAIClient", "OpenAIResponsesCompatible", "openai", "plugins"),
        "Agent(model='openai:…'), and set_settings('model.base_url', …) for another address",
    ),
    **dict.fromkeys(
        ("Anthropic", "AnthropicCompatible", "anthropic", "current_model", "default_model", "model_name"),
        "Agent(model='provider:name'), or set_settings('model.name', 'provider:name')",
    ),
    **dict.fromkeys(
        ("debug", "is_debug"), "set_settings('runtime.show_tool_logs', True), or read the log of `dovetail`"
    ),
    "storage": "Dovetail(settings={'store': {'url': …}})",
}
"""Settings that programs for Agently begin with, and ours for the same thing."""


class Settings(LayeredData):
    """Settings by dotted key, with an optional parent whose values hold where this layer has none.

    Mappings of the layers merge; of everything else, lists included, the nearest wins. An unknown key is an
    error; a folder's own settings are at `extensions.<folder>`.
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

    def check_write(self, key: str, value: Any, *, is_item: bool = False) -> None:
        """Refuse a key that is not a setting, keys in a mapping that are not, and values of a wrong type.

        Raises:
            ConfigError: the key is unknown, and the message names the nearest one; or the value is wrong.
        """
        if instead := FORMER.get(key.split(".")[0]):
            raise ConfigError(f"Unknown setting {key!r}.", hint=f"Write {instead}.")
        if not key.startswith(NOTES):
            check_path(AllSettings, key.split("."), value, has_value=not is_item)


class ProviderKeys(Settings):
    """The layer of the keys of model providers that were entered on the page; they are kept in a file."""

    def __init__(self, path: Path, parent: Settings | None = None) -> None:
        super().__init__(parent=parent)
        self.path = path
        self.read()
        protect_file(path, lambda path: map(str, read_private(path).values()))

    @classmethod
    def of(cls, settings: Settings, folder: Path) -> "ProviderKeys":
        """Return the layer below some settings; it is added if they have none."""
        layer: LayeredData | None = settings
        while layer is not None:
            if isinstance(layer, ProviderKeys):
                return layer
            layer = layer.parent
        keys = cls(settle_private(folder, KEY_FILE))
        keys.parent, settings.parent = settings.parent, keys
        return keys

    def read(self) -> None:
        """Take over what the file holds now.

        Raises:
            ConfigError: it cannot be read.
        """
        keys = {str(name): str(key) for name, key in read_private(self.path).items()}
        protect(keys.values())
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
    file = folder / "dovetail.toml"
    protect_file(file, _find_secrets)
    if isinstance(data, Settings):
        return data
    lowest = default_settings(read_settings_file(file))
    settings = as_settings(data, ProviderKeys(settle_private(folder, KEY_FILE), lowest))
    AllSettings.read(settings.get())
    return settings


def open_valid_settings(folder: Path) -> tuple[Settings, list[ConfigError]]:
    """Return the settings of a folder without those that are invalid, and the errors of these."""
    errors: list[ConfigError] = []
    settings, path = Settings(DEFAULTS), folder / "dovetail.toml"
    try:
        read_settings_file(path)
    except ConfigError as error:
        errors.append(error)
    with suppress(OSError, ValueError):
        for section, values in tomllib.loads(path.read_text(encoding="utf-8")).items():
            with suppress(ConfigError):
                settings.set(section, values)
    for key, (_, value) in read_environment(errors.append).items():
        settings.set(key, value)
    try:
        settings = ProviderKeys(settle_private(folder, KEY_FILE), settings)
        AllSettings.read(settings.get())
    except ConfigError as error:
        errors.append(error)
    return Settings(parent=settings), errors


def read_settings_file(path: Path) -> Mapping[str, Any]:
    """Return the settings of a TOML file, one table for each section; empty if the file does not exist.

    Raises:
        ConfigError: it cannot be read, is not TOML, has an unknown key, or a value of a wrong type.
    """
    data = _read_toml(path)
    try:
        AllSettings.read(data)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error.message}", hint=error.hint) from error
    return data


def _read_toml(path: Path) -> Mapping[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise ConfigError(f"Cannot read the settings in {path}: {error}") from error


def _find_secrets(path: Path) -> Iterable[str]:
    """Return the secrets that a settings file holds, also those that the environment or code overrides."""
    return file_secrets.find_secrets_in_file(_read_toml(path))
