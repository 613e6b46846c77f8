"""Data in layers: a child sees its parent's values where it has none of its own.

Reading copies nothing: a value that only one layer holds is returned as it is, so treat results of `get`
as read-only and change it with `set`, `append`, `replace` and `delete`.
"""

import itertools
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, TypeVar

from dovetail.data.merge import copy_containers, inherit_value, join_set, list_items, merge_value
from dovetail.data.shapes import is_dict, is_list, is_mapping, is_open_set
from dovetail.data.template import fill, fill_text
from dovetail.data.text import explain_choices, shorten
from dovetail.errors import KeyPathError

T = TypeVar("T")

_stamps = itertools.count(1)
_MISSING = object()  # told apart from None, which is a value


class LayeredData:
    """A tree of values with an optional parent; keys may be dotted.

    A child's None hides the parent's value. Mappings of both layers merge; lists join: the child's items,
    then those of the parent that are missing.

    >>> parent = LayeredData({"door": {"wood": "oak"}})
    >>> LayeredData({"door": {"height": 2}}, parent=parent)["door"]
    {'wood': 'oak', 'height': 2}
    """

    joins_lists: ClassVar[bool] = True
    """Whether lists gain items on `set` and join the parent's; otherwise the nearest list wins."""

    logs: ClassVar[frozenset[str]] = frozenset()
    """Keys whose lists keep every item, also equal ones, the parent's first."""

    def __init__(self, data: Mapping[str, Any] | None = None, *, parent: "LayeredData | None" = None) -> None:
        self._data: dict[str, Any] = {}
        self._parent = parent
        self._stamp = 0
        self._computed: dict[Callable[..., Any], tuple[int, Any]] = {}
        if data:
            self.update(data)

    @property
    def parent(self) -> "LayeredData | None":
        """The layer below, whose values apply where this one has none."""
        return self._parent

    @parent.setter
    def parent(self, parent: "LayeredData | None") -> None:
        self._parent = parent
        self._stamp = next(_stamps)

    @property
    def version(self) -> int:
        """A number that grows with every change of this layer or one below it."""
        if self._parent is None:
            return self._stamp
        return max(self._stamp, self._parent.version)

    def set(self, key: str, value: Any, mappings: Mapping[str, Any] | None = None) -> None:
        """Set `key`: mappings merge, a list takes the items it does not hold yet, the rest replaces.

        >>> prompt = Prompt({"info": {"stock": ["oak"]}})
        >>> prompt.set("info.stock", ["oak", "${more}"], {"more": "teak"})
        >>> prompt
        Prompt({'info': {'stock': ['oak', 'teak']}})
        """
        target, last, value = self._prepare(key, value, mappings)
        if last in self.logs and target is self._data:
            self._log(last, value)
        else:
            if target is not self._data and is_mapping(value):
                target.setdefault(last, {})  # below a mapping, any kind of mapping becomes a dict
            merge_value(target, last, value, join_lists=self.joins_lists)

    def update(self, data: Mapping[str, Any], mappings: Mapping[str, Any] | None = None) -> None:
        """Set every key of a mapping.

        >>> prompt = Prompt({"info": {"in stock": "oak"}})
        >>> prompt.update({"info": {"sold out": "teak"}, "input": "A wood?"})
        >>> prompt
        Prompt({'info': {'in stock': 'oak', 'sold out': 'teak'}, 'input': 'A wood?'})
        """
        for key, value in data.items():
            self.set(key, value, mappings)

    def append(self, key: str, value: Any, mappings: Mapping[str, Any] | None = None) -> None:
        """Add an item to the list at `key`, also an equal one; a single value becomes its first item.

        >>> prompt = Prompt({"instruct": "Name one wood."})
        >>> prompt.append("instruct", "Use one word.")
        >>> prompt
        Prompt({'instruct': ['Name one wood.', 'Use one word.']})
        """
        target, last, value = self._prepare(key, value, mappings, is_item=True)
        old = target.get(last)
        if old is None:
            target[last] = [copy_containers(value)]
        elif is_list(old):
            old.append(copy_containers(value))
        elif is_open_set(old):
            target[last] = join_set(old, [value])
        else:
            target[last] = [old, copy_containers(value)]

    def replace(self, key: str, value: Any, mappings: Mapping[str, Any] | None = None) -> None:
        """Set `key` to exactly this value, whatever it was before.

        >>> prompt = Prompt({"info": {"in stock": "oak"}})
        >>> prompt.replace("info", {"sold out": "teak"})
        >>> prompt
        Prompt({'info': {'sold out': 'teak'}})
        """
        target, last, value = self._prepare(key, value, mappings)
        target[last] = copy_containers(value)

    def delete(self, key: str) -> None:
        """Delete this layer's own value at `key`, so that the parent's shows again.

        >>> prompt = Prompt({"system": "Be loud."}, parent=Prompt({"system": "Be brief."}))
        >>> prompt.delete("system")
        >>> prompt["system"]
        'Be brief.'
        """
        *parents, last = key.split(".")
        target: Any = self._data
        for name in parents:
            target = target.get(name) if is_dict(target) else None
        if is_dict(target) and last in target:
            del target[last]
            self._stamp = next(_stamps)

    def get(self, key: str | None = None, default: Any = None, inherit: bool = True) -> Any:
        """Return the value at `key`, the parent's if this layer has none; without a key, everything.

        >>> prompt = Prompt({"input": {"item": "door"}}, parent=Prompt({"system": "Be brief."}))
        >>> prompt.get("system"), prompt.get("input.item"), prompt.get("input.price", 0)
        ('Be brief.', 'door', 0)
        """
        if key is None and self._parent is None:
            return self._data
        value = self._look_up(key, inherit)
        return default if value is _MISSING else value

    def find_layer(self, key: str) -> "LayeredData":
        """Return the nearest layer that has a top-level key of its own; the farthest if none has it."""
        layer = self
        while layer._parent is not None and key not in layer._data:
            layer = layer._parent
        return layer

    def check_write(self, key: str, value: Any, *, is_item: bool = False) -> None:
        """Raise if the value, or the item for a list, must not be written; called before every write."""

    def compute(self, function: Callable[[Any], T]) -> T:
        """Return `function(self)`, recomputed only after this layer or one below it has changed."""
        if not self._data and self._parent is not None:
            return self._parent.compute(function)
        version = self.version
        known = self._computed.get(function)
        if known is None or known[0] != version:
            known = self._computed[function] = (version, function(self))
        return known[1]

    def __getitem__(self, key: str) -> Any:
        value = self._look_up(key, inherit=True)
        if value is _MISSING:
            raise KeyError(explain_choices("key", key, self))
        return value

    def __setitem__(self, key: str, value: Any) -> None:
        self.check_write(key, value)
        target, last = self._find_place(key)
        target[last] = copy_containers(value)

    def __delitem__(self, key: str) -> None:
        self.delete(key)

    def __contains__(self, key: str) -> bool:
        return self._look_up(key, inherit=True) is not _MISSING

    def __iter__(self) -> Iterator[str]:
        return iter(self.get())

    def __len__(self) -> int:
        return len(self.get())

    def __bool__(self) -> bool:
        return True

    def keys(self) -> "list[str]":
        """The top-level keys, the parent's first.

        >>> Prompt({"input": "A wood?"}, parent=Prompt({"system": "Be brief."})).keys()
        ['system', 'input']
        """
        return list(self.get())

    def __repr__(self) -> str:
        shown = (f"{key!r}: {shorten(value)}" for key, value in self.get().items())
        return f"{type(self).__name__}({{{', '.join(shown)}}})"

    def _prepare(
        self, key: str, value: Any, mappings: Mapping[str, Any] | None, *, is_item: bool = False
    ) -> tuple[dict[str, Any], str, Any]:
        """The dict that holds `key`, the key's last name, and the value with its placeholders filled."""
        if mappings:
            key, value = fill_text(key, mappings), fill(value, mappings)
        if isinstance(value, LayeredData):
            value = value.get()
        self.check_write(key, value, is_item=is_item)
        return *self._find_place(key), value

    def _find_place(self, key: str) -> tuple[dict[str, Any], str]:
        """The dict that holds `key`, made where it is missing, and the key's last name."""
        *parents, last = key.split(".")
        target = self._data
        for depth, name in enumerate(parents, 1):
            inner = target.setdefault(name, {})
            if not is_dict(inner):
                taken = ".".join(parents[:depth])
                raise KeyPathError(
                    f"Can not set value to path '{key}' because '{taken}' is not a dictionary."
                )
            target = inner
        self._stamp = next(_stamps)
        return target, last

    def _log(self, key: str, value: Any) -> None:
        old = self._data.get(key)
        if is_list(old) and value is not None:
            old.extend(copy_containers(list_items(value)))
        else:
            self._data[key] = copy_containers(_extend_log(old, value))

    def _look_up(self, key: str | None, inherit: bool) -> Any:
        if key is None:
            return self._join_all() if inherit else self._data
        first, *rest = key.split(".")
        found = self._join_key(first) if inherit else self._data.get(first, _MISSING)
        for name in rest:
            if not is_dict(found) or name not in found:
                return _MISSING
            found = found[name]
        return found

    def _join_all(self) -> dict[str, Any]:
        """What all layers hold, from the nearest to the farthest."""
        merged = self._data
        layer = self._parent
        while layer is not None:
            if not merged:
                merged = layer._data
            elif layer._data:
                merged = {
                    **layer._data,
                    **{
                        name: self._join(name, layer._data[name], value) if name in layer._data else value
                        for name, value in merged.items()
                    },
                }
            layer = layer._parent
        return merged

    def _join_key(self, key: str) -> Any:
        """What all layers hold at a top-level key."""
        found = self._data.get(key, _MISSING)
        layer = self._parent
        while layer is not None:
            if key in layer._data:
                below = layer._data[key]
                found = below if found is _MISSING else self._join(key, below, found)
            layer = layer._parent
        return found

    def _join(self, key: str, below: Any, own: Any) -> Any:
        if key in self.logs:
            return _extend_log(below, own)
        return inherit_value(below, own, join_lists=self.joins_lists)


def _extend_log(old: Any, new: Any) -> Any:
    """Every item of both, the old ones first; None clears the log."""
    if old is None or new is None:
        return new
    return [*(old if is_list(old) else [old]), *list_items(new)]
