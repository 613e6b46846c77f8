"""The annotations of a function, also those that are not types and those of a function being defined."""

import sys
import typing
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import FrameType, SimpleNamespace
from typing import Any


def read_hints(function: Callable[..., Any], enclosing: Mapping[str, Any]) -> dict[str, Any]:
    """Return the annotations by name, without those that name something that is not defined (yet).

    `enclosing` holds the names of the functions around it, which are not among its globals. What is not a
    type, such as an output schema, is kept as it is.
    """
    scope = {**getattr(function, "__globals__", {}), **enclosing}
    hints: dict[str, Any] = {}
    for name, annotation in getattr(function, "__annotations__", {}).items():
        with suppress(NameError):
            hints[name] = read_hint(annotation, scope)
    return hints


def read_hint(annotation: Any, scope: dict[str, Any]) -> Any:
    """Return what one annotation means; `scope` holds the names it may use."""
    holder = SimpleNamespace(__annotations__={"value": annotation})
    try:
        return typing.get_type_hints(holder, scope, include_extras=True)["value"]
    except (TypeError, SyntaxError):  # a schema is not a type
        return eval(annotation, scope) if isinstance(annotation, str) else annotation


def read_enclosing(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the local names of the functions and classes in which this one is being defined."""
    names: dict[str, Any] = {}
    around = function.__qualname__
    frame: FrameType | None = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    while frame is not None and "<locals>" in around:
        if around.startswith(f"{frame.f_code.co_qualname}."):
            names = {**frame.f_locals, **names}
        frame = frame.f_back
    return names
