"""Problems with arguments: where, what, and the allowed values, in words a model can act on."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dovetail.data.paths import write_path
from dovetail.data.shapes import is_list, is_mapping
from dovetail.data.text import cut, find_nearest

_LONGEST_VALUE = 120
_MOST_PROBLEMS = 8
_LIMITS = {
    "minimum": "must be at least {limit}",
    "maximum": "must be at most {limit}",
    "exclusiveMinimum": "must be more than {limit}",
    "exclusiveMaximum": "must be less than {limit}",
    "multipleOf": "must be a multiple of {multiple_of}",
    "minLength": "must have at least {limit} characters",
    "maxLength": "must have at most {limit} characters",
    "minItems": "must have at least {limit} items",
    "maxItems": "must have at most {limit} items",
    "minProperties": "must have at least {limit} members",
    "maxProperties": "must have at most {limit} members",
    "uniqueItems": "must not hold the same item twice",
    "pattern": "must match the pattern {pattern}",
    "format": "must be a valid {format}",
    "const": "must be {expected_value}",
}


@dataclass(frozen=True, slots=True)
class SchemaProblem:
    """One problem: the `path` to the value, the violated `keyword`, a message for the model, the value, the
    schema it should match, and the `names` of missing or unknown members."""

    path: tuple[str | int, ...]
    keyword: str
    message: str
    value: Any = None
    schema: Mapping[str, Any] | None = None
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Fault:
    """An error of the validator, with the data needed to describe it."""

    error: Any
    root: Mapping[str, Any]
    schema: Mapping[str, Any] | None
    details: Mapping[str, Any]

    @property
    def where(self) -> str:
        return f"`{write_path(self.error.instance_path)}`" if self.error.instance_path else "the arguments"

    @property
    def got(self) -> str:
        return show_value(self.error.instance)

    def get_path(self, name: str) -> str:
        return f"`{write_path((*self.error.instance_path, name))}`"


def read_problem(error: Any, root: Mapping[str, Any]) -> SchemaProblem:
    """Return the problem that an error of the validator describes; `root` is the whole schema."""
    details = error.kind.as_dict()
    fault = _Fault(error, root, _find_schema(root, error.schema_path), details)
    names = tuple(details.get("unexpected", ())) or ((details["property"],) if "property" in details else ())
    message = _SAY.get(error.kind.name, _say_anything)(fault)
    return SchemaProblem(
        tuple(error.instance_path), error.kind.name, message, error.instance, fault.schema, names
    )


def describe_problems(problems: Sequence[SchemaProblem]) -> str:
    """Return all problems in one text."""
    texts = [problem.message for problem in problems[:_MOST_PROBLEMS]]
    if len(problems) > _MOST_PROBLEMS:
        texts.append(f"and {len(problems) - _MOST_PROBLEMS} more problems")
    return "; ".join(texts)


def show_value(value: Any) -> str:
    """Return a value as short JSON."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return cut(text, _LONGEST_VALUE)


def summarize_schema(schema: Any) -> str:
    """Summarize in a few words which values a schema allows."""
    if not is_mapping(schema):
        return "any value"
    if "enum" in schema:
        return f"one of {', '.join(show_value(value) for value in schema['enum'])}"
    if "const" in schema:
        return show_value(schema["const"])
    for keyword in ("anyOf", "oneOf"):
        if is_list(branches := schema.get(keyword)):
            return " or ".join(dict.fromkeys(summarize_schema(branch) for branch in branches))
    return _summarize_type(schema)


def _summarize_type(schema: Mapping[str, Any]) -> str:
    kind = schema.get("type")
    if is_list(kind):
        return " or ".join(str(name) for name in kind)
    if kind == "array" and is_mapping(items := schema.get("items")):
        return f"array of {summarize_schema(items)}"
    if kind == "object" and is_mapping(properties := schema.get("properties")):
        return f"object with {', '.join(properties)}"
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    return str(kind) if kind else "any value"


def _find_schema(root: Mapping[str, Any], path: Sequence[str | int]) -> Mapping[str, Any] | None:
    """Return the schema that contains the keyword at `path`."""
    current: Any = root
    for step in path[:-1]:
        try:
            current = current[step]
        except (KeyError, IndexError, TypeError):  # the path leads through a reference
            return None
    return current if is_mapping(current) else None


def _say_anything(fault: _Fault) -> str:
    words = _LIMITS.get(fault.error.kind.name)
    if words is None:
        return f"{fault.where}: {fault.error.message}"
    values = {name: show_value(value) for name, value in fault.details.items()}
    return f"{fault.where} {words.format(**values)}, got {fault.got}"


def _say_allowed(fault: _Fault) -> str:
    return f"{fault.where} must be {summarize_schema(fault.schema)}, got {fault.got}"


def _say_branches(fault: _Fault) -> str:
    """Describe the allowed values, and why the value does not match the nearest branch."""
    branches = fault.details.get("context", ())
    if not all(branches):
        return f"{_say_allowed(fault)}, which fits more than one of these"
    near = [branch for branch in branches if not any(_is_other_type(inner, fault) for inner in branch)]
    if not near:
        return _say_allowed(fault)
    inner = [read_problem(inner, fault.root).message for inner in min(near, key=len)]
    return f"{_say_allowed(fault)} ({'; '.join(inner[:3])})"


def _is_other_type(inner: Any, outer: _Fault) -> bool:
    return inner.kind.name == "type" and inner.instance_path == outer.error.instance_path


def _say_required(fault: _Fault) -> str:
    name = fault.details["property"]
    properties = fault.schema.get("properties") if fault.schema else None
    wanted = properties.get(name) if is_mapping(properties) else None
    if not is_mapping(wanted):
        return f"{fault.get_path(name)} is missing"
    text = wanted.get("description")
    return f"{fault.get_path(name)} is missing ({summarize_schema(wanted)}{f': {text}' if text else ''})"


def _say_unknown(fault: _Fault) -> str:
    unknown: list[str] = fault.details["unexpected"]
    known: list[str] = list(fault.schema.get("properties") or ()) if fault.schema else []
    near = find_nearest(unknown[0], known)
    hint = f"expected one of: {', '.join(known)}" if known else "none are expected"
    hint = f"did you mean `{near[0]}`?" if near else hint
    return f"{', '.join(fault.get_path(name) for name in unknown)} is not known; {hint}"


_SAY: dict[str, Callable[[_Fault], str]] = {
    "type": _say_allowed,
    "enum": _say_allowed,
    "anyOf": _say_branches,
    "oneOf": _say_branches,
    "required": _say_required,
    "additionalProperties": _say_unknown,
}
