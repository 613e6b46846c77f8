"""Describes all settings: for `dovetail settings` and docs/settings.md."""

import ast
import inspect
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

from dovetail.data.secrets import MASK, mask_secrets
from dovetail.data.shapes import is_mapping
from dovetail.settings.environment import ENVIRONMENT, FURTHER_VARIABLES, read_environment
from dovetail.settings.section import Key, Section, is_section, keys_of
from dovetail.settings.sections import ENTRIES, AllSettings
from dovetail.settings.settings import ProviderKeys, Settings
from dovetail.settings.value import describe_type, is_secret, join

CODE, KEYS, FILE, DEFAULT = "code", "keys.json", "dovetail.toml", "default"
_VARIABLES = {key: variable for variable, key in ENVIRONMENT.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingRow:
    """One setting; `<name>` in its key stands for a name of the user's choice."""

    key: str
    type: str
    default: str
    description: str
    is_secret: bool = False

    @property
    def variable(self) -> str | None:
        """The environment variable that sets it."""
        return _VARIABLES.get(self.key)


def list_settings(
    section: type[Section] = AllSettings, place: str = "", *, repeats: bool = False
) -> Iterator[SettingRow]:
    """Return all settings below a section, in the order they are declared.

    With `repeats`, keys of a section are listed again for each table whose entries have the same ones.
    """
    for name, key in keys_of(section).items():
        below = join(place, name)
        inner = key.section or ENTRIES.get(below)
        if is_section(key.hint):
            yield from list_settings(key.hint, below, repeats=repeats)
            continue
        yield _make_row(section, key, below)
        if inner is not None and (repeats or not issubclass(section, inner)):
            yield from list_settings(inner, f"{below}.<name>", repeats=repeats)


def _make_row(section: type[Section], key: Key, place: str) -> SettingRow:
    descriptions = (read_descriptions(base).get(key.name) for base in section.__mro__ if is_section(base))
    return SettingRow(
        key=place,
        type=describe_type(key.hint),
        default=show_value(section.__dict__.get(key.name, getattr(section, key.name, None))),
        description=next(filter(None, descriptions), ""),
        is_secret=is_secret(key.hint),
    )


@lru_cache(maxsize=100)
def read_descriptions(section: type[Section]) -> Mapping[str, str]:
    """Return the docstrings after the keys of a section, without inherited ones."""
    [body] = [
        node.body for node in ast.parse(inspect.getsource(section)).body if isinstance(node, ast.ClassDef)
    ]
    return {
        key.target.id: " ".join(text.value.value.split())
        for key, text in pairwise(body)
        if isinstance(key, ast.AnnAssign)
        and isinstance(key.target, ast.Name)
        and isinstance(text, ast.Expr)
        and isinstance(text.value, ast.Constant)
        and isinstance(text.value.value, str)
    }


def show_value(value: Any) -> str:
    """Return a value as a settings file writes it; empty if there is none."""
    if value is None or value == "" or (is_mapping(value) and not value):
        return ""
    return json.dumps(value, ensure_ascii=False, default=repr)


def find_source(key: str, settings: Settings, file: Mapping[str, Any]) -> str:
    """Return where a value comes from: code, an environment variable, the file or the defaults."""
    variable, _ = read_environment().get(key, (None, None))
    if key in _list_keys(settings.get(inherit=False)):
        return CODE
    if variable is not None:
        return variable
    if isinstance(settings.parent, ProviderKeys) and key in _list_keys(settings.parent.get(inherit=False)):
        return KEYS
    return FILE if key in _list_keys(file) else DEFAULT


def list_values(settings: Settings) -> Mapping[str, Any]:
    """Return all values by dotted key, those of named entries included; secrets are masked."""
    secret = [row.key.split(".") for row in list_settings(repeats=True) if row.is_secret]
    values: dict[str, Any] = {**settings.get(), "extensions": mask_secrets(settings.get("extensions"))}
    return {
        key: MASK if value and any(_matches(key.split("."), pattern) for pattern in secret) else value
        for key, value in _list_keys(values).items()
    }


def _matches(names: list[str], pattern: list[str]) -> bool:
    """Whether a key is the one of a pattern, or below it."""
    pairs = zip(names, pattern, strict=False)
    return len(names) >= len(pattern) and all(part in ("<name>", name) for name, part in pairs)


def _list_keys(values: Mapping[str, Any], place: str = "") -> dict[str, Any]:
    """The values of a mapping by dotted key."""
    found: dict[str, Any] = {}
    for name, value in values.items():
        below = join(place, name)
        if is_mapping(value) and value:
            found.update(_list_keys(value, below))
        else:
            found[below] = value
    return found


def write_page() -> str:
    """Return the page docs/settings.md."""
    parts = [_INTRODUCTION]
    rows = list(list_settings())
    for name, key in keys_of(AllSettings).items():
        listed = [row for row in rows if row.key == name or row.key.startswith(f"{name}.")]
        if is_section(key.hint):
            parts.append(f"## {name}\n\n{inspect.getdoc(key.hint)}\n\n{_write_table(listed)}")
        elif listed[1:]:
            parts.append(f"## {name}\n\n{_write_table(listed)}")
    plain = [row for row in rows if "." not in row.key and not keys_of(AllSettings)[row.key].is_table]
    parts.append(f"## Other settings\n\n{_write_table(plain)}")
    variables = "\n".join(f"| `{name}` | {text} |" for name, text in FURTHER_VARIABLES.items())
    parts.append(f"## Further environment variables\n\n| Variable | Description |\n|---|---|\n{variables}")
    return "\n\n".join(parts) + "\n"


def _write_table(rows: list[SettingRow]) -> str:
    lines = ["| Setting | Type | Default | Description |", "|---|---|---|---|"]
    for row in rows:
        variable = f" Environment: `{row.variable}`." if row.variable else ""
        default = f"`{row.default}`" if row.default else ""
        cells = (f"`{row.key}`", row.type, default, f"{row.description}{variable}")
        lines.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
    return "\n".join(lines)


_INTRODUCTION = """\
# Settings

<!-- Written by `make settings-page` from src/dovetail/settings; do not edit. -->

Settings come from four sources, from weak to strong: the defaults below, the file `dovetail.toml` of the
workspace (one table per section), environment variables, and code. The file is read by the command line, the
server and `Dovetail(…)` at their start; an `Agent()` without an app reads the environment and code only:

```python
from dovetail import Agent, Dovetail, set_settings

set_settings("tools.max_rounds", 2)  # all agents without an app
agent = Agent().set_settings("tools.strategy", "native")  # one agent
app = Dovetail({"server": {"rate_limit": 60}})  # one app
```

In keys, headers and addresses, `${NAME}` stands for an environment variable: `api_key = "${HOUSE_KEY}"`.

An unknown key is an error that names the nearest one, also at the top, and so is a value of a wrong type;
the settings of an extension folder are at `extensions.<folder>`. `dovetail settings` prints this list, and
with `--values` the current values and where they come from."""
