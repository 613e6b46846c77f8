"""Placeholders in text: `${name}` becomes the value that a mapping has for `name`."""

import re
from collections.abc import Callable, Hashable, Mapping
from typing import Any

from dovetail.data.shapes import is_list, is_mapping, is_open_set, is_sequence, is_tuple
from dovetail.data.text import to_text
from dovetail.errors import ConfigError

_ANY_NAME = re.compile(r"\$\{\s*([^}]+?)\s*\}")
_WORD = re.compile(r"\$\{(\w+)\}")
_ESCAPE = "$${"


def fill(value: Any, values: Mapping[str, Any]) -> Any:
    """Return the value with its placeholders filled, at every depth, in keys too.

    Text that is one placeholder and nothing else becomes the mapped value itself, whatever its type; a name
    without a value stays as it is.
    """
    if isinstance(value, str):
        return _fill_leaf(value, values)
    if is_mapping(value):
        return {_fill_key(key, values): fill(item, values) for key, item in value.items()}
    if is_tuple(value):
        return tuple(fill(item, values) for item in value)
    if is_sequence(value):
        return [fill(item, values) for item in value]
    if is_open_set(value):
        return {fill(item, values) for item in value}
    return value


def fill_text(text: str, values: Mapping[str, Any]) -> str:
    """Return the text with its placeholders filled, as text; a name without a value stays as it is."""
    if "${" not in text:
        return str.__str__(text)
    return _ANY_NAME.sub(lambda match: str(values[match[1]]) if match[1] in values else match[0], text)


def fill_required(value: Any, find: Callable[[str], str]) -> Any:
    """Return the value with every `${word}` replaced by the text that `find` returns for it.

    Texts in mappings and lists are filled at every depth; keys are not.
    """
    if isinstance(value, str):
        return _WORD.sub(lambda match: find(match[1]), value)
    if is_mapping(value):
        return {key: fill_required(item, find) for key, item in value.items()}
    return [fill_required(item, find) for item in value] if is_list(value) else value


def fill_template(text: str, values: Mapping[str, Any]) -> str:
    """Return the text with every `${word}` filled, and `$${` as a plain `${`.

    Text is filled in as it is, any other value as JSON: `true`, `null`, `["x"]`.

    Raises:
        ConfigError: names have no value; it lists them and the names that have one.
    """
    missing = sorted(find_names(text) - set(values))
    if missing:
        raise ConfigError(
            f"Missing values for the template: {', '.join(missing)}.",
            hint=f"Given: {', '.join(sorted(values)) or 'nothing'}. Write $${{ for a plain ${{.",
        )
    parts = text.split(_ESCAPE)
    return "${".join(fill_required(part, lambda name: to_text(values[name])) for part in parts)


def find_names(text: str) -> set[str]:
    """Return the names that a template needs."""
    return {name for part in text.split(_ESCAPE) for name in _WORD.findall(part)}


def find_placeholders(text: str) -> list[str]:
    """Return the names of the placeholders that `fill` would fill, in order."""
    return _ANY_NAME.findall(text)


def _fill_key(key: Any, values: Mapping[str, Any]) -> Any:
    filled = _fill_leaf(key, values) if isinstance(key, str) else key
    return filled if isinstance(filled, Hashable) else str(filled)


def _fill_leaf(text: str, values: Mapping[str, Any]) -> Any:
    whole = _ANY_NAME.fullmatch(text)
    if whole is not None and whole[1] in values:
        return values[whole[1]]
    return fill_text(text, values)
