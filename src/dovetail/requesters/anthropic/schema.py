"""Write JSON Schemas within the limits of Anthropic's structured output."""

import json
from collections.abc import Mapping
from typing import Any

from dovetail.data.shapes import is_list, is_mapping

_FORMATS = ("date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid")
_COPIED = ("type", "title", "description", "enum", "const", "default", "required", "$ref", "pattern")
_NAMED = ("properties", "$defs", "definitions")
_TOP_LEVEL = ("anyOf", "oneOf", "allOf")
_IGNORED = ("$schema", "$id", "additionalProperties")


def limit_schema(schema: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return a schema that the API accepts, or None if it cannot express this one.

    Objects are closed. What the decoder cannot enforce (`minimum`, `maxLength`, …) becomes part of the
    description. Objects with arbitrary keys, and schemas that contain themselves, have no equivalent.
    """
    try:
        return None if _is_recursive(schema, schema, ()) else _limit(schema)
    except _NotExpressibleError:
        return None


class _NotExpressibleError(Exception):
    """The schema allows what the decoder cannot produce."""


def _limit(schema: Any) -> dict[str, Any]:
    if not is_mapping(schema) or not schema:
        raise _NotExpressibleError  # anything is allowed
    if is_list(schema.get("type")):
        return _split(schema)
    limited: dict[str, Any] = {}
    rest: dict[str, Any] = {}
    for name, value in schema.items():
        inner = _limit_inner(name, value)
        if inner is not None:
            limited["anyOf" if name == "oneOf" else name] = inner
        elif _is_enforced(name, value):
            limited[name] = value
        elif name not in _IGNORED:
            rest[name] = value
    if schema.get("type") == "object" or "properties" in schema:
        _close(schema, limited)
    return _describe(limited, rest)


def _split(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Write a schema of several types as alternatives."""
    described = {name: schema[name] for name in ("title", "description") if name in schema}
    rest = {name: value for name, value in schema.items() if name not in described}
    return {**described, "anyOf": [_limit({**rest, "type": kind}) for kind in schema["type"]]}


def _limit_inner(name: str, value: Any) -> Any:
    """Return the limited schemas in a keyword that holds some; None for other keywords."""
    if name in _NAMED and is_mapping(value):
        return {key: _limit(inner) for key, inner in value.items()}
    if name in _TOP_LEVEL and is_list(value):
        return [_limit(inner) for inner in value]
    return _limit(value) if name == "items" else None


def _is_enforced(name: str, value: Any) -> bool:
    if name == "format":
        return value in _FORMATS
    return name in _COPIED or (name == "minItems" and value in (0, 1))


def _close(schema: Mapping[str, Any], limited: dict[str, Any]) -> None:
    extra = schema.get("additionalProperties", False)
    if (is_mapping(extra) or extra) and not schema.get("properties"):
        raise _NotExpressibleError
    limited["additionalProperties"] = False


def _describe(limited: dict[str, Any], rest: Mapping[str, Any]) -> dict[str, Any]:
    if rest:
        note = ", ".join(f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in rest.items())
        said = limited.get("description")
        limited["description"] = f"{said} ({note})" if said else note
    return limited


def _is_recursive(schema: Any, root: Mapping[str, Any], path: tuple[str, ...]) -> bool:
    if is_list(schema):
        return any(_is_recursive(item, root, path) for item in schema)
    if not is_mapping(schema):
        return False
    reference = schema.get("$ref")
    if isinstance(reference, str):
        return reference in path or _is_recursive(_find(reference, root), root, (*path, reference))
    return any(_is_recursive(part, root, path) for name, part in schema.items() if name != "$defs")


def _find(reference: str, root: Mapping[str, Any]) -> Any:
    found: Any = root
    for key in reference.removeprefix("#").strip("/").split("/"):
        found = found.get(key) if is_mapping(found) and key else found
    return found


def write_parameters(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of a tool's arguments: always an object, without alternatives at the top."""
    written = {name: value for name, value in parameters.items() if name not in _TOP_LEVEL}
    rest = {name: parameters[name] for name in _TOP_LEVEL if name in parameters}
    return _describe({**written, "type": "object"}, rest)
