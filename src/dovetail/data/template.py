"""Placeholders in text: `${name}` becomes the value that a mapping has for `name`."""

import re
from collections.abc import Hashable, Mapping
from typing import Any

from dovetail.data.shapes import is_mapping, is_open_set, is_sequence, is_tuple
from dovetail.data.text import to_text
from dovetail.errors import ConfigError

_PLACEHOLDER = re.compile(r"\$\{\s*([^}]+?)\s*\}")


def fill(value: Any, mappings: Mapping[str, Any]) -> Any:
    """The value with its placeholders filled, at every depth, in keys too.

    Text that is one placeholder and nothing else becomes the mapped value itself, whatever its type; a name
    without a value stays as it is.
    """
    if isinstance(value, str):
        return _fill_leaf(value, mappings)
    if is_mapping(value):
        return {_fill_key(key, mappings): fill(item, mappings) for key, item in value.items()}
    if is_tuple(value):
        return tuple(fill(item, mappings) for item in value)
    if is_sequence(value):
        return [fill(item, mappings) for item in value]
    if is_open_set(value):
        return {fill(item, mappings) for item in value}
    return value


def fill_text(text: str, mappings: Mapping[str, Any]) -> str:
    """The text with its placeholders filled, as text."""

    def replace(match: re.Match[str]) -> str:
        name = match[1]
        return str(mappings[name]) if name in mappings else match[0]

    return _PLACEHOLDER.sub(replace, text) if "${" in text else str.__str__(text)


def find_placeholders(text: str) -> list[str]:
    """The names of the placeholders in a text, in order."""
    return _PLACEHOLDER.findall(text)


def _fill_key(key: Any, mappings: Mapping[str, Any]) -> Any:
    if not isinstance(key, str):
        return key
    filled = _fill_leaf(key, mappings)
    return filled if isinstance(filled, Hashable) else str(filled)


def _fill_leaf(text: str, mappings: Mapping[str, Any]) -> Any:
    whole = _PLACEHOLDER.fullmatch(text)
    if whole is not None and whole[1] in mappings:
        return mappings[whole[1]]
    return fill_text(text, mappings)


_NAME = re.compile(r"\$(\$)\{|\$\{(\w+)\}")


def find_names(text: str) -> set[str]:
    """The names that a template needs."""
    return {name for _, name in _NAME.findall(text) if name}


def fill_template(text: str, values: Mapping[str, Any]) -> str:
    """The text with every placeholder filled; missing names are an error that lists what there is.

    Text is filled in as it is, any other value as JSON: `true`, `null`, `["x"]`.
    """
    missing = sorted(find_names(text) - set(values))
    if missing:
        raise ConfigError(
            f"the template needs {', '.join(missing)}, which were not given",
            hint=f"Given: {', '.join(sorted(values)) or 'nothing'}. Write $${{ for a plain ${{.",
        )
    return _NAME.sub(lambda match: "${" if match[1] else to_text(values[match[2]]), text)
