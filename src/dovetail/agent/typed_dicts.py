"""Typed dicts that pydantic can read: before Python 3.12 it takes only those of `typing_extensions`."""

import sys
import typing
from typing import Any, get_args, get_origin

from dovetail.lazy import lazy

_extensions = lazy("typing_extensions")
_CONTAINERS: frozenset[Any] = frozenset({list, dict, tuple, set})


def adapt_typed_dicts(kind: Any) -> Any:
    """The same type, with the typed dicts inside in the form that pydantic knows."""
    if sys.version_info >= (3, 12):
        return kind
    if typing.is_typeddict(kind) and type(kind).__module__ == "typing":
        hints = typing.get_type_hints(kind, include_extras=True)
        fields = {name: adapt_typed_dicts(hint) for name, hint in hints.items()}
        return _extensions.TypedDict(kind.__name__, fields, total=kind.__total__)
    origin: Any = get_origin(kind)
    arguments = get_args(kind)
    adapted = tuple(adapt_typed_dicts(argument) for argument in arguments)
    return origin[adapted] if origin in _CONTAINERS and adapted != arguments else kind
