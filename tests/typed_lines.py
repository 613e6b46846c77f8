"""A keyboard on which lines have been typed already."""

from dovetail.cli.keyboard import NO_MENU, Menu, show_question
from dovetail.cli.output import Console


class TypedLines:
    """Shows questions as a terminal without a screen does, and answers them with these lines."""

    def __init__(self, console: Console, *lines: str | None) -> None:
        self._console = console
        self._left = list(lines)

    async def ask(self, prompt: str, menu: Menu = NO_MENU, *, text: str = "") -> str | None:
        """Show the question and return the next line."""
        show_question(self._console, prompt, menu, text)
        return self._left.pop(0)
