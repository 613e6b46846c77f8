"""What a type says to a reader: `list[int]`, `int | str`, `Literal[a, b]`, or the fields of a class."""

import dataclasses
import enum
import types
import typing
from typing import Any, get_args, get_origin

from dovetail.data.shapes import is_class, is_dict, is_list


def is_annotation(value: object) -> bool:
    """Whether the value is a type: a class, a generic alias, a union, `Any` and their like."""
    return isinstance(value, (type, types.UnionType)) or value is Any or get_origin(value) is not None


def describe_annotation(annotation: Any, inside: tuple[Any, ...] = ()) -> Any:
    """A type as text; a class with fields as `{field: (type, description)}`, a list of such as a list.

    `inside` holds the classes around it: one that holds itself is told by its name.
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
    """The fields of a pydantic class, dataclass or TypedDict as `{name: (type, description?)}`, else None."""
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
    """The text of a type inside another one, where fields cannot be told."""
    if annotation is ...:
        return "..."
    if is_list(annotation):  # the parameters of a Callable
        return f"[{', '.join(map(_name_of, annotation))}]"
    if read_fields(annotation) is not None:
        return annotation.__name__
    described = describe_annotation(annotation)
    return described if isinstance(described, str) else str(annotation)
