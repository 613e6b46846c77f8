"""Makes any value plain data: what JSON and YAML can hold, plus tuples."""

import dataclasses
import datetime
import enum
from collections.abc import Callable
from typing import Any

from dovetail.data.annotations import describe_annotation, is_annotation
from dovetail.data.layered import LayeredData
from dovetail.data.shapes import is_mapping, is_sequence, is_set, is_tuple
from dovetail.errors import ConfigError

PLAIN = frozenset({str, int, float, bool, type(None)})
"""The classes whose values are plain as they are."""


def sanitize(value: Any, remain_type: bool = False) -> Any:
    """The value as plain data, in containers of its own.

    Keys become text, dates their ISO form, sets lists in sorted order, instances the data they hold, and an
    unknown object its `str()`. Types become their description, or stay types with `remain_type`.
    """
    try:
        return _sanitize(value, remain_type)
    except RecursionError as error:
        raise ConfigError(f"a {type(value).__name__} that holds itself cannot become plain data") from error


def _sanitize(value: Any, remain_type: bool) -> Any:
    if type(value) in PLAIN:
        return value
    if is_mapping(value):
        return {_to_key(key): _sanitize(item, remain_type) for key, item in value.items()}
    if is_tuple(value):
        return tuple([_sanitize(item, remain_type) for item in value])
    if is_sequence(value):
        return [_sanitize(item, remain_type) for item in value]
    if is_set(value):
        return [_sanitize(item, remain_type) for item in sorted(value, key=str)]
    if is_annotation(value):
        return value if remain_type else describe_annotation(value)
    return _sanitize_instance(value, remain_type)


def _to_key(key: Any) -> str:
    return key if type(key) is str else str(_sanitize(key, remain_type=False))


def _sanitize_instance(value: Any, remain_type: bool) -> Any:
    if isinstance(value, LayeredData):
        return _sanitize(value.get(), remain_type)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            field.name: _sanitize(getattr(value, field.name), remain_type)
            for field in dataclasses.fields(value)
        }
    dump: Any = getattr(value, "model_dump", None)
    if callable(dump):
        return _sanitize(dump(), remain_type)
    for kind, convert in _CONVERTERS:
        if isinstance(value, kind):
            return convert(value)
    return str(value)


_CONVERTERS: tuple[tuple[Any, Callable[[Any], Any]], ...] = (
    (enum.Enum, lambda value: _sanitize(value.value, remain_type=False)),
    ((datetime.date, datetime.time), lambda value: value.isoformat()),
    (bytes, lambda value: value.decode("utf-8", "backslashreplace")),
    (str, str.__str__),
    (int, int),
    (float, float),
)
