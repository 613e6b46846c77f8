"""Menus at the bottom of the screen: a question with its choices, and completions of what is typed."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from prompt_toolkit.completion import Completion
from prompt_toolkit.formatted_text import StyleAndTextTuples

from dovetail.cli.keyboard import Menu
from dovetail.data.visible import show_exactly, show_on_line

MOST_ROWS = 8
"""Rows of a menu at once."""


@dataclass(slots=True, eq=False)
class OpenQuestion:
    """A question that waits; `place` is the choice that is marked, `taken` are those of several.

    It `takes_keys` once the person has seen it; until then the keys are for what was being typed.
    """

    prompt: str
    menu: Menu
    answer: asyncio.Future[str | None]
    place: int | None = 0
    taken: set[int] = field(default_factory=set[int])
    takes_keys: bool = True

    def read(self, line: str) -> str | None:
        """Return the answer that a typed line means, or the marked choices; None if nothing is marked."""
        if not self.menu.items:
            return line
        if line.strip():
            place = self.menu.find(line) if line.strip().isdecimal() else None
            return line if place is None else self.menu.items[place].answer
        places = sorted(self.taken) or ([] if self.place is None else [self.place])
        return ",".join(self.menu.items[place].answer for place in places) if places else None

    def finish(self, line: str | None) -> None:
        """Answer it, unless it has been."""
        if not self.answer.done():
            self.answer.set_result(line)

    def move(self, by: int, line: str) -> None:
        """Mark another choice, counted from the one that is marked or that the line names."""
        marked = self.find_marked(line)
        if marked is None:
            marked = -1 if by > 0 else 0
        self.place = (marked + by) % len(self.menu.items)

    def toggle(self) -> None:
        """Take the marked choice, or leave it again."""
        self.taken ^= set[int]() if self.place is None else {self.place}

    def find_marked(self, line: str) -> int | None:
        """Return the choice that the typed line names, or the marked one if nothing is typed."""
        return self.menu.find(line) if line.strip() else self.place

    def render(self, line: str) -> StyleAndTextTuples:
        """Return the prompt, the choices and the keys; the choice that the typed line names is marked."""
        marked = self.find_marked(line) if self.takes_keys else None
        rows: list[StyleAndTextTuples] = [[("class:ask", show_exactly(self.prompt))]] if self.prompt else []
        for place in _cut_rows(len(self.menu.items), marked or 0):
            item = self.menu.items[place]
            box = ("[x] " if place in self.taken else "[ ] ") if self.menu.is_multiple else ""
            mark, style = ("▸ ", "class:chosen") if place == marked else ("  ", "")
            letter = f" ({item.answer})" if item.word else ""
            more = f"{letter}  {show_on_line(item.description)}" if item.description else letter
            label = show_on_line(item.label)
            rows.append([("", mark), (style, f"{place + 1}. {box}{label}"), ("class:status", more)])
        keys = _describe_keys(self.menu) if self.takes_keys else "Keys go to your message until you pause."
        return _join([*rows, [("class:status", keys)]])


def render_completions(found: Sequence[Completion], chosen: int) -> StyleAndTextTuples:
    """Return completions with what they mean; the chosen one is marked."""
    rows: list[StyleAndTextTuples] = []
    for place in _cut_rows(len(found), chosen):
        meaning = show_on_line(found[place].display_meta_text)
        more = f"  {meaning}" if meaning else ""
        mark, style = ("▸ ", "class:chosen") if place == chosen else ("  ", "")
        rows.append([("", mark), (style, show_on_line(found[place].display_text)), ("class:status", more)])
    return _join(rows)


def _join(rows: Sequence[StyleAndTextTuples]) -> StyleAndTextTuples:
    first, *others = rows
    return [*first, *(piece for row in others for piece in [("", "\n"), *row])]


def _describe_keys(menu: Menu) -> str:
    if not menu.items:
        return f"Enter answers, Alt+Enter begins a new line, Esc {menu.escape}"
    letter = " or letter" if any(item.word for item in menu.items) else ""
    keys = [f"↑ ↓ or a number{letter}, then Enter"]
    keys += ["Space takes several"] if menu.is_multiple else []
    keys += ["or type your own words"] if menu.is_free else []
    return ", ".join([*keys, f"Esc {menu.escape}"])


def _cut_rows(count: int, place: int) -> range:
    """Return the rows that are shown, such that the marked one is among them."""
    first = max(0, min(place - MOST_ROWS + 2, count - MOST_ROWS))
    return range(first, min(first + MOST_ROWS, count))
