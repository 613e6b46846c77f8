"""JSON Schemas for annotations.

Plain annotations (text, numbers, lists, literals, …) are read here, without pydantic, and their values need
no conversion. All others (models, dataclasses, enums, dates, constraints) are read and converted by pydantic.
"""

import types
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from dovetail.data.shapes import is_dict, is_list
from dovetail.lazy import lazy

_pydantic = lazy("pydantic")

_PLAIN: dict[Any, dict[str, Any]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    None: {"type": "null"},
    type(None): {"type": "null"},
    list: {"type": "array"},
    dict: {"type": "object"},
    Any: {},
    object: {},
}


def read_plain_annotation(annotation: Any) -> dict[str, Any] | None:
    """The schema of a plain annotation; None when it is not plain."""
    try:
        plain = _PLAIN.get(annotation)
    except TypeError:  # unhashable: nothing plain
        return None
    if plain is not None:
        return dict(plain)
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return _read_literal(arguments)
    if origin in (Union, types.UnionType):
        return _read_union(arguments)
    if origin in (list, Sequence) and len(arguments) == 1:
        return _read_container("array", "items", arguments[0])
    if origin in (dict, Mapping) and arguments[:1] == (str,):
        return _read_container("object", "additionalProperties", arguments[1])
    return None


def write_annotation(annotation: Any) -> dict[str, Any]:
    """The JSON Schema of any annotation."""
    plain = read_plain_annotation(annotation)
    if plain is not None:
        return plain
    try:
        return remove_titles(_pydantic.TypeAdapter(annotation).json_schema())
    except _pydantic.PydanticUserError:
        return {}  # a class that pydantic does not know can be anything


def split_annotated(annotation: Any) -> tuple[Any, str]:
    """An annotation without the text that `Annotated` gives it, and that text."""
    if get_origin(annotation) is not Annotated:
        return annotation, ""
    inner, *notes = get_args(annotation)
    texts = [note for note in notes if isinstance(note, str)]
    rest = tuple(note for note in notes if not isinstance(note, str))
    # Indexing puts the other notes back, for pydantic.
    return (Annotated[(inner, *rest)] if rest else inner), " ".join(texts)


def remove_titles(schema: Any) -> Any:
    """A schema without the titles that only repeat a name."""
    if is_list(schema):
        return [remove_titles(item) for item in schema]
    if not is_dict(schema):
        return schema
    return {
        key: (
            {name: remove_titles(inner) for name, inner in value.items()}
            if key in ("properties", "$defs")
            else remove_titles(value)
        )
        for key, value in schema.items()
        if key != "title" or not isinstance(value, str)
    }


def _read_literal(values: tuple[Any, ...]) -> dict[str, Any] | None:
    if not all(isinstance(value, str | int | bool | None) for value in values):
        return None
    return {"enum": list(values)}


def _read_union(members: tuple[Any, ...]) -> dict[str, Any] | None:
    schemas = [read_plain_annotation(member) for member in members]
    return None if any(schema is None for schema in schemas) else {"anyOf": schemas}


def _read_container(type_name: str, keyword: str, item: Any) -> dict[str, Any] | None:
    schema = read_plain_annotation(item)
    if schema is None:
        return None
    return {"type": type_name, keyword: schema} if schema else {"type": type_name}
