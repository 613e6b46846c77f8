"""Clean text and data once, where they enter the program.

Clean text can be held by UTF-8, JSON and every database: adjacent surrogate halves become the character they
encode, a lone half and a NUL become U+FFFD. Clean data contains clean text and finite numbers, and is not
nested too deeply to be walked.
"""

from collections.abc import Sequence
from typing import Any

from dovetail.data.shapes import is_dict, is_list, is_number, is_tuple

REPLACEMENT = "\ufffd"
DEEPEST = 100
"""Levels of lists and objects: more than people or models write, fewer than Python's recursion limit."""


def is_clean(text: str) -> bool:
    """Return whether the text can be stored and sent unchanged."""
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            return False
    return "\0" not in text


def clean_text(text: str) -> str:
    """Return the text with whole characters only; most texts are returned unchanged."""
    if is_clean(text):
        return text
    whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return whole.replace("\0", REPLACEMENT)


def clean_data(value: Any, levels: int = DEEPEST) -> Any:
    """Return JSON-like data with clean texts and keys; a number that is not finite becomes None.

    Data that needs no cleaning is returned as the same object.

    Raises:
        ValueError: it is nested more than `levels` deep.
    """
    return _clean(value, levels, finite=True)


def clean_texts(value: Any, levels: int = DEEPEST) -> Any:
    """Do the same without checking numbers, for data that is validated against a schema afterwards."""
    return _clean(value, levels, finite=False)


def _clean(value: Any, levels: int, *, finite: bool) -> Any:
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, float):
        return None if finite and not is_number(value) else value
    if is_dict(value):
        return _clean_dict(value, _descend(levels), finite=finite)
    if is_list(value) or is_tuple(value):
        return _clean_items(value, _descend(levels), finite=finite)
    return value


def _descend(levels: int) -> int:
    if not levels:
        raise ValueError("the data is nested too deeply")
    return levels - 1


def _clean_items(items: Sequence[Any], levels: int, *, finite: bool) -> Sequence[Any]:
    cleaned = [_clean(item, levels, finite=finite) for item in items]
    if all(item is given for item, given in zip(cleaned, items, strict=True)):
        return items
    return tuple(cleaned) if is_tuple(items) else cleaned


def _clean_dict(value: dict[str, Any], levels: int, *, finite: bool) -> dict[str, Any]:
    cleaned = {_clean_key(key): _clean(item, levels, finite=finite) for key, item in value.items()}
    is_same = all(key in cleaned and cleaned[key] is item for key, item in value.items())
    return value if is_same else cleaned


def _clean_key(key: Any) -> Any:
    return clean_text(key) if isinstance(key, str) else key
