"""Reasoning in tags at the beginning of an answer, which is never a part of the answer itself."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from dovetail.events.delta import THINK_TAGS, Delta, ReasoningDelta, TextDelta

TAGS = ("<think>", "</think>")
"""The usual tags, in which reasoning goes back to a server."""


async def split_thoughts(deltas: AsyncGenerator[Delta, None]) -> AsyncGenerator[Delta, None]:
    """Yield the deltas of an answer, with the text in tags at its beginning as reasoning."""
    tags = TagSplitter()
    async with aclosing(deltas):
        async for delta in deltas:
            for split in tags.split([delta]):
                yield split
    for held in tags.release():
        yield held


class TagSplitter:
    """Split `<think>…</think>` at the beginning of an answer from its text, however the answer is cut.

    `<thinking>` is such a tag, too.
    """

    def __init__(self) -> None:
        self.is_over = False
        self._held = ""
        self._closing = ""  # the tag that ends the reasoning, inside it
        self._is_after = False

    def keep(self, text: str) -> None:
        """Take note of a piece of reasoning; does nothing."""

    def end(self) -> list[Delta]:
        """Return what follows the reasoning; nothing."""
        return []

    def split(self, deltas: Sequence[Delta]) -> list[Delta]:
        """Return the deltas, with the text between the tags as reasoning."""
        found: list[Delta] = []
        for delta in deltas:
            if not isinstance(delta, TextDelta):
                found += [*self.release(), delta]
            elif self.is_over or self._is_plain(delta.text):
                self.is_over = True
                found.append(delta)
            else:
                self._held += delta.text
                self._read(found)
        return found

    def _is_plain(self, text: str) -> bool:
        """Return whether a text that begins like this has no tag at its beginning."""
        waits = self._held or self._closing or self._is_after
        return not waits and text.lstrip()[:1] not in ("", "<")

    def release(self) -> list[Delta]:
        """Return text that was held back because it might have been the beginning of a tag."""
        held, self._held = self._held, ""
        if not held:
            return []
        if self._closing:
            return self._think(held)
        self.is_over = True
        return [TextDelta(held)]

    def _read(self, found: list[Delta]) -> None:
        if self._is_after:
            self._held = self._held.lstrip("\n")
            found.extend(self.release())
            return
        if not self._closing:
            begin = self._held.lstrip()
            opening = next((tag for tag in THINK_TAGS if begin.startswith(tag)), None)
            if opening is not None:
                self._closing, self._held = THINK_TAGS[opening], begin[len(opening) :]
            elif not any(tag.startswith(begin) for tag in THINK_TAGS):
                found.extend(self.release())
        if self._closing and self._held:
            self._read_inside(found)

    def _read_inside(self, found: list[Delta]) -> None:
        thought, end, rest = self._held.partition(self._closing)
        if end:
            found.extend(self._think(thought))
            found.extend(self.end())
            self._held, self._closing, self._is_after = rest, "", True
            self._read(found)
            return
        kept = _count_beginning(self._held, self._closing)
        found.extend(self._think(self._held[: len(self._held) - kept]))
        self._held = self._held[len(self._held) - kept :]

    def _think(self, text: str) -> list[Delta]:
        if not text:
            return []
        self.keep(text)
        return [ReasoningDelta(text)]


def _count_beginning(text: str, tag: str) -> int:
    """Return how many characters at the end of a text may be the beginning of a tag."""
    return next((size for size in range(min(len(tag) - 1, len(text)), 0, -1) if text.endswith(tag[:size])), 0)
