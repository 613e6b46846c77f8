"""Events of the fields of a streamed answer, with their place in the document.

One is made per token: it only points at its place; paths and texts are built when they are read.
"""

from typing import Any, Literal, TypeAlias

from dovetail.data.paths import PathStyle, write_path
from dovetail.data.text import shorten
from dovetail.errors import ResponseError

Key: TypeAlias = str | int


class Document:
    """A document while it is being read: its root, the open container and the open string."""

    __slots__ = ("frame", "key", "root", "style", "text")

    def __init__(self, root: Any, style: PathStyle) -> None:
        self.root = root
        self.style: PathStyle = style
        self.frame = Frame(self, None, "", root)
        self.key: Key = ""
        self.text: list[str] | None = None

    @property
    def data(self) -> Any:
        """The document so far, an open string with its text so far."""
        if self.text:
            self.frame.put(self.key, _join(self.text))
        return self.root


class Frame:
    """A container and its place in the document."""

    __slots__ = ("container", "document", "key", "parent")

    def __init__(self, document: Document, parent: "Frame | None", key: Key, container: Any) -> None:
        self.document = document
        self.parent = parent
        self.key: Key = key
        self.container: Any = container

    def put(self, key: Key, value: Any) -> None:
        """Set a child; an array appends it."""
        container = self.container
        if container.__class__ is list and key == len(container):
            container.append(value)
        else:
            container[key] = value

    def keys_to(self, last: Key) -> list[Key]:
        """The keys and indexes from the root to the child `last`."""
        keys = [last]
        frame = self
        while frame.parent is not None:
            keys.append(frame.key)
            frame = frame.parent
        keys.reverse()
        return keys


class FieldEvent:
    """One event of a field: more text of a string (`delta`), or a value that is complete (`done`).

    >>> agent = Agent().output({"wood": (str,)})
    >>> events = list(agent.input("A wood?").get_generator("instant"))
    >>> [event.value for event in events if event.is_complete and event.path == "wood"]
    ['oak']
    """

    __slots__ = ("_content", "_frame", "_key", "_length", "delta")

    error: ResponseError | None = None
    """Why the answer cannot be read, in the last event of such a stream."""

    def __init__(self, frame: Frame, key: Key, content: Any, delta: str = "", length: int = -1) -> None:
        self._frame = frame
        self._key = key
        self._content = content
        self.delta = delta
        self._length = length

    @property
    def is_complete(self) -> bool:
        """Whether the value is complete."""
        return self._length < 0

    @property
    def event_type(self) -> Literal["delta", "done", "error"]:
        """`delta` for more text of a string, `done` for a complete value, `error` for an unusable answer."""
        return "done" if self._length < 0 else "delta"

    @property
    def value(self) -> Any:
        """The complete value, or the string's text up to and with this delta."""
        return self._content if self._length < 0 else _join(self._content)[: self._length]

    @property
    def path(self) -> str:
        """The path of the value: `a.b[0].c`, in slash style `/a/b/[0]/c`."""
        return write_path(self._frame.keys_to(self._key), self._frame.document.style)

    @property
    def wildcard_path(self) -> str:
        """The path with `[*]` for every index."""
        return write_path(self._frame.keys_to(self._key), self._frame.document.style, wildcard=True)

    @property
    def indexes(self) -> tuple[int, ...]:
        """The indexes in the path, from the outside in."""
        return tuple(key for key in self._frame.keys_to(self._key) if isinstance(key, int))

    @property
    def full_data(self) -> Any:
        """The live document: it keeps growing after this event."""
        return self._frame.document.data

    def __repr__(self) -> str:
        content = f"value={shorten(self.value)}" if self.is_complete else f"delta={self.delta!r}"
        return f"FieldEvent({self.path!r}, {self.event_type}, {content})"


class ErrorEvent(FieldEvent):
    """The last event of a stream whose answer has no document, or was cut off inside it: `error` says why."""

    __slots__ = ("error",)

    def __init__(self, error: ResponseError, document: Any = None) -> None:
        super().__init__(Document(document, "dot").frame, "", [""], length=0)
        self.error = error

    @property
    def event_type(self) -> Literal["error"]:
        """Always `error`."""
        return "error"

    @property
    def value(self) -> None:
        """Always None."""

    @property
    def path(self) -> str:
        """Always empty: the event is about the whole answer."""
        return ""

    @property
    def wildcard_path(self) -> str:
        """Always empty."""
        return ""

    def __repr__(self) -> str:
        return f"ErrorEvent({self.error!r})"


Instant = FieldEvent
"""The former name, for code that imports it."""


def _join(pieces: list[str]) -> str:
    """Join the pieces to one text and keep it, so that the next read is cheaper."""
    if len(pieces) > 1:
        pieces[:] = ["".join(pieces)]
    return pieces[0]
