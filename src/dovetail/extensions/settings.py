"""The settings of an extension folder: what it declares, and the values that were chosen for it.

    SETTINGS = {
        "currency": {"type": "string", "description": "Of all prices", "default": "EUR"},
        "token": {"type": "string", "required": True, "secret": True},
    }

`SETTINGS` is written like the parameters of a tool. A value comes from its default, from the table
`[extensions.<folder>]` of `dovetail.toml`, from the variable `DOVETAIL_EXTENSIONS_<FOLDER>_<NAME>`, or from
code; the later wins. A folder without `SETTINGS` gets its table as it is.
"""

import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from dovetail.data.secrets import MASK, names_secret_key
from dovetail.data.shapes import is_mapping
from dovetail.data.text import expected_one_of, find_nearest
from dovetail.errors import ConfigError, ExtensionError
from dovetail.extensions.parameters import to_json_schema
from dovetail.schema.number_types import make_converter
from dovetail.schema.problem import show_value, summarize_schema
from dovetail.schema.validate import compile_schema
from dovetail.settings import Settings, fill_variables
from dovetail.settings.environment import FOLDER_VARIABLES

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_WORDS = {
    "true": True,
    "yes": True,
    "on": True,
    "1": True,
    "false": False,
    "no": False,
    "off": False,
    "0": False,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Table:
    """The table `[extensions.<folder>]`: its values, and the names of those that code has set."""

    values: Mapping[str, Any] = field(default_factory=dict[str, Any])
    from_code: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderSetting:
    """One setting for people: a secret value is masked."""

    key: str
    type: str
    value: str
    source: str
    description: str
    variable: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderSettings:
    """The values that the code of a folder reads, and the same for people."""

    values: Mapping[str, Any] = field(default_factory=dict[str, Any])
    shown: tuple[FolderSetting, ...] = ()


def _read_table(settings: Settings | None, name: str) -> _Table:
    """Return a folder's table, with `${NAME}` filled from the environment."""
    if settings is None:
        return _Table()
    values, code = (
        _find_table(settings.get("extensions", inherit=inherit), name) for inherit in (True, False)
    )
    return _Table(values=fill_variables(values, f"extensions.{name}"), from_code=frozenset(code))


def _find_table(tables: Any, name: str) -> dict[str, Any]:
    table = tables.get(name) if is_mapping(tables) else None
    return dict(table) if is_mapping(table) else {}


def read_folder_settings(module: ModuleType, name: str, settings: Settings | None) -> FolderSettings:
    """Return the settings of the folder `name`, whose entry module is `module`.

    Raises:
        ExtensionError: `SETTINGS` is invalid.
        ConfigError: a value is missing, unknown or of a wrong type; a secret one is not shown.
    """
    table = _read_table(settings, name)
    declared = getattr(module, "SETTINGS", None)
    if declared is None:
        return FolderSettings(values=table.values)
    try:
        declaration = _Declaration(name, declared)
    except ExtensionError as error:
        message = f"SETTINGS: {error.message.replace('parameter', 'setting')}"
        raise ExtensionError(message, file=getattr(module, "__file__", None), hint=error.hint) from error
    return declaration.read(table)


class _Declaration:
    """The `SETTINGS` of one folder, as a JSON Schema for each."""

    def __init__(self, folder: str, declared: Any) -> None:
        if not is_mapping(declared):
            raise ExtensionError(f"must be a dict, got {type(declared).__name__}")
        for name, each in declared.items():
            if not _NAME.fullmatch(str(name)):
                raise ExtensionError(f"a name must have letters, digits and _ only, got {name!r}")
            if not is_mapping(each):
                raise ExtensionError(f"{name!r} must be a dict such as {{'type': 'string'}}, got {each!r}")
        self._folder = folder
        self._secret = {
            name for name, each in declared.items() if names_secret_key(name) or each.get("secret") is True
        }
        schema = to_json_schema({name: _without_secret(each) for name, each in declared.items()})
        self._schemas: Mapping[str, Any] = schema["properties"]
        self._required: list[str] = schema["required"]

    def read(self, table: _Table) -> FolderSettings:
        """Return the values of all settings, checked."""
        self._check_names(table)
        values: dict[str, Any] = {}
        shown: list[FolderSetting] = []
        for name, schema in self._schemas.items():
            value, source = self._choose(name, table)
            values[name] = self._check(name, value, source)
            shown.append(self._show(name, schema, values[name], source))
        return FolderSettings(values=values, shown=tuple(shown))

    def _key(self, name: str) -> str:
        return f"extensions.{self._folder}.{name}"

    def _variable(self, name: str) -> str:
        return _write_variable(self._folder, name)

    def _choose(self, name: str, table: _Table) -> tuple[Any, str]:
        """Return the strongest value, and where it comes from."""
        text = os.environ.get(self._variable(name))
        if name in table.from_code:
            return table.values[name], "code"
        if text:
            return _read_text(text, self._schemas[name]), self._variable(name)
        if name in table.values:
            return table.values[name], "dovetail.toml"
        if name in self._required:
            raise ConfigError(
                f"Missing setting '{self._key(name)}': {summarize_schema(self._schemas[name])}.",
                hint=f"Write it below [extensions.{self._folder}] in dovetail.toml, "
                f"or set {self._variable(name)}.",
            )
        return self._schemas[name].get("default"), "default"

    def _check(self, name: str, value: Any, source: str) -> Any:
        """Return a value as its type wants it: `1` for a number is `1.0`."""
        schema = {"type": "object", "properties": {name: self._schemas[name]}}
        problems = compile_schema(schema, owner=self._folder).find_problems({name: value})
        if problems:
            place = f"'{self._key(name)}' ({source})"
            if name in self._secret:
                raise ConfigError(
                    f"Invalid setting {place}: it must be {summarize_schema(self._schemas[name])}."
                )
            raise ConfigError(f"Invalid setting {place}: {problems[0].message}.")
        convert = make_converter(schema)
        return value if convert is None else convert({name: value})[name]

    def _check_names(self, table: _Table) -> None:
        """Reject a key that the folder does not declare, and a variable that is nearly one of its own."""
        for name in table.values:
            if name not in self._schemas:
                near = find_nearest(name, self._schemas)
                known = f"Did you mean '{self._key(near[0])}'?" if near else expected_one_of(self._schemas)
                raise ConfigError(f"Unknown setting '{self._key(name)}'. {known}")
        prefix = _write_variable(self._folder, "")
        known = [self._variable(name) for name in self._schemas]
        own = [variable for variable in os.environ if variable.startswith(prefix) and variable not in known]
        for variable in own:
            near = find_nearest(variable.removeprefix(prefix), map(str.upper, self._schemas), cutoff=0.85)
            if near:
                raise ConfigError(
                    f"Unknown environment variable {variable!r}. Did you mean '{prefix}{near[0]}'?"
                )

    def _show(self, name: str, schema: Mapping[str, Any], value: Any, source: str) -> FolderSetting:
        hidden = MASK if value and name in self._secret else show_value(value)
        return FolderSetting(
            key=self._key(name),
            type=summarize_schema(schema),
            value="" if value is None else hidden,
            source=source,
            description=str(schema.get("description", "")),
            variable=self._variable(name),
        )


def _without_secret(declared: Mapping[str, Any]) -> dict[str, Any]:
    return {key: each for key, each in declared.items() if key != "secret"}


def _write_variable(folder: str, name: str) -> str:
    return FOLDER_VARIABLES + re.sub(r"[^A-Z0-9]", "_", f"{folder}_{name}".upper())


def _read_text(text: str, schema: Mapping[str, Any]) -> Any:
    """Return the value that the text of a variable stands for, by the type of the setting."""
    types = list(_list_types(schema))
    if "boolean" in types and text.strip().lower() in _WORDS:
        return _WORDS[text.strip().lower()]
    if "string" in types:
        return text
    try:
        return json.loads(text)
    except ValueError:
        return [item.strip() for item in text.split(",") if item.strip()] if "array" in types else text


def _list_types(schema: Mapping[str, Any]) -> Iterator[str]:
    types = schema.get("type", ())
    yield from [types] if isinstance(types, str) else types
