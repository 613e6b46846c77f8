"""Where an answer does not fit the output that was asked for: for the log, as `output` checks nothing.

Keys and plain types are looked at, whose values need no conversion; everything else counts as fitting.
"""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, get_args, get_origin

from dovetail.data.shapes import is_list, is_mapping, is_tuple
from dovetail.schema.from_annotation import read_fields

_MOST = 5
_TYPES = (str, int, float, bool, list, dict)
_PLAIN: Mapping[Any, type] = {**{kind: kind for kind in _TYPES}, **{kind.__name__: kind for kind in _TYPES}}


def describe_misfits(schema: Any, data: Any) -> str:
    """Return the first places where data does not fit a schema of `output`, each once; empty if it fits."""
    return "; ".join(islice(dict.fromkeys(_find(schema, data, "")), _MOST))


def _find(schema: Any, data: Any, path: str) -> Iterator[str]:
    kind: Any = schema[0] if is_tuple(schema) and schema else schema
    if isinstance(kind, (type, str)) and kind in _PLAIN:
        yield from _find_in_value(_PLAIN[kind], data, path)
    elif is_mapping(kind):
        yield from _find_in_fields(kind, data, path, are_required=True)
    elif is_list(kind) or get_origin(kind) is list:
        yield from _find_in_items(kind if is_list(kind) else get_args(kind), data, path)
    elif (fields := read_fields(kind)) is not None:  # a class may have defaults
        yield from _find_in_fields(fields, data, path, are_required=False)


def _find_in_fields(fields: Mapping[Any, Any], data: Any, path: str, *, are_required: bool) -> Iterator[str]:
    if not is_mapping(data):
        yield from _find_in_value(dict, data, path)
        return
    for key, field in fields.items():
        name = str(key)
        inner = f"{path}.{name}" if path else name
        if name in data:
            yield from _find(field, data[name], inner)
        elif are_required:
            yield f"`{inner}` is missing"


def _find_in_items(kinds: Any, data: Any, path: str) -> Iterator[str]:
    """Compare each item with the first kind, which is the one that counts."""
    if not is_list(data):
        yield from _find_in_value(list, data, path)
    elif kinds:
        for item in data:
            yield from _find(kinds[0], item, f"{path}[*]")


def _find_in_value(kind: type, data: Any, path: str) -> Iterator[str]:
    if not _fits(kind, data):
        place = f"`{path}`" if path else "the answer"
        yield f"{place}: expected {kind.__name__}, got {type(data).__name__}"


def _fits(kind: type, data: Any) -> bool:
    """Return whether JSON data is of a plain type; 3.0 is an int, and true is none."""
    if isinstance(data, bool):
        return kind is bool
    if kind is int and isinstance(data, float):
        return data.is_integer()
    return isinstance(data, (int, float) if kind is float else kind)
