"""Collect the reasoning of a streamed chat answer, so that it can go back the way it came."""

from collections.abc import Mapping, Sequence
from typing import Any

from dovetail.events.delta import Delta, ProviderPartDelta, ReasoningDelta, TextDelta

THOUGHT_FIELDS = ("reasoning_content", "reasoning")
"""Fields of a message that hold its reasoning."""
IN_CONTENT = "content.thinking"
"""The field of reasoning in parts of the content, as Mistral has it."""
IN_TAGS = "content.think"
"""The field of reasoning in tags at the beginning of the content."""
TAGS = ("<think>", "</think>")

_JOINED = ("text", "summary", "data")


class Thoughts:
    """The reasoning of one answer, in pieces; `take` returns it as a provider part, if there is a source."""

    def __init__(self, source: str) -> None:
        self.pieces: list[str] = []
        self._source = source
        self._field = ""
        self._details: list[dict[str, Any]] = []

    def add(self, field: str, text: str) -> None:
        """Add a piece; `field` is where the server sent it."""
        self._field = field
        self.pieces.append(text)

    def add_details(self, details: Sequence[Mapping[str, Any]]) -> None:
        """Add structured reasoning; pieces of the same detail are joined, anything else is kept as it is."""
        for detail in details:
            last = self._details[-1] if self._details else None
            if last is not None and _continues(last, detail):
                joined = {
                    name: last.get(name, "") + detail[name]
                    for name in _JOINED
                    if isinstance(detail.get(name), str) and isinstance(last.get(name, ""), str)
                }
                known = {name: value for name, value in detail.items() if value is not None}
                self._details[-1] = {**last, **known, **joined}
            else:
                self._details.append(dict(detail))

    def take(self) -> list[Delta]:
        """Return what has been collected as a provider part, and forget it."""
        data: dict[str, Any] = {}
        if self._details:
            data = {"reasoning_details": self._details}
        elif self.pieces:
            data = {"field": self._field, "text": "".join(self.pieces)}
        self.pieces.clear()
        self._details = []
        return [ProviderPartDelta(self._source, data)] if data and self._source else []


def _continues(last: Mapping[str, Any], detail: Mapping[str, Any]) -> bool:
    """Return whether a detail is another piece of the last one."""
    names = ("type", "index", "id", "format")
    same = all(
        last.get(name) == detail.get(name) or None in (last.get(name), detail.get(name)) for name in names
    )
    return same and detail.get("type") != "reasoning.encrypted" and not last.get("signature")


class TagSplitter:
    """Split `<think>…</think>` at the beginning of an answer from its text."""

    def __init__(self, thoughts: Thoughts) -> None:
        self.is_over = False
        self._thoughts = thoughts
        self._held = ""
        self._is_inside = False
        self._is_after = False

    def split(self, deltas: Sequence[Delta]) -> list[Delta]:
        """Return the deltas, with the text between the tags as reasoning."""
        found: list[Delta] = []
        for delta in deltas:
            if self.is_over or not isinstance(delta, TextDelta):
                found.extend(() if isinstance(delta, TextDelta) else self.release())
                found.append(delta)
            else:
                self._held += delta.text
                self._read(found)
        return found

    def release(self) -> list[Delta]:
        """Return text that was held back because it might have been the beginning of a tag."""
        held, self._held = self._held, ""
        if not held:
            return []
        if self._is_inside:
            return self._think(held)
        self.is_over = True
        return [TextDelta(held)]

    def _read(self, found: list[Delta]) -> None:
        if self._is_after:
            self._held = self._held.lstrip("\n")
            found.extend(self.release())
            return
        if not self._is_inside:
            begin = self._held.lstrip()
            if begin.startswith(TAGS[0]):
                self._is_inside, self._held = True, begin[len(TAGS[0]) :]
            elif not TAGS[0].startswith(begin):
                found.extend(self.release())
        if self._is_inside and self._held:
            self._read_inside(found)

    def _read_inside(self, found: list[Delta]) -> None:
        thought, end, rest = self._held.partition(TAGS[1])
        if end:
            found.extend(self._think(thought))
            found.extend(self._thoughts.take())
            self._held, self._is_inside, self._is_after = rest, False, True
            self._read(found)
            return
        kept = _count_beginning(self._held, TAGS[1])
        found.extend(self._think(self._held[: len(self._held) - kept]))
        self._held = self._held[len(self._held) - kept :]

    def _think(self, text: str) -> list[Delta]:
        if not text:
            return []
        self._thoughts.add(IN_TAGS, text)
        return [ReasoningDelta(text)]


def _count_beginning(text: str, tag: str) -> int:
    """Return how many characters at the end of a text may be the beginning of a tag."""
    return next((size for size in range(min(len(tag) - 1, len(text)), 0, -1) if text.endswith(tag[:size])), 0)
