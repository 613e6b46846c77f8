"""Find the document in a model's answer and parse it field by field while it arrives.

Each value under the root completes exactly once, as soon as its last character is known, children before
their parent; the deltas of a string add up to it. The cost is linear, and the events do not depend on how
the answer is split into deltas. A document that is nested too deeply is not read further, and no other is
searched for.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeAlias, TypeVar

from dovetail.data.paths import PathStyle
from dovetail.data.shapes import is_list, is_mapping
from dovetail.response.field_event import FieldEvent
from dovetail.response.json_reader import JsonReader

_Stretch: TypeAlias = tuple[str, int, int]
"""A text, the position to read from, and the position of the text in the answer."""

_find_any_opening = re.compile(r"[{\[]").search
_SECOND_LOOKS = 4
"""Multiple of the answer's length that may be read again in search of the document."""


@dataclass(slots=True)
class _Candidate:
    """An object or array that may turn out to be the document; `begin` is after its opening bracket."""

    reader: JsonReader
    begin: int
    held: list[FieldEvent] = field(default_factory=list[FieldEvent])
    pieces: list[str] = field(default_factory=list[str])


class InstantParser:
    """Converts the deltas of an answer to events of its fields.

    An object counts as the document at its first top-level key that is in the schema, an array at its
    first value; until then its events are held back. If none counts, the last one is used at the end.

    >>> parser = InstantParser()
    >>> [event.path for event in parser.feed('{"wood": "oak", ') if event.is_complete]
    ['wood']
    """

    def __init__(self, schema: Any = None, *, path_style: PathStyle = "dot") -> None:
        self._keys = frozenset(map(str, schema)) if is_mapping(schema) else frozenset[str]()
        self._find_opening = re.compile(_opening_of(schema)).search
        self._is_list = is_list(schema)
        self._style: PathStyle = path_style
        self._document: JsonReader | None = None
        self._begin = 0
        self._ends_in_candidate = False
        self._candidate: _Candidate | None = None
        self._last: _Candidate | None = None
        self._read = 0
        self._read_again = 0

    @property
    def data(self) -> Any:
        """The live document, also while it is incomplete; None until it is found."""
        return None if self._document is None else self._document.data

    @property
    def is_closed(self) -> bool:
        """Whether the document has been read up to its closing bracket."""
        return self._document is not None and self._document.left_over is not None

    @property
    def is_too_deep(self) -> bool:
        """Whether the document is nested too deeply to be read."""
        return self._document is not None and self._document.is_too_deep

    @property
    def is_cut_off(self) -> bool:
        """Whether the text, read to its end, stopped within its document or within one around it."""
        return self._document is not None and (not self.is_closed or self._ends_in_candidate)

    def feed(self, delta: str) -> list[FieldEvent]:
        """Return the events of this delta, in the order of the document."""
        document = self._document
        if document is not None:
            return document.feed(delta)
        begin = self._read
        self._read += len(delta)
        return self._search([(delta, 0, begin)])

    def finish(self) -> list[FieldEvent]:
        """Complete open fields: the answer has ended."""
        events = self._finish_search() if self._document is None else []
        if self.is_too_deep:
            return []
        return events if self._document is None else events + self._document.finish()

    def find_rest(self, text: str) -> str:
        """Return what follows the document, which is closed, in the whole text."""
        again = JsonReader(text[self._begin - 1], self._keys)
        again.feed(text, self._begin)
        return text[len(text) - (again.left_over or 0) :]

    def ends_open(self, text: str) -> bool:
        """Whether a text, read to its end, stops within its document, or within one around or after it.

        Such a text may have been about to say something else than its first document.
        """
        document = self._document
        if document is None or self.is_cut_off:
            return document is not None
        if self._is_list:  # an object around it is not looked for until now
            return _ends_open(text)
        return _ends_open(self.find_rest(text))

    def _search(self, stretches: list[_Stretch]) -> list[FieldEvent]:
        events: list[FieldEvent] = []
        while stretches:
            stretch = stretches.pop()
            if self._document is not None:
                events += self._document.feed(*stretch[:2])
            elif self._candidate is not None:
                stretches += self._try(self._candidate, stretch, events)
            elif opening := self._find_opening(*stretch[:2]):
                text, _, begin = stretch
                reader = JsonReader(opening[0], self._keys, self._style)
                self._candidate = _Candidate(reader, begin + opening.end())
                stretches.append((text, opening.end(), begin))
        return events

    def _try(self, candidate: _Candidate, stretch: _Stretch, events: list[FieldEvent]) -> list[_Stretch]:
        """Continue reading the candidate; return the texts to search next, the last one first."""
        text, position, begin = stretch
        reader = candidate.reader
        candidate.held += reader.feed(text, position)
        if not reader.strict or reader.is_too_deep:
            self._document, self._begin = reader, candidate.begin
            events += candidate.held
            return []
        if reader.left_over is None:
            candidate.pieces.append(text[position:])
            return []
        stop = max(len(text) - reader.left_over, 0)
        candidate.pieces.append(text[position:stop])
        self._candidate = None
        rest = (text, stop, begin)
        if not reader.is_broken:
            self._last = candidate
            return [rest]
        return [rest, *self._look_again(candidate, begin + stop)]

    def _look_again(self, candidate: _Candidate, end: int) -> list[_Stretch]:
        """Return the text of a failed candidate, up to a limit: nested ones would cost too much."""
        length = end - candidate.begin
        if self._read_again + length > _SECOND_LOOKS * end:
            return []
        self._read_again += length
        return [("".join(candidate.pieces), 0, candidate.begin)]

    def _finish_search(self) -> list[FieldEvent]:
        """Choose at the end if none counted: search open candidates, then use the last one."""
        first, last = self._candidate, self._last
        self._ends_in_candidate = first is not None
        while candidate := self._candidate:
            self._candidate = None
            events = self._search(self._look_again(candidate, self._read))
            if self._document is not None:
                return events
        chosen = first if first and (last is None or first.reader.data) else last
        if chosen is None:
            return []
        self._document, self._begin = chosen.reader, chosen.begin
        return chosen.held


def _ends_open(text: str) -> bool:
    """Whether the text stops within an object or array."""
    position = 0
    while opening := _find_any_opening(text, position):
        reader = JsonReader(opening[0])
        reader.feed(text, opening.end())
        if reader.left_over is None:
            return True
        position = opening.end() if reader.is_broken else len(text) - reader.left_over
    return False


def _opening_of(schema: Any) -> str:
    if is_mapping(schema) and schema:
        return r"\{"
    return r"\[" if is_list(schema) else r"[{\[]"


T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerFormat(Generic[T]):
    """How to read an answer; `build` validates the parsed data and builds the object.

    `read_bare` returns the document that a text without one stands for, if any. Of a typed answer only a
    whole one counts; otherwise what has arrived of the document is used as it is.
    """

    schema: Any = None
    path_style: PathStyle = "dot"
    build: Callable[[Any], T] | None = None
    read_bare: Callable[[str], Any] | None = None
    is_typed: bool = False

    @property
    def is_text(self) -> bool:
        """Whether the answer is plain text without a structure."""
        return self.schema is None

    def make_parser(self) -> InstantParser:
        """Return a new parser for one answer."""
        return InstantParser(self.schema, path_style=self.path_style)
