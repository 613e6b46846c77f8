"""Convert numbers to the types in a schema: `2.0` for an integer becomes `2`, `1` for a number `1.0`.

JSON does not distinguish the two, but Python does: `range(2.0)` fails. A schema is read once per tool; one
without numbers costs nothing per call.
"""

from collections.abc import Callable, Mapping, Set
from typing import Any, TypeAlias

from dovetail.data.shapes import is_dict, is_list, is_mapping
from dovetail.schema.reference import find_reference

Convert: TypeAlias = Callable[[Any], Any]

_NUMBERS = frozenset({"integer", "number"})
_BRANCHES = ("anyOf", "oneOf")
_DEEPEST = 20


def make_converter(schema: Mapping[str, Any], skip: Set[str] = frozenset()) -> Convert | None:
    """Return the function that types the numbers of valid arguments, or None if there is nothing to type.

    Members in `skip` stay as they are.
    """
    properties = schema.get("properties")
    if skip and is_mapping(properties):
        kept = {name: inner for name, inner in properties.items() if name not in skip}
        schema = {**schema, "properties": kept}
    return _Reader(schema).read(schema)


class _Reader:
    """Reads the parts of one schema; references are followed once each, so a schema may refer to itself."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._references: dict[str, Convert | None] = {}

    def read(self, schema: Any) -> Convert | None:
        if not is_mapping(schema):
            return None
        if isinstance(reference := schema.get("$ref"), str):
            return self._follow(reference)
        steps = [
            step
            for step in (
                self._read_number(schema),
                self._read_items(schema),
                self._read_members(schema),
                *(self.read(part) for part in _list(schema, "allOf")),
                *(self._read_branches(_list(schema, keyword)) for keyword in _BRANCHES),
            )
            if step is not None
        ]
        return steps[0] if len(steps) == 1 else _chain(steps) if steps else None

    def _follow(self, reference: str) -> Convert | None:
        if reference not in self._references:
            self._references[reference] = lambda value: self._apply(reference, value)
            self._references[reference] = self.read(find_reference(self._root, reference))
        return self._references[reference]

    def _apply(self, reference: str, value: Any) -> Any:
        convert = self._references[reference]
        return value if convert is None else convert(value)

    def _read_number(self, schema: Mapping[str, Any]) -> Convert | None:
        allowed = self._list_numbers(schema)
        if len(allowed) != 1:
            return None
        return _to_integer if "integer" in allowed else _to_float

    def _list_numbers(self, schema: Any, depth: int = 0) -> Set[str]:
        """Return which of `integer` and `number` a schema allows; both if it does not say."""
        if not is_mapping(schema) or depth > _DEEPEST:
            return _NUMBERS
        if isinstance(reference := schema.get("$ref"), str):
            return self._list_numbers(find_reference(self._root, reference), depth + 1)
        kind = schema.get("type")
        if kind is not None:
            return _NUMBERS.intersection([kind] if isinstance(kind, str) else kind)
        branches = [branch for keyword in _BRANCHES for branch in _list(schema, keyword)]
        if not branches:
            return _NUMBERS
        return frozenset[str]().union(*(self._list_numbers(branch, depth + 1) for branch in branches))

    def _read_items(self, schema: Mapping[str, Any]) -> Convert | None:
        first = [self.read(item) for item in _list(schema, "prefixItems")]
        rest = self.read(schema.get("items"))
        if rest is None and not any(first):
            return None

        def convert(value: Any) -> Any:
            if not is_list(value):
                return value
            return [
                item if step is None else step(item)
                for place, item in enumerate(value)
                for step in (first[place] if place < len(first) else rest,)
            ]

        return convert

    def _read_members(self, schema: Mapping[str, Any]) -> Convert | None:
        properties = schema.get("properties")
        members: Mapping[str, Any] = properties if is_mapping(properties) else {}
        named = {name: step for name in members if (step := self.read(members[name])) is not None}
        others = self.read(schema.get("additionalProperties"))
        if not named and others is None:
            return None

        def convert(value: Any) -> Any:
            if not is_dict(value):
                return value
            return {
                name: item if step is None else step(item)
                for name, item in value.items()
                for step in (named.get(name) if name in members else others,)
            }

        return convert

    def _read_branches(self, branches: list[Any]) -> Convert | None:
        """Convert the contents of a list or object if only one branch can match it."""
        steps = {kind: self._read_only_branch(branches, kind) for kind in ("array", "object")}
        if not any(steps.values()):
            return None

        def convert(value: Any) -> Any:
            step = steps["array"] if is_list(value) else steps["object"] if is_dict(value) else None
            return value if step is None else step(value)

        return convert

    def _read_only_branch(self, branches: list[Any], kind: str) -> Convert | None:
        fitting = [branch for branch in branches if self._allows(branch, kind)]
        return self.read(fitting[0]) if len(fitting) == 1 else None

    def _allows(self, schema: Any, kind: str) -> bool:
        if is_mapping(schema) and isinstance(reference := schema.get("$ref"), str):
            schema = find_reference(self._root, reference)
        kinds = schema.get("type") if is_mapping(schema) else None
        return kinds is None or kind == kinds or (is_list(kinds) and kind in kinds)


def _list(schema: Mapping[str, Any], keyword: str) -> list[Any]:
    parts = schema.get(keyword)
    return parts if is_list(parts) else []


def _chain(steps: list[Convert]) -> Convert:
    def convert(value: Any) -> Any:
        for step in steps:
            value = step(value)
        return value

    return convert


def _to_integer(value: Any) -> Any:
    return int(value) if type(value) is float and value.is_integer() else value


def _to_float(value: Any) -> Any:
    if type(value) is not int:
        return value
    try:
        number = float(value)
    except OverflowError:
        return value
    return number if number == value else value  # a long id must not lose its last digits
