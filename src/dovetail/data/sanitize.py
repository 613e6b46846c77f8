"""Values as prompts show them: plain scalars, dicts, lists, tuples and sets; everything else as its text."""

import datetime
import typing
from typing import Any, get_args, get_origin

from dovetail.data.layered import LayeredData
from dovetail.data.shapes import is_class, is_dict, is_list, is_open_set, is_tuple
from dovetail.errors import ConfigError

PLAIN = frozenset({str, int, float, bool, type(None)})
"""Classes whose values are already plain."""


def sanitize(value: Any, remain_type: bool = False) -> Any:
    """Return the value in new containers, with keys as text, dates in ISO form and objects as their `str()`.

    A pydantic class becomes `{field: (type, description)}`; other types become their names, or stay types
    with `remain_type`.

    >>> sanitize({1: datetime.date(2026, 1, 31), "wood": str})
    {'1': '2026-01-31', 'wood': 'str'}
    """
    try:
        return _sanitize(value, remain_type, ())
    except RecursionError as error:
        text = f"A {type(value).__name__} that contains itself cannot become plain data."
        raise ConfigError(text) from error


def _sanitize(value: Any, remain_type: bool, inside: tuple[Any, ...]) -> Any:
    if type(value) in PLAIN:
        return value
    if is_dict(value):
        return {str(key): _sanitize(item, remain_type, inside) for key, item in value.items()}
    if is_list(value):
        return [_sanitize(item, remain_type, inside) for item in value]
    if is_tuple(value):
        return tuple([_sanitize(item, remain_type, inside) for item in value])
    if is_open_set(value):
        return _sanitize_set(value, remain_type, inside)
    return _sanitize_leaf(value, remain_type, inside)


def _sanitize_set(value: set[Any], remain_type: bool, inside: tuple[Any, ...]) -> Any:
    items = [_sanitize(item, remain_type, inside) for item in value]
    try:
        return set(items)
    except TypeError:  # a class became the fields it has, which cannot be hashed
        return items


def _sanitize_leaf(value: Any, remain_type: bool, inside: tuple[Any, ...]) -> Any:
    if isinstance(value, (str, int, float)):
        return value
    if isinstance(value, datetime.date):  # a datetime is one too
        return value.isoformat()
    if isinstance(value, LayeredData):
        return _sanitize(value.get(), remain_type, inside)
    if isinstance(value, type) or get_origin(value) is not None:
        return _sanitize_type(value, remain_type, inside)
    return str(value)


def _sanitize_type(kind: Any, remain_type: bool, inside: tuple[Any, ...]) -> Any:
    fields = read_model_fields(kind)
    if fields is not None and kind not in inside:
        return {
            name: (_sanitize(_annotate(field), remain_type, (*inside, kind)), field.description)
            if field.description
            else (_sanitize(_annotate(field), remain_type, (*inside, kind)),)
            for name, field in fields.items()
        }
    if remain_type:
        return kind
    if isinstance(kind, type):
        return kind.__name__
    return _name_generic(kind, get_origin(kind), (*inside, kind))


def read_model_fields(kind: Any) -> dict[str, Any] | None:
    """Return the fields of a pydantic class, None for anything else."""
    fields: Any = getattr(kind, "__pydantic_fields__", None) if is_class(kind) else None
    return fields if is_dict(fields) and hasattr(kind, "model_validate") else None


def _annotate(field: Any) -> Any:
    """Return a field's type with its annotated rules."""
    return field.rebuild_annotation()


def _name_generic(kind: Any, origin: Any, inside: tuple[Any, ...]) -> str:
    arguments = [str(_sanitize(argument, False, inside)) for argument in get_args(kind)]
    if origin in (list, dict, tuple):
        shown = arguments[:1] if origin is list else arguments
        return f"{origin.__name__}[{', '.join(shown)}]" if shown else origin.__name__
    if origin is typing.Union:
        return " | ".join(arguments)
    if origin is typing.Literal:
        return f"Literal[{', '.join(arguments)}]"
    return str(kind)
