"""Schemas as configuration files write them: `{$type, $desc, $default}` for what Python says with a tuple."""

from collections.abc import Mapping
from typing import Any

from dovetail.data.shapes import is_list, is_mapping

_TUPLE_LENGTHS = (2, 3)


def read_output(value: Any) -> Any:
    """An output schema whose `$type`/`$desc` (or `.type`/`.desc`) mappings are tuples, at every depth."""
    if is_list(value):
        return [read_output(item) for item in value]
    if not is_mapping(value):
        return value
    kind, description = _pick(value, "type"), _pick(value, "desc")
    if not kind and not description:
        return {key: read_output(item) for key, item in value.items()}
    default = _pick(value, "default")
    field = (Any if kind is None else read_output(kind), description)
    return field if default is None else (*field, default)


def _pick(value: Mapping[str, Any], name: str) -> Any:
    """The value under `.name`, which wins over `$name` wherever it is written."""
    dotted = f".{name}"
    return value[dotted] if dotted in value else value.get(f"${name}")


def read_tools(value: Any) -> Any:
    """Tools whose parameters and results may hold an exported tuple: `[int, length]` is one again."""
    if is_list(value):
        return [read_tools(item) for item in value]
    if not is_mapping(value):
        return value
    return {
        key: _read_parameters(item) if key in ("kwargs", "returns") else item for key, item in value.items()
    }


def _read_parameters(value: Any) -> Any:
    if is_list(value):
        items = [_read_parameters(item) for item in value]
        return tuple(items) if _is_tuple(items) else items
    if is_mapping(value):
        return {key: _read_parameters(item) for key, item in value.items()}
    return value


def _is_tuple(items: list[Any]) -> bool:
    """Whether a list is what became of a type with its description: JSON and YAML have no tuples."""
    return (
        len(items) in _TUPLE_LENGTHS
        and (isinstance(items[0], (str, dict, list)))
        and (items[1] is None or isinstance(items[1], str))
    )
