"""Types by their names, as they stand in configuration files: `int`, `list[int]`, `Literal[a, b]`."""

import datetime
import re
from typing import Any, Literal, Optional, Union

from dovetail.data.shapes import is_list, is_mapping, is_tuple

_NAMES: dict[str, Any] = {
    "str": str,
    "int": int,
    "float": float,
    "bool": bool,
    "list": list,
    "dict": dict,
    "tuple": tuple,
    "set": set,
    "Any": Any,
    "None": None,
    "NoneType": None,
    "date": datetime.date,
    "datetime": datetime.datetime,
}
_GENERIC = re.compile(r"(\w+)\[(.*)\]", re.DOTALL)
_NUMBER = re.compile(r"-?\d+")


def resolve_schema(schema: Any) -> Any:
    """A schema whose known type names are types; everything else stays as it is."""
    if isinstance(schema, str):
        return resolve_type_name(schema, schema)
    if is_mapping(schema):
        return {key: resolve_schema(item) for key, item in schema.items()}
    if is_list(schema):
        return [resolve_schema(item) for item in schema]
    if is_tuple(schema) and schema:
        return (resolve_schema(schema[0]), *schema[1:])
    return schema


def resolve_type_name(text: str, default: Any = None) -> Any:
    """The type that a name stands for, or `default` if it is not known."""
    try:
        return _read(text.strip())
    except (LookupError, TypeError):
        return default


def _read(text: str) -> Any:
    alternatives = _split(text, "|")
    if len(alternatives) > 1:
        return Union[tuple(_read(part) for part in alternatives)]  # noqa: UP007 (made from values)
    generic = _GENERIC.fullmatch(text)
    if generic is None:
        return _NAMES[text]
    name, arguments = generic[1], _split(generic[2], ",")
    if name == "Literal":
        return Literal[tuple(_read_choice(choice) for choice in arguments)]
    if name == "Optional":
        return Optional[_read(arguments[0])]  # noqa: UP045 (made from values)
    if name == "Union":
        return Union[tuple(_read(part) for part in arguments)]  # noqa: UP007 (made from values)
    parameters = tuple(... if part == "..." else _read(part) for part in arguments)
    return _NAMES[name.lower()][parameters]


def _read_choice(text: str) -> Any:
    if _NUMBER.fullmatch(text):
        return int(text)
    if text in ("True", "False"):
        return text == "True"
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" else text


def _split(text: str, separator: str) -> list[str]:
    """The text cut at the separators that stand outside brackets."""
    parts: list[str] = []
    depth = begin = 0
    for position, character in enumerate(text):
        depth += (character == "[") - (character == "]")
        if character == separator and depth == 0:
            parts.append(text[begin:position].strip())
            begin = position + 1
    return [*parts, text[begin:].strip()]
