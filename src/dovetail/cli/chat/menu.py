"""Menus at the bottom of the screen: a question with its choices, and completions of what is typed."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from prompt_toolkit.completion import Completion
from prompt_toolkit.formatted_text import StyleAndTextTuples

from dovetail.cli.keyboard import Menu

MOST_ROWS = 8
"""Rows of a menu at once."""


@dataclass(slots=True, eq=False)
class OpenQuestion:
    """A question that waits; `place` is the choice that is marked, `taken` are those of several."""

    prompt: str
    menu: Menu
    answer: asyncio.Future[str | None]
    place: int = 0
    taken: set[int] = field(default_factory=set[int])

    def choose(self) -> str:
        """Return the line that stands for the marked choices."""
        places = sorted(self.taken) or [self.place]
        return ",".join(self.menu.items[place].answer for place in places)

    def finish(self, line: str | None) -> None:
        """Answer it, unless it has been."""
        if not self.answer.done():
            self.answer.set_result(line)

    def move(self, by: int) -> None:
        """Mark another choice."""
        self.place = (self.place + by) % max(len(self.menu.items), 1)

    def toggle(self) -> None:
        """Take the marked choice, or leave it again."""
        self.taken ^= {self.place}

    def render(self) -> StyleAndTextTuples:
        """Return the prompt, the choices and the keys."""
        rows: list[StyleAndTextTuples] = [[("class:ask", self.prompt)]] if self.prompt else []
        for place in _cut_rows(len(self.menu.items), self.place):
            item, is_marked = self.menu.items[place], place == self.place
            box = ("[x] " if place in self.taken else "[ ] ") if self.menu.is_multiple else ""
            mark, style = ("▸ ", "class:chosen") if is_marked else ("  ", "")
            more = f"  {item.description}" if item.description else ""
            rows.append([("", mark), (style, f"{place + 1}. {box}{item.label}"), ("class:status", more)])
        return _join([*rows, [("class:status", _describe_keys(self.menu))]])


def render_completions(found: Sequence[Completion], chosen: int) -> StyleAndTextTuples:
    """Return completions with what they mean; the chosen one is marked."""
    rows: list[StyleAndTextTuples] = []
    for place in _cut_rows(len(found), chosen):
        more = f"  {found[place].display_meta_text}" if found[place].display_meta_text else ""
        mark, style = ("▸ ", "class:chosen") if place == chosen else ("  ", "")
        rows.append([("", mark), (style, found[place].display_text), ("class:status", more)])
    return _join(rows)


def _join(rows: Sequence[StyleAndTextTuples]) -> StyleAndTextTuples:
    first, *others = rows
    return [*first, *(piece for row in others for piece in [("", "\n"), *row])]


def _describe_keys(menu: Menu) -> str:
    if not menu.items:
        return f"Enter answers, Alt+Enter begins a new line, Esc {menu.escape}"
    keys = ["↑ ↓ Enter choose"]
    keys += ["Space takes several"] if menu.is_multiple else []
    keys += ["or type your own words"] if menu.is_free else []
    return ", ".join([*keys, f"Esc {menu.escape}"])


def _cut_rows(count: int, place: int) -> range:
    """Return the rows that are shown, such that the marked one is among them."""
    first = max(0, min(place - MOST_ROWS + 2, count - MOST_ROWS))
    return range(first, min(first + MOST_ROWS, count))
