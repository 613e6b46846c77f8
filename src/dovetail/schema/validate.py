"""Parameter schemas, compiled once per tool."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import urljoin

from dovetail.data.shapes import is_list, is_mapping
from dovetail.errors import ConfigError
from dovetail.lazy import lazy
from dovetail.schema.problem import SchemaProblem, read_problem
from dovetail.schema.reference import follow_pointer

MOST_WORK = 1_000_000
_SAME_VALUE = ("allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies")
_EACH_MEMBER = (
    *("additionalProperties", "patternProperties", "propertyNames", "unevaluatedProperties"),
    *("items", "prefixItems", "additionalItems", "contains", "unevaluatedItems"),
)
_TABLES = ("dependentSchemas", "dependencies", "patternProperties")
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_IDS = ("$id", "id")
_ANCHORS = ("$anchor", "$dynamicAnchor")


class WorkMeter:
    """Counts the work of validating values; `can_repeat` is False if references cannot multiply it."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self._schema = schema
        self._places: dict[str, Any] = {"": schema}
        self._bases: dict[int, str] = {}
        self.can_repeat = False
        self._index(schema, "")

    def count(self, value: Any) -> int:
        """Return how many times a schema is applied to a value; beyond `MOST_WORK` it is not exact.

        Raises:
            ValueError: the value is nested too deeply to be checked.
        """
        try:
            return self._count(self._schema, value, {})
        except RecursionError:
            raise ValueError("the arguments are nested too deeply") from None

    def _index(self, schema: Any, base: str) -> None:
        """Record the targets of references, and the addresses from which references are resolved."""
        if is_list(schema):
            for item in schema:
                self._index(item, base)
        elif is_mapping(schema):
            base = self._name(schema, base)
            self._bases[id(schema)] = base
            self.can_repeat = self.can_repeat or any(key in schema for key in _REFERENCES)
            for item in schema.values():
                self._index(item, base)

    def _name(self, schema: Mapping[str, Any], base: str) -> str:
        """Record a schema's own names; return the base address of its references."""
        for key in _IDS:
            if isinstance(name := schema.get(key), str):
                base = _join(base, name)
                self._places[base] = schema
        for key in _ANCHORS:
            if isinstance(name := schema.get(key), str):
                self._places[f"{base}#{name}"] = schema
        return base

    def _count(self, schema: Any, value: Any, known: dict[tuple[int, int], int]) -> int:
        if not is_mapping(schema):
            return 1
        pair = id(schema), id(value)
        if pair in known:
            return known[pair]
        if len(known) > MOST_WORK:
            return MOST_WORK
        known[pair] = 0  # a reference that leads back here without going deeper is not followed again
        work = 1 + sum(self._count(inner, value, known) for inner in self._find_same(schema))
        if is_mapping(value) or is_list(value):
            work += sum(self._count(inner, item, known) for inner, item in _find_inner(schema, value))
        known[pair] = work
        return work

    def _find_same(self, schema: Mapping[str, Any]) -> Iterator[Any]:
        """Yield the schemas that apply to the same value."""
        for keyword in _SAME_VALUE:
            yield from _list_schemas(schema, keyword)
        for keyword in _REFERENCES:
            if isinstance(reference := schema.get(keyword), str):
                yield self._resolve(reference, self._bases.get(id(schema), ""))

    def _resolve(self, reference: str, base: str) -> Any:
        address = _join(base, reference)
        if address in self._places:
            return self._places[address]
        place, _, pointer = address.partition("#")
        return follow_pointer(self._places.get(place), pointer)


def _find_inner(schema: Mapping[str, Any], value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the schemas that apply to the members of a value."""
    members: Any = value.values() if is_mapping(value) else value
    properties = schema.get("properties")
    if is_mapping(properties) and is_mapping(value):
        yield from ((inner, value[name]) for name, inner in properties.items() if name in value)
    for keyword in _EACH_MEMBER:
        for inner in _list_schemas(schema, keyword):
            yield from ((inner, member) for member in members)


def _list_schemas(schema: Mapping[str, Any], keyword: str) -> Iterable[Any]:
    """Return the schemas of a keyword: one, a list, or those of a table."""
    value = schema.get(keyword)
    if is_list(value):
        return value
    if not is_mapping(value):
        return ()
    return value.values() if keyword in _TABLES else (value,)


def _join(base: str, reference: str) -> str:
    if reference.startswith("#"):
        return (base.partition("#")[0] + reference).rstrip("#")
    return urljoin(base, reference).rstrip("#")


jsonschema_rs = lazy("jsonschema_rs")

_MOST_DETAILED = 5000
"""The validator collects all errors at once, several kilobytes each: only small values get all of them."""


class Checker:
    """A compiled schema.

    A schema may be untrusted (from an MCP server): if its references could multiply the work, the work is
    counted first, and arguments that would take too much of it raise a `ValueError`.
    """

    __slots__ = ("_meter", "_schema", "_validator", "is_valid")

    def __init__(self, schema: Mapping[str, Any], validator: Any) -> None:
        self._schema = schema
        self._validator = validator
        self._meter = WorkMeter(schema)
        self.is_valid = self._check if self._meter.can_repeat else validator.is_valid

    def find_problems(self, args: Mapping[str, Any]) -> list[SchemaProblem]:
        """Return all problems with the arguments, or only the first if the list could be very long."""
        if self._count(args) <= _MOST_DETAILED:
            return [read_problem(error, self._schema) for error in self._validator.iter_errors(args)]
        try:
            self._validator.validate(args)
        except jsonschema_rs.ValidationError as error:
            return [read_problem(error, self._schema)]
        return []

    def _check(self, args: Mapping[str, Any]) -> bool:
        self._count(args)
        return self._validator.is_valid(args)

    def _count(self, args: Mapping[str, Any]) -> int:
        work = self._meter.count(args)
        if work > MOST_WORK:
            raise ValueError("the schema of the tool repeats itself too often for them to be validated")
        return work


def compile_schema(schema: Mapping[str, Any], *, owner: str) -> Checker:
    """Compile a parameter schema; nothing is fetched from outside.

    Raises:
        ConfigError: the schema is not valid, or is not the schema of an object.
    """
    if schema.get("type", "object") != "object":
        raise ConfigError(f"The parameters of tool {owner!r} must be an object, got type {schema['type']!r}.")
    plain = dict(schema)
    try:
        json.dumps(plain, allow_nan=False)  # model providers get it as JSON
        validator = jsonschema_rs.validator_for(plain, retriever=_refuse_to_fetch)
        return Checker(plain, validator)
    except (TypeError, ValueError, jsonschema_rs.ReferencingError) as error:
        text = str(error).strip().splitlines()[0]
        raise ConfigError(f"Invalid parameter schema of tool {owner!r}: {text}") from error
    except RecursionError as error:
        raise ConfigError(f"Invalid parameter schema of tool {owner!r}: nested too deeply.") from error


def _refuse_to_fetch(uri: str) -> Any:
    raise ValueError(f"{uri!r} is outside the schema; remote references are not fetched")
