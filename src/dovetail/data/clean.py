"""Text and data from outside, cleaned once, where they come in.

Clean text is what UTF-8, JSON and every database can hold. Halves of a surrogate pair that stand next to each
other become the character that they mean; a lone half and a NUL become U+FFFD. Clean data holds clean text,
finite numbers, and is not nested so deeply that code that walks through it fails.
"""

from collections.abc import Sequence
from typing import Any

from dovetail.data.numbers import is_number
from dovetail.data.shapes import is_dict, is_list, is_tuple

REPLACEMENT = "\ufffd"
DEEPEST = 100
"""Levels of lists and objects; far more than people or models write, far fewer than Python can walk down."""


def is_clean(text: str) -> bool:
    """Whether the text can be stored and sent as it is."""
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            return False
    return "\0" not in text


def clean_text(text: str) -> str:
    """The text with whole characters only; most texts come back as they are."""
    if is_clean(text):
        return text
    whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return whole.replace("\0", REPLACEMENT)


def clean_data(value: Any, levels: int = DEEPEST) -> Any:
    """JSON-like data with clean texts and keys; a number that is not finite becomes None.

    What needs no cleaning comes back as the same object.

    Raises:
        ValueError: it is nested more than `levels` deep.
    """
    return _clean(value, levels, finite=True)


def clean_texts(value: Any, levels: int = DEEPEST) -> Any:
    """The same without a look at the numbers, for data that is checked against a schema afterwards."""
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
