"""What an answer should look like: plain text, or a document with a schema and the object it makes."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from dovetail.response.instant import PathStyle
from dovetail.response.parser import InstantParser

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape(Generic[T]):
    """How to read an answer; `build` checks the parsed data and makes the object of it."""

    schema: Any = None
    path_style: PathStyle = "dot"
    build: Callable[[Any], T] | None = None

    @property
    def is_text(self) -> bool:
        """Whether the answer is text with no structure to be read."""
        return self.schema is None

    def make_parser(self) -> InstantParser:
        """A fresh parser for one answer."""
        return InstantParser(self.schema, path_style=self.path_style)
