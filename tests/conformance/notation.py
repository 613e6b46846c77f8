"""Python values as JSON: cases are written in it, and results are compared in it.

JSON's own scalars and lists stand for themselves; anything else is an object with one key: `dict` (pairs, so
that order and any key survive), `tuple`, `set`, `frozenset`, `bytes`, `float`, `class`, `type`, `object`.
"""

import base64
import math
from typing import Any

from pydantic import BaseModel

from conformance.catalogue import CLASSES, EXPRESSIONS, OBJECTS
from conformance.translation import Shown

_MODULES = {kind: name for name, kind in CLASSES.items()}


def decode(note: Any) -> Any:
    """Return a new value for a note."""
    if isinstance(note, list):
        return [decode(item) for item in note]
    if not isinstance(note, dict):
        return note
    ((kind, content),) = note.items()
    return _DECODERS[kind](content)


_DECODERS: dict[str, Any] = {
    "dict": lambda pairs: {decode(key): decode(value) for key, value in pairs},
    "tuple": lambda items: tuple(decode(item) for item in items),
    "set": lambda items: {decode(item) for item in items},
    "frozenset": lambda items: frozenset(decode(item) for item in items),
    "bytes": lambda text: base64.b64decode(text),
    "float": float,
    "class": lambda name: CLASSES[name],
    "type": lambda name: EXPRESSIONS[name],
    "object": lambda name: OBJECTS[name](),
}


def encode(value: Any) -> Any:
    """Return the note of a result: exact for plain data, class and `repr` for other objects."""
    if value is None or type(value) in (str, bool, int):
        return value
    if type(value) is float:
        return value if math.isfinite(value) else {"float": repr(value)}
    if type(value) is list:
        return [encode(item) for item in value]
    if type(value) is dict:
        return {"dict": [[encode(key), encode(item)] for key, item in value.items()]}
    if type(value) is tuple:
        return {"tuple": [encode(item) for item in value]}
    if type(value) in (set, frozenset):
        return {type(value).__name__: sorted((encode(item) for item in value), key=repr)}
    return encode(value.original) if type(value) is Shown else _encode_object(value)


def _encode_object(value: Any) -> Any:
    if isinstance(value, type) and not hasattr(value, "__origin__"):
        if issubclass(value, BaseModel) and value not in _MODULES:
            return {"model": value.__name__}
        return {"class": value.__name__}
    if isinstance(value, BaseModel):
        return {"instance": [type(value).__name__, encode(value.model_dump())]}
    return {"value": [type(value).__name__, repr(value)]}
