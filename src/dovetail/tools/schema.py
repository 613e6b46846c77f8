"""Parameter schemas, compiled once per tool."""

from collections.abc import Mapping
from typing import Any

from dovetail.errors import ConfigError
from dovetail.lazy import lazy
from dovetail.tools.problem import Problem, read_problem

jsonschema_rs = lazy("jsonschema_rs")


class Checker:
    """A compiled schema."""

    __slots__ = ("_schema", "_validator", "is_valid")

    def __init__(self, schema: Mapping[str, Any], validator: Any) -> None:
        self._schema = schema
        self._validator = validator
        self.is_valid = validator.is_valid

    def find_problems(self, args: Mapping[str, Any]) -> list[Problem]:
        """Everything that is wrong with the arguments; empty when they are valid."""
        return [read_problem(error, self._schema) for error in self._validator.iter_errors(args)]


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
        validator = jsonschema_rs.validator_for(plain, retriever=_refuse_to_fetch)
    except (ValueError, jsonschema_rs.ReferencingError) as error:
        text = str(error).strip().splitlines()[0]
        raise ConfigError(f"the parameter schema of tool {owner!r} cannot be compiled: {text}") from error
    return Checker(plain, validator)


def _refuse_to_fetch(uri: str) -> Any:
    raise ValueError(f"{uri!r} is outside of the schema, and nothing is fetched")
