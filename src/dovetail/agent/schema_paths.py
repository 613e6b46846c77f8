"""The paths that an output schema promises, to check keys against before a request is sent."""

import difflib
from collections.abc import Iterable, Iterator
from typing import Any, get_args, get_origin

from dovetail.data.annotations import read_fields
from dovetail.data.paths import split_path
from dovetail.data.shapes import is_list, is_mapping, is_tuple
from dovetail.errors import KeyWaitError

_CLOSED = (str, int, float, bool, type(None))


def require_keys(output: Any, keys: Iterable[str]) -> None:
    """Refuse keys that the output schema does not have, naming those it has."""
    for key in keys:
        if not _leads_somewhere(output, split_path(key)):
            known = list(list_paths(output))
            near = difflib.get_close_matches(key, known, n=3)
            raise KeyWaitError(
                f"the output has no key {key!r}; it has: {', '.join(known)}",
                hint=f"Did you mean {' or '.join(map(repr, near))}?" if near else None,
            )


def list_paths(schema: Any, path: str = "") -> Iterator[str]:
    """Every path of a schema, in its order."""
    schema = _open(schema)
    if is_mapping(schema):
        for name, field in schema.items():
            inner = f"{path}.{name}" if path else str(name)
            yield inner
            yield from list_paths(field, inner)
    elif is_list(schema):
        inner = f"{path}[*]"
        yield inner
        for item in schema[:1]:
            yield from list_paths(item, inner)


def _leads_somewhere(schema: Any, steps: list[str | int]) -> bool:
    for step in steps:
        schema = _open(schema)
        if is_mapping(schema):
            if step not in schema:
                return False
            schema = schema[str(step)]
        elif is_list(schema):
            if step != "*" and not isinstance(step, int):
                return False
            schema = schema[0] if schema else Any
        else:
            return schema not in _CLOSED
    return True


def _open(schema: Any) -> Any:
    """What is inside of a field's tuple or a type's name: fields, a list of them, or the type itself."""
    if is_tuple(schema):
        schema = schema[0] if schema else Any
    if get_origin(schema) is list and get_args(schema):
        return [get_args(schema)[0]]
    return read_fields(schema) or schema
