"""JSON Schemas for annotations.

Plain annotations (text, numbers, lists, literals, …) are read here, without pydantic, and their values need
no conversion. All others (models, dataclasses, enums, dates, constraints) are read and converted by pydantic.
"""

import dataclasses
import enum
import types
import typing
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from dovetail.data.shapes import is_class, is_dict, is_list
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
    """Return the schema of a plain annotation; None if it is not plain."""
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
    """Return the JSON Schema of any annotation."""
    plain = read_plain_annotation(annotation)
    if plain is not None:
        return plain
    try:
        return remove_titles(_pydantic.TypeAdapter(annotation).json_schema())
    except _pydantic.PydanticUserError:
        return {}  # a class that pydantic does not know can be anything


def split_annotated(annotation: Any) -> tuple[Any, str]:
    """Split off the text of an `Annotated` type: return the rest and the text."""
    if get_origin(annotation) is not Annotated:
        return annotation, ""
    inner, *notes = get_args(annotation)
    texts = [note for note in notes if isinstance(note, str)]
    rest = tuple(note for note in notes if not isinstance(note, str))
    # Indexing puts the other notes back, for pydantic.
    return (Annotated[(inner, *rest)] if rest else inner), " ".join(texts)


def remove_titles(schema: Any) -> Any:
    """Return a schema without titles, which only repeat names."""
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


def is_annotation(value: object) -> bool:
    """Return whether the value is a type: a class, a generic alias, a union, `Any` or the like."""
    return isinstance(value, (type, types.UnionType)) or value is Any or get_origin(value) is not None


def describe_annotation(annotation: Any, inside: tuple[Any, ...] = ()) -> Any:
    """Describe a type as text; a class as `{field: (type, description)}`, a list of classes as a list.

    `inside` holds the enclosing classes: one that contains itself is described by its name.
    """
    fields = read_fields(annotation) if annotation not in inside else None
    if fields is not None:
        deeper = (*inside, annotation)
        return {name: (describe_annotation(kind, deeper), *rest) for name, (kind, *rest) in fields.items()}
    origin = get_origin(annotation)
    if origin is None:
        return _describe_plain(annotation)
    if origin is typing.Annotated:
        return describe_annotation(get_args(annotation)[0], inside)
    return _describe_generic(annotation, origin, inside)


def read_fields(annotation: Any) -> dict[str, tuple[Any, ...]] | None:
    """Return the fields of a pydantic class, dataclass or TypedDict as `{name: (type, description?)}`."""
    if not is_class(annotation):
        return None
    pydantic_fields: Any = getattr(annotation, "__pydantic_fields__", None)
    if is_dict(pydantic_fields):
        return {name: _pair(field.annotation, field.description) for name, field in pydantic_fields.items()}
    if dataclasses.is_dataclass(annotation):
        hints = _read_hints(annotation)
        return {field.name: (hints.get(field.name, field.type),) for field in dataclasses.fields(annotation)}
    if typing.is_typeddict(annotation):
        return {name: (hint,) for name, hint in _read_hints(annotation).items()}
    return None


def _read_hints(annotation: type[Any]) -> dict[str, Any]:
    try:
        return typing.get_type_hints(annotation)
    except NameError:  # a name that only the class's own function knows
        return {}


def _pair(annotation: Any, description: str | None) -> tuple[Any, ...]:
    return (annotation, description) if description else (annotation,)


def _describe_plain(annotation: Any) -> str:
    if is_class(annotation) and issubclass(annotation, enum.Enum):
        return f"Literal[{', '.join(str(member.value) for member in annotation)}]"
    return str(getattr(annotation, "__name__", None) or annotation)


def _describe_generic(annotation: Any, origin: Any, inside: tuple[Any, ...]) -> Any:
    arguments = get_args(annotation)
    if origin is typing.Literal:
        return f"Literal[{', '.join(map(_describe_choice, arguments))}]"
    if origin in (typing.Union, types.UnionType):
        return _describe_union(arguments, "None" if origin is types.UnionType else "NoneType", inside)
    if origin is list and arguments:
        item = describe_annotation(arguments[0], inside)
        if not isinstance(item, str):
            return [item]
    name = describe_annotation(origin, inside)
    return f"{name}[{', '.join(map(_name_of, arguments))}]" if arguments else name


def _describe_union(arguments: tuple[Any, ...], none: str, inside: tuple[Any, ...]) -> Any:
    kinds = [argument for argument in arguments if argument is not types.NoneType]
    if len(kinds) == 1 and not isinstance(described := describe_annotation(kinds[0], inside), str):
        return described  # an optional class is told by its fields
    return " | ".join(none if argument is types.NoneType else _name_of(argument) for argument in arguments)


def _describe_choice(choice: Any) -> str:
    return str(choice.value if isinstance(choice, enum.Enum) else choice)


def _name_of(annotation: Any) -> str:
    """Return the text of a type inside another one, where fields cannot be shown."""
    if annotation is ...:
        return "..."
    if is_list(annotation):  # the parameters of a Callable
        return f"[{', '.join(map(_name_of, annotation))}]"
    if read_fields(annotation) is not None:
        return annotation.__name__
    described = describe_annotation(annotation)
    return described if isinstance(described, str) else str(annotation)
