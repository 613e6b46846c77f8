"""How a person at the terminal is asked: a prompt, a menu, and a line as the answer.

`LineKeyboard` prints the menu and reads a line. The screen of the chat is a `Keyboard` too, with a menu for
the arrow keys; both return the same lines, so that a question is written once for both.
"""

import asyncio
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from rich.markup import escape

from dovetail.cli.output import Console
from dovetail.data.visible import show_exactly, show_on_line


@dataclass(frozen=True, slots=True)
class MenuItem:
    """One choice: the line that stands for it, and what people read.

    `word` is a longer form of the line; with `takes_reason`, more words may follow it.
    """

    answer: str
    label: str
    description: str = ""
    word: str = ""
    takes_reason: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Menu:
    """The choices of a question; `is_multiple`: several can be taken, with commas between their answers.

    With `is_free`, any other words are an answer too. `ways` says in words how a line may answer,
    `escape` what Esc, or an empty line, does. A menu that `comes_by_itself` may appear while the person types
    something else: no key that was meant for that may answer it.
    """

    items: Sequence[MenuItem] = ()
    is_multiple: bool = False
    is_free: bool = False
    ways: str = ""
    escape: str = "skips"
    comes_by_itself: bool = False

    def find(self, line: str) -> int | None:
        """Return the place of the choice that a line names by its answer or its number; None if none."""
        line = line.strip()
        first, _, reason = line.partition(" ")
        word = first.lower().rstrip(",:")
        for place, item in enumerate(self.items):
            is_word = bool(item.word) and word in (item.answer, item.word)
            if line == item.answer or (is_word and (item.takes_reason or not reason)):
                return place
        return int(line) - 1 if line.isdecimal() and 1 <= int(line) <= len(self.items) else None


NO_MENU = Menu(is_free=True)


class Keyboard(Protocol):
    """Asks the person at the terminal."""

    async def ask(self, prompt: str, menu: Menu = NO_MENU, *, text: str = "") -> str | None:
        """Return the line that answers, None at the end of the input; `text` is there to be edited."""
        ...


class LineKeyboard:
    """Asks on a console and reads a line of the standard input."""

    def __init__(self, console: Console) -> None:
        self._console = console

    async def ask(self, prompt: str, menu: Menu = NO_MENU, *, text: str = "") -> str | None:
        """Show the question and return the next line."""
        show_question(self._console, prompt, menu, text)
        return await read_line()


def show_question(console: Console, prompt: str, menu: Menu, text: str) -> None:
    """Print a prompt, its choices, the text to edit, and how a line may answer."""
    if prompt:
        console.print(show_exactly(prompt), style="yellow", markup=False, highlight=False)
    for item in menu.items:
        more = f"  [dim]{escape(show_on_line(item.description))}[/dim]" if item.description else ""
        console.print(f"  \\[{item.answer}] {escape(show_on_line(item.label))}{more}", highlight=False)
    if text:
        console.print(text, markup=False, soft_wrap=True, highlight=False)
    console.print(f"({menu.ways}) > " if menu.ways else "> ", end="", markup=False, highlight=False)


async def read_line() -> str | None:
    """Return a line of the standard input, None at its end; the wait can be cancelled."""
    loop = asyncio.get_running_loop()
    ready: asyncio.Future[None] = loop.create_future()
    loop.add_reader(sys.stdin.fileno(), lambda: None if ready.done() else ready.set_result(None))
    try:
        await ready
        return sys.stdin.readline() or None
    finally:
        loop.remove_reader(sys.stdin.fileno())
