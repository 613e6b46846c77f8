"""Collect the reasoning of a streamed chat answer, so that it can go back the way it came."""

from collections.abc import Mapping, Sequence
from typing import Any

from dovetail.events.delta import Delta, ProviderPartDelta
from dovetail.requesters.think_tags import TagSplitter

THOUGHT_FIELDS = ("reasoning_content", "reasoning")
"""Fields of a message that hold its reasoning."""
IN_CONTENT = "content.thinking"
"""The field of reasoning in parts of the content, as Mistral has it."""
IN_TAGS = "content.think"
"""The field of reasoning in tags at the beginning of the content."""

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


class KeptTags(TagSplitter):
    """A splitter that collects the reasoning, so that it can go back in the tags."""

    def __init__(self, thoughts: Thoughts) -> None:
        super().__init__()
        self._thoughts = thoughts

    def keep(self, text: str) -> None:
        """Collect a piece."""
        self._thoughts.add(IN_TAGS, text)

    def end(self) -> list[Delta]:
        """Return what was collected as a provider part."""
        return self._thoughts.take()
