"""Merge values: a new value into an old one, a child's into its parent's."""

from collections.abc import Iterable, Mapping
from typing import Any

from dovetail.data.shapes import has_items, is_dict, is_iterable, is_list, is_mapping, is_open_set

_ATOMS = frozenset({str, int, float, bool, type(None), tuple, type})


def copy_containers(value: Any) -> Any:
    """Return a copy of the value's dicts, lists and sets; everything else is shared."""
    if type(value) in _ATOMS:
        return value
    if is_dict(value):
        return {key: copy_containers(item) for key, item in value.items()}
    if is_list(value):
        return [copy_containers(item) for item in value]
    return set(value) if is_open_set(value) else value


def merge_value(target: dict[str, Any], key: str, value: Any, *, join_lists: bool = True) -> None:
    """Put `value` at `key`: mappings merge, lists and sets gain missing items, other values are replaced."""
    old = target.get(key)
    if is_dict(old) and is_mapping(value):
        for inner, item in value.items():
            merge_value(old, inner, item, join_lists=join_lists)
    elif join_lists and is_list(old):
        old.extend(find_missing(old, copy_containers(list_items(value))))
    elif join_lists and is_open_set(old):
        target[key] = join_set(old, value)
    else:
        target[key] = copy_containers(value)


def list_items(value: Any) -> list[Any]:
    """Return the items that a value adds to a list: those of a sequence, otherwise the value itself."""
    return list(value) if has_items(value) else [value]


def inherit_value(parent: Any, own: Any, *, join_lists: bool = True) -> Any:
    """Return the merged view of a layer's `own` value over its parent's; neither is changed."""
    if is_dict(own) and is_dict(parent):
        return inherit_mapping(parent, own, join_lists=join_lists)
    if join_lists and is_list(own):
        return own + find_missing(own, parent if _is_collection(parent) else [parent])
    if join_lists and is_open_set(own):
        return join_set(own, parent if _is_collection(parent) else [parent])
    return own


def _is_collection(value: Any) -> bool:
    return isinstance(value, (list, tuple, set))


def join_set(own: set[Any], value: Any) -> Any:
    """Return the set with one or more items added; a list if a set cannot hold them."""
    items = _set_items(value)
    try:
        return own | set(items)
    except TypeError:
        return [*own, *find_missing(own, items)]


def _set_items(value: Any) -> list[Any]:
    """Return the items that a value adds to a set: those of an iterable; a mapping or text counts as one."""
    if is_mapping(value):
        return [value] if value else []
    return list(value) if is_iterable(value) and not isinstance(value, (str, bytes)) else [value]


def inherit_mapping(
    parent: Mapping[str, Any], own: Mapping[str, Any], *, join_lists: bool = True
) -> dict[str, Any]:
    """Return the parent's keys in their order, then the rest, with the values of both merged."""
    merged = dict(parent)
    for key, value in own.items():
        merged[key] = inherit_value(merged[key], value, join_lists=join_lists) if key in merged else value
    return merged


def find_missing(present: Iterable[Any], items: Iterable[Any]) -> list[Any]:
    """Return the items missing from `present`, each once, in their order."""
    try:
        seen = set(present)
        return [item for item in dict.fromkeys(items) if item not in seen]
    except TypeError:  # something cannot be hashed
        held = list(present)
        missing: list[Any] = []
        for item in items:
            if item not in held and item not in missing:
                missing.append(item)
        return missing
