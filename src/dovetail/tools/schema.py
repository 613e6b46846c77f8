"""Parameter schemas, compiled once per tool."""

import json
from collections.abc import Mapping
from typing import Any

from dovetail.errors import ConfigError
from dovetail.lazy import lazy
from dovetail.tools.problem import Problem, read_problem
from dovetail.tools.schema_work import MOST_WORK, WorkMeter

jsonschema_rs = lazy("jsonschema_rs")

_MOST_DETAILED = 5000
"""The validator collects all errors at once, several kilobytes each: only where there cannot be very many."""


class Checker:
    """A compiled schema.

    A schema may come from a stranger (an MCP server): where its references could multiply the work, the work
    is counted first, and arguments that would take too much of it are a `ValueError`.
    """

    __slots__ = ("_meter", "_schema", "_validator", "is_valid")

    def __init__(self, schema: Mapping[str, Any], validator: Any) -> None:
        self._schema = schema
        self._validator = validator
        self._meter = WorkMeter(schema)
        self.is_valid = self._check if self._meter.can_repeat else validator.is_valid

    def find_problems(self, args: Mapping[str, Any]) -> list[Problem]:
        """Everything that is wrong with the arguments, or the first thing where that would be very much."""
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
            raise ValueError("the schema of the tool repeats itself so often that they cannot be checked")
        return work


def compile_schema(schema: Mapping[str, Any], *, owner: str) -> Checker:
    """Compile a parameter schema; nothing is fetched from outside.

    Raises:
        ConfigError: the schema is not valid, or is not the schema of an object.
    """
    if schema.get("type", "object") != "object":
        raise ConfigError(
            f"the parameters of tool {owner!r} are of type {schema['type']!r}: they must be an object"
        )
    plain = dict(schema)
    try:
        json.dumps(plain, allow_nan=False)  # model providers get it as JSON
        validator = jsonschema_rs.validator_for(plain, retriever=_refuse_to_fetch)
        return Checker(plain, validator)
    except (TypeError, ValueError, jsonschema_rs.ReferencingError) as error:
        text = str(error).strip().splitlines()[0]
        raise ConfigError(f"the parameter schema of tool {owner!r} cannot be compiled: {text}") from error
    except RecursionError as error:
        raise ConfigError(f"the parameter schema of tool {owner!r} is nested too deeply") from error


def _refuse_to_fetch(uri: str) -> Any:
    raise ValueError(f"{uri!r} is outside of the schema, and nothing is fetched")
