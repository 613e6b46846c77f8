"""Types as a prompt shows them, with the fields of every class in them.

A class is shown by its fields. Inside a union, a mapping or a tuple only its name fits: there a note after
the type lists the fields, as in `<Cat | Dog> // Cat: {"lives": <int>}; Dog: {"bark": <str>}`.
"""

from collections.abc import Iterator
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from dovetail.schema.from_annotation import describe_annotation, read_fields


def describe_field(annotation: Any, note: str = "", inside: tuple[Any, ...] = ()) -> tuple[Any, ...]:
    """Return a type as `(description, note)`; `inside` are the enclosing classes, whose fields are shown."""
    shown = _describe(annotation, inside)
    if isinstance(shown, str) and (notes := [*_list_notes(annotation, {*inside})]):
        shown = _name(annotation)
        note = "; ".join([note, *notes] if note else notes)
    return (shown, note) if note else (shown,)


def _describe(annotation: Any, inside: tuple[Any, ...]) -> Any:
    fields = None if annotation in inside else read_fields(annotation)
    if fields is not None:
        deeper = (*inside, annotation)
        return {name: describe_field(kind, *note, inside=deeper) for name, (kind, *note) in fields.items()}
    shown = describe_annotation(annotation, inside)
    if isinstance(shown, str):
        return shown
    inner = [_describe(argument, inside) for argument in get_args(annotation)]
    if get_origin(annotation) is list:
        return inner
    return next(each for each in inner if not isinstance(each, str))  # behind `Annotated` or `Optional`


def _list_notes(annotation: Any, shown: set[Any]) -> Iterator[str]:
    """Yield the fields of each class that a type names, on one line, and of the classes in these fields."""
    for inner in get_args(annotation):
        yield from _list_notes(inner, shown)
    fields = read_fields(annotation)
    if fields is None or annotation in shown:
        return
    shown.add(annotation)
    listed = ", ".join(f'"{name}": {_write(*field)}' for name, field in fields.items())
    yield f"{annotation.__name__}: {{{listed}}}"
    for kind, *_ in fields.values():
        yield from _list_notes(kind, shown)


def _write(kind: Any, note: str = "") -> str:
    return f"<{_name(kind)}> ({note})" if note else f"<{_name(kind)}>"


def _name(annotation: Any) -> str:
    """Return the text of a type, with classes by their names at every depth."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _name(arguments[0])
    if origin in (Union, UnionType):
        return " | ".join(map(_name, arguments))
    if origin in (list, dict, tuple, set):
        return f"{origin.__name__}[{', '.join(map(_name, arguments))}]"
    if annotation in (..., NoneType):
        return "..." if annotation is ... else "None"
    named = annotation.__name__ if read_fields(annotation) is not None else describe_annotation(annotation)
    return named if isinstance(named, str) else str(annotation)
