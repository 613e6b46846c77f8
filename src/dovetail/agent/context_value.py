"""Values of one agent that belong to whoever set them: a task and the tasks it starts, or a thread.

An agent may serve many users at the same time. What one of them says to it, such as a handler or the session
to continue, must not reach another.
"""

import sys
from contextvars import ContextVar
from typing import Any, Generic, TypeVar, cast
from weakref import WeakKeyDictionary

T = TypeVar("T")

_Values = WeakKeyDictionary["ContextValue[Any]", Any]
_values: ContextVar[_Values | None] = ContextVar("dovetail_agent_values", default=None)


class ContextValue(Generic[T]):
    """A value that is seen where it was set, and in the tasks that are started from there afterwards.

    An interactive session has one user, and a task for each line or cell: there it is seen everywhere.
    """

    def __init__(self) -> None:
        self._latest: T | None = None

    def get(self) -> T | None:
        """The value that was set here, if any."""
        if is_interactive():
            return self._latest
        values = _values.get()
        return None if values is None else cast("T | None", values.get(self))

    def set(self, value: T) -> None:
        """Set the value here; what other tasks and threads see stays as it is."""
        if is_interactive():
            self._latest = value
            return
        values: _Values = WeakKeyDictionary(_values.get() or {})  # a copy: the old one may be another task's
        values[self] = value
        _values.set(values)


def is_interactive() -> bool:
    """Whether a person types the program line by line, in a terminal or a notebook."""
    return hasattr(sys, "ps1")
