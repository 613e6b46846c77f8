"""Notice that a small model repeats itself without end, while its text streams.

A loop is the same piece of text again and again in a row, where only the number of a list item may change:
"1. Pack a blanket: 2. Pack a blanket: …". After its second copy the text is held back, so that a reader does
not see the loop; if it continues differently after all, as a refrain or code does, it is released.
"""

import re
from math import ceil

LONGEST_UNIT = 600
"""Characters of the longest piece whose repetition is noticed."""
_ANCHOR = 20
"""Characters at the end of the text that are looked for before it: their distance is a copy's length."""
_MOST_CANDIDATES = 6
_FEWEST_LETTERS = 8
"""Different letters that a phrase has; fewer are a rule, a row of a table or a matrix of zeros."""
_LONG_ENOUGH = 500
"""Characters that the copies of a phrase must have together."""
_COPIES = (5, 15)
"""The fewest copies that a phrase may need to be a loop, and the most."""
_LONGEST_PATTERN = 2000
"""Characters of repeated text with few letters that are still taken for a pattern on purpose."""
_MEMORY = LONGEST_UNIT * (_COPIES[0] + 1)

_COUNTER = re.compile(r"(?<![\w.])\d+(?=[.):] )")
"""The number of a list item or a step; other numbers are content."""
_OPEN_COUNTER = re.compile(r"\d{1,6}[.):]?$")
_END = re.compile(r"[.!?](?=\s)|[\u3002\uff01\uff1f\n]")
_HAN = ("\u3040", "\u9fff")


class Repetition:
    """Reads one answer: `feed` returns what may be shown; once `is_loop`, the generation must end.

    >>> repetition = Repetition()
    >>> shown = "".join(repetition.feed("Pack a blanket: ") for _ in range(40))
    >>> repetition.is_loop, shown.count("Pack")
    (True, 2)
    """

    def __init__(self) -> None:
        self.is_loop = False
        self._text = ""  # the end of the answer, with all counters alike
        self._open = ""  # what follows it, and may become a counter
        self._held = ""

    def feed(self, text: str) -> str:
        """Return the text that may be shown: all of it, unless it repeats what stands before it."""
        if self.is_loop:
            return ""
        self._add(text)
        self._held += text
        unit, copies = self._find_unit()
        if _is_loop(unit, copies):
            self.is_loop = True
            return self._release_phrase()
        if copies >= 2 and _is_phrase(unit):
            return ""
        return self.finish()

    def finish(self) -> str:
        """Return what is held back, at the end of the answer; nothing after a loop."""
        held, self._held = self._held, ""
        return "" if self.is_loop else held

    def _add(self, text: str) -> None:
        text = self._open + text
        found = _OPEN_COUNTER.search(text)
        place = found.start() if found else len(text)
        self._open = text[place:]
        before = self._text[-1:]  # a digit after a letter does not count
        added = _COUNTER.sub("0", before + text[:place])[len(before) :]
        self._text = (self._text + added)[-_MEMORY:]

    def _find_unit(self) -> tuple[str, int]:
        """Return the shortest piece that the text ends with several copies of, and how many it has."""
        text = self._text
        anchor, place = text[-_ANCHOR:], len(text) - 1
        for _ in range(_MOST_CANDIDATES):
            place = text.rfind(anchor, max(len(text) - LONGEST_UNIT - _ANCHOR, 0), place)
            if place < 0 or len(anchor) < _ANCHOR:
                break
            unit = text[place + _ANCHOR :]
            copies = _count_copies(text, unit)
            if copies >= 2:
                return unit, copies
            place += _ANCHOR - 1
        return "", 0

    def _release_phrase(self) -> str:
        """Return the held text up to the end of its first sentence or line; drop the rest."""
        end = _END.search(self._held)
        shown = self._held[: end.end()] if end else ""
        self._held = ""
        return shown


def _count_copies(text: str, unit: str) -> int:
    copies, end = 0, len(text)
    while end >= len(unit) and text.endswith(unit, 0, end):
        copies, end = copies + 1, end - len(unit)
    return copies


def _is_phrase(unit: str) -> bool:
    """Whether a piece has enough different letters to say something; a Chinese one stands for two."""
    letters = {letter for letter in unit.casefold() if letter.isalpha()}
    return sum(2 if _HAN[0] <= letter <= _HAN[1] else 1 for letter in letters) >= _FEWEST_LETTERS


def _is_loop(unit: str, copies: int) -> bool:
    if not copies or not _is_phrase(unit):
        return copies * len(unit) >= _LONGEST_PATTERN
    fewest, most = _COPIES
    return copies >= min(max(ceil(_LONG_ENOUGH / len(unit)), fewest), most)
