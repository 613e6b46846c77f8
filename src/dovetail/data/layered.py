"""Data in layers: a child sees its parent's values where it has none of its own."""

from collections.abc import Mapping
from typing import Any

from dovetail.data.shapes import is_dict, is_mapping


class LayeredData:
    """A tree of values with an optional parent; keys may be dotted."""

    def __init__(self, data: Mapping[str, Any] | None = None, *, parent: "LayeredData | None" = None) -> None:
        self._data: dict[str, Any] = {}
        self.parent = parent
        for key, value in (data or {}).items():
            self.set(key, value)

    def set(self, key: str, value: Any) -> None:
        """Set `key` (dotted for nested values); mappings merge, other values replace."""
        *parents, last = key.split(".")
        target = self._data
        for name in parents:
            target = target.setdefault(name, {})
        if is_mapping(value) and is_dict(target.get(last)):
            target[last] = _merge(target[last], value)
        else:
            target[last] = _copy_mapping(value)

    def get(self, key: str | None = None, default: Any = None, inherit: bool = True) -> Any:
        """The value at `key`, the parent's where this layer has none; mappings are merged."""
        own = _lookup(self._data, key)
        inherited = self.parent.get(key, _MISSING) if inherit and self.parent is not None else _MISSING
        if own is _MISSING:
            return default if inherited is _MISSING else inherited
        if is_dict(own) and is_mapping(inherited):
            return _merge(inherited, own)
        return own


class _Missing:
    """Told apart from None, which is a value."""


_MISSING = _Missing()


def _lookup(data: dict[str, Any], key: str | None) -> Any:
    current: Any = data
    for name in key.split(".") if key else ():
        if not is_dict(current) or name not in current:
            return _MISSING
        current = current[name]
    return current


def _merge(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for key, value in over.items():
        old = merged.get(key)
        merged[key] = _merge(old, value) if is_mapping(old) and is_mapping(value) else value
    return merged


def _copy_mapping(value: Any) -> Any:
    return _merge({}, value) if is_mapping(value) else value
