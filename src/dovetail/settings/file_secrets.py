"""The secrets that a settings file holds as text, whether they are in effect or not.

A secret stands at a place that is declared `Secret`, below a key that names one, in an address, or in an
argument of a program. `${NAME}` is none: the file does not hold what it stands for.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import unquote, urlsplit

from dovetail.data.secrets import names_secret, names_secret_key
from dovetail.data.shapes import is_mapping, is_sequence
from dovetail.settings.section import Key, Section, keys_of
from dovetail.settings.sections import ENTRIES, AllSettings
from dovetail.settings.value import is_secret, join

_ADDRESS = re.compile(r"[a-zA-Z][\w+.-]*://[^\s\"'<>]+")
_PATH = re.compile(r"(~|\.{0,2})/|[a-zA-Z]:\\")
_RANDOM_PART = re.compile(r"(?=\D*\d)[\w-]{20,}")
"""A part of a path that no one has chosen: services give out addresses that are keys."""
_PLAIN_HEADERS = ("accept", "accept-encoding", "accept-language", "content-type", "user-agent")


def find_secrets_in_file(data: Mapping[str, Any]) -> list[str]:
    """Return the secrets among the values of a settings file, the longest first."""
    found = (text for value in _walk(data, AllSettings, "") for text in _list_forms(value))
    return sorted({text for text in found if "${" not in text}, key=len, reverse=True)


def _walk(values: Mapping[Any, Any], section: type[Section] | None, place: str) -> Iterator[str]:
    """Yield the secrets below a section; without one, only by their names."""
    known: Mapping[str, Key] = {} if section is None else keys_of(section)
    for name, value in values.items():
        below, key = join(place, name), known.get(str(name))
        entries = ENTRIES.get(below) or (key.section if key and key.is_table else None)
        if entries is not None and is_mapping(value):
            for entry, inner in value.items():
                yield from _walk_value(inner, entries, join(below, entry))
        elif (key is not None and is_secret(key.hint)) or names_secret_key(str(name)):
            yield from _list_all(value, str(name))
        else:
            yield from _walk_value(value, key.section if key else None, below)


def _walk_value(value: Any, section: type[Section] | None, place: str) -> Iterator[str]:
    if is_mapping(value):
        yield from _walk(value, section, place)
    elif is_sequence(value):
        if place.endswith(".args"):
            yield from _read_arguments(value)
        for item in value:
            yield from _walk_value(item, None, place)
    elif isinstance(value, str):
        yield from _read_addresses(value)


def _list_all(value: Any, name: str) -> Iterator[str]:
    """Yield all texts at a secret place, but not what says where something is, or what is sent."""
    if is_mapping(value):
        for key, item in value.items():
            yield from _list_all(item, str(key))
    elif is_sequence(value):
        for item in value:
            yield from _list_all(item, name)
    elif isinstance(value, str):
        yield from _read_addresses(value, is_secret=True)
        is_place = _ADDRESS.match(value) or (_PATH.match(value) and not names_secret(name))
        if not is_place and name.lower() not in _PLAIN_HEADERS:
            yield value
            if name == "api_keys":
                yield from (pair.partition(":")[2].strip() for pair in value.split(","))


def _list_forms(value: str) -> Iterator[str]:
    """Yield a secret, its lines, and what follows the scheme of a header."""
    yield value
    if value.count(" ") == 1:
        yield value.partition(" ")[2]
    yield from (line.strip() for line in value.splitlines())


def _read_arguments(words: Sequence[Any]) -> Iterator[str]:
    """Yield the secrets of a command: `--token x`, `--token=x`, `TOKEN=x`, `Authorization: x`."""
    follows = False
    for word in map(str, words):
        name, separator, value = _split_argument(word)
        if names_secret(name) and separator:
            yield value.strip()
        elif follows and not word.startswith("-"):
            yield word
        follows = word.startswith("-") and names_secret(word) and not separator


def _split_argument(word: str) -> tuple[str, str, str]:
    found = re.match(r"([\w.-]+)([=:])(.*)", word, re.DOTALL)
    return (found[1], found[2], found[3]) if found else (word, "", "")


def _read_addresses(text: str, *, is_secret: bool = False) -> Iterator[str]:
    """Yield the login, the password and the values of the query of each address in a text."""
    for address in _ADDRESS.finditer(text):
        try:
            parts = urlsplit(address[0])
        except ValueError:  # not an address
            continue
        login, at, _ = parts.netloc.rpartition("@")
        user, colon, password = login.partition(":")
        if at:
            yield from (login, password, unquote(password), *(() if colon else (user,)))
        for pair in parts.query.split("&"):
            name, _, value = pair.partition("=")
            if "version" not in name.lower():
                yield from (value, unquote(value))
        if is_secret and parts.scheme in ("http", "https"):
            yield from _RANDOM_PART.findall(parts.path)
