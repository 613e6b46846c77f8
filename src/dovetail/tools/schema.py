"""Parameter schemas: compiled once per tool, and their errors in words a model can act on."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dovetail.errors import ConfigError
from dovetail.lazy import lazy

jsonschema_rs = lazy("jsonschema_rs")

_LONGEST_VALUE = 120
_MOST_PROBLEMS = 8


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with arguments: where, which keyword of the schema says so, and words."""

    path: tuple[str | int, ...]
    keyword: str
    message: str
    expected: Any = None
    value: Any = None

    @property
    def where(self) -> str:
        """The path as people write it: `a.b[0]`."""
        return format_path(self.path)


class Checker:
    """A compiled schema."""

    __slots__ = ("_validator", "is_valid")

    def __init__(self, validator: Any) -> None:
        self._validator = validator
        self.is_valid = validator.is_valid

    def find_problems(self, args: Mapping[str, Any]) -> list[Problem]:
        """Everything that is wrong with the arguments; empty when they are valid."""
        return [_read_error(error) for error in self._validator.iter_errors(args)]


def compile_schema(schema: Mapping[str, Any], *, owner: str) -> Checker:
    """Compile a parameter schema; nothing is fetched from outside.

    Raises:
        ConfigError: the schema is not valid, or is not the schema of an object.
    """
    if schema.get("type", "object") != "object":
        raise ConfigError(
            f"the parameters of tool {owner!r} are of type {schema['type']!r}: they must be an object"
        )
    try:
        validator = jsonschema_rs.validator_for(dict(schema), retriever=_refuse_to_fetch)
    except (ValueError, jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError) as error:
        text = str(error).strip().splitlines()[0]
        raise ConfigError(f"the parameter schema of tool {owner!r} cannot be compiled: {text}") from error
    return Checker(validator)


def describe_problems(problems: Sequence[Problem]) -> str:
    """All problems in one text for a model."""
    texts = [problem.message for problem in problems[:_MOST_PROBLEMS]]
    if len(problems) > _MOST_PROBLEMS:
        texts.append(f"and {len(problems) - _MOST_PROBLEMS} more problems")
    return "; ".join(texts)


def format_path(path: Sequence[str | int]) -> str:
    """A path as people write it: `a.b[0]`."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}"
    return text.removeprefix(".")


def show_value(value: Any) -> str:
    """A value as short JSON."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}…"


def _refuse_to_fetch(uri: str) -> Any:
    raise ValueError(f"{uri!r} is outside of the schema, and nothing is fetched")


def _read_error(error: Any) -> Problem:
    path = tuple(error.instance_path)
    keyword = error.kind.name
    expected = error.kind.value
    message = _say(format_path(path) or "the arguments", error)
    return Problem(path, keyword, message, expected, error.instance)


def _say(where: str, error: Any) -> str:
    return f"{where}: {error.message}"
