"""Casts of list items in a model's answer (rule P191)."""

from collections.abc import Callable
from typing import Any

from dovetail.data.shapes import is_class, is_list, is_mapping

_FALSE = frozenset({"false", "0", "no", "off", "n", "f", ""})
_TRUE = frozenset({"true", "1", "yes", "on", "y", "t"})


def make_list_caster(item_type: Any) -> Callable[[Any], list[Any]]:
    """A function that makes a list of any value and casts its items to `item_type`, if that is a class."""
    cast = _make_item_caster(item_type)

    def cast_list(value: Any) -> list[Any]:
        items = value if is_list(value) else [value]
        return [_cast_item(cast, item, position) for position, item in enumerate(items)] if cast else items

    return cast_list


def _cast_item(cast: Callable[[Any], Any], item: Any, position: int) -> Any:
    try:
        return cast(item)
    except (TypeError, ValueError) as error:
        raise ValueError(f"item {position}: {item!r} does not fit: {error}") from error


def _make_item_caster(item_type: Any) -> Callable[[Any], Any] | None:
    if not is_class(item_type):
        return None
    validate: Any = getattr(item_type, "model_validate", None) or getattr(item_type, "parse_obj", None)

    def cast(item: Any) -> Any:
        if isinstance(item, item_type):
            return item
        if is_mapping(item) and validate is not None:
            return validate(item)
        return item_type(item)

    return to_bool if item_type is bool else cast


def to_bool(value: Any) -> bool:
    """What a model means by "false", "no" or "0", and by their opposites."""
    if not isinstance(value, str):
        return bool(value)
    word = value.strip().lower()
    if word in _FALSE:
        return False
    if word in _TRUE:
        return True
    raise ValueError(f"{value!r} is neither true nor false")
