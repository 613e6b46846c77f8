"""How values join: a set onto what is there already, a child onto its parent."""

from collections.abc import Iterable, Mapping
from typing import Any

from dovetail.data.shapes import is_dict, is_list, is_mapping

_ATOMS = frozenset({str, int, float, bool, type(None), tuple, type})


def copy_containers(value: Any) -> Any:
    """The value with its own dicts and lists; everything else is shared."""
    if type(value) in _ATOMS:
        return value
    if is_mapping(value):
        return {key: copy_containers(item) for key, item in value.items()}
    if is_list(value):
        return [copy_containers(item) for item in value]
    return value


def merge_value(target: dict[str, Any], key: str, value: Any, *, join_lists: bool = True) -> None:
    """Put `value` at `key`: mappings merge, a list takes what it does not hold yet, the rest replaces."""
    old = target.get(key)
    if is_dict(old) and is_mapping(value):
        for inner, item in value.items():
            merge_value(old, inner, item, join_lists=join_lists)
    elif join_lists and is_list(old) and value is not None:
        old.extend(find_missing(old, copy_containers(value if is_list(value) else [value])))
    else:
        target[key] = copy_containers(value)


def inherit_value(parent: Any, own: Any, *, join_lists: bool = True) -> Any:
    """What a layer sees that holds `own` over its parent's value; neither is changed."""
    if is_mapping(own) and is_mapping(parent):
        return inherit_mapping(parent, own, join_lists=join_lists)
    if join_lists and is_list(own) and is_list(parent):
        return own + find_missing(own, parent)
    return own


def inherit_mapping(
    parent: Mapping[str, Any], own: Mapping[str, Any], *, join_lists: bool = True
) -> dict[str, Any]:
    """The parent's keys in the parent's order, then the rest; values of both are joined."""
    merged = dict(parent)
    for key, value in own.items():
        merged[key] = inherit_value(merged[key], value, join_lists=join_lists) if key in merged else value
    return merged


def find_missing(present: Iterable[Any], items: Iterable[Any]) -> list[Any]:
    """The items that `present` does not hold, each once, in their order."""
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
