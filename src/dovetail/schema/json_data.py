"""Convert any value to data that JSON can hold, for tool results and logs."""

import dataclasses
import datetime
import enum
from collections.abc import Callable
from typing import Any

from dovetail.data.layered import LayeredData
from dovetail.data.shapes import is_mapping, is_sequence, is_set, is_tuple
from dovetail.errors import ConfigError
from dovetail.schema.from_annotation import describe_annotation, is_annotation

_PLAIN = frozenset({str, int, float, bool, type(None)})


def to_json_data(value: Any) -> Any:
    """Return the value as plain data, in new containers.

    Keys become text, dates their ISO form, sets sorted lists, instances their data, types their description,
    and an unknown object its `str()`.
    """
    try:
        return _convert(value)
    except RecursionError as error:
        text = f"A {type(value).__name__} that contains itself cannot become plain data."
        raise ConfigError(text) from error


def _convert(value: Any) -> Any:
    if type(value) in _PLAIN:
        return value
    if is_mapping(value):
        return {_to_key(key): _convert(item) for key, item in value.items()}
    if is_tuple(value):
        return tuple([_convert(item) for item in value])
    if is_sequence(value):
        return [_convert(item) for item in value]
    if is_set(value):
        return [_convert(item) for item in sorted(value, key=str)]
    if is_annotation(value):
        return describe_annotation(value)
    return _convert_instance(value)


def _to_key(key: Any) -> str:
    return key if type(key) is str else str(_convert(key))


def _convert_instance(value: Any) -> Any:
    if isinstance(value, LayeredData):
        return _convert(value.get())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: _convert(getattr(value, field.name)) for field in dataclasses.fields(value)}
    dump: Any = getattr(value, "model_dump", None)
    if callable(dump):
        return _convert(dump())
    for kind, convert in _CONVERTERS:
        if isinstance(value, kind):
            return convert(value)
    return str(value)


_CONVERTERS: tuple[tuple[Any, Callable[[Any], Any]], ...] = (
    (enum.Enum, lambda value: _convert(value.value)),
    ((datetime.date, datetime.time), lambda value: value.isoformat()),
    (bytes, lambda value: value.decode("utf-8", "backslashreplace")),
    (str, str.__str__),
    (int, int),
    (float, float),
)
