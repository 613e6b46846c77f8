r"""The border of the terminal: whatever is printed passes here, and only our own styles steer it.

`guarded()` puts a `Guard` in place of the standard streams: `print`, log lines, tracebacks and what tools
print reach the terminal with control and direction characters as escapes such as `\x1b`, and with known
secrets masked. A `Console` writes past the guard: it cleans the content and adds the styles afterwards.
"""

import json
import sys
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from typing import IO, Any, TextIO, cast

from rich import console as rich_console
from rich.console import ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.style import Style
from rich.text import Span, Text
from typer import rich_utils

from dovetail.data.known_secrets import hide_known
from dovetail.data.visible import find_controls, show_controls, show_in_json


class Guard:
    """A text stream that shows control characters and hides secrets; the rest is as in the one behind it."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        """Write a text; report its own length, as a caller expects."""
        self.stream.write(show_controls(hide_known(text)))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write several texts."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


@contextmanager
def guarded() -> Generator[None]:
    """Guard the standard streams."""
    before = sys.stdout, sys.stderr
    guard_streams()
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def guard_streams() -> None:
    """Guard the standard streams that are in place now, unless they are guarded."""
    if not isinstance(sys.stdout, Guard):
        sys.stdout = cast(TextIO, Guard(sys.stdout))
    if not isinstance(sys.stderr, Guard):
        sys.stderr = cast(TextIO, Guard(sys.stderr))


def open_styled(stream: IO[str]) -> TextIO:
    """Return the stream behind a guard, for text that was cleaned and then styled."""
    while isinstance(stream, Guard):
        stream = stream.stream
    return cast(TextIO, getattr(stream, "rich_proxied_file", stream))


class Console(rich_console.Console):
    """A console of `rich` whose content cannot steer the terminal, however it is nested."""

    def __init__(self, **options: Any) -> None:
        options.setdefault("emoji", False)
        super().__init__(**options)

    @property
    def file(self) -> IO[str]:
        """The stream that is written to, behind its guard."""
        return open_styled(super().file)

    @file.setter
    def file(self, new_file: IO[str]) -> None:
        self._file = new_file

    def render_str(self, text: str, **options: Any) -> Text:
        """Return markup or plain text as rich text."""
        return super().render_str(show_controls(text), **options)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Yield the pieces of some content, cleaned before it is laid out and before it is written."""
        content = _clean(renderable) if isinstance(renderable, Text) else renderable
        for piece in super().render(content, options):
            yield piece if piece.control else Segment(show_controls(piece.text), _drop_link(piece.style))


def _clean(text: Text) -> Text:
    """Return rich text with controls as escapes, and its styles where they were."""
    found = find_controls(text.plain)
    if not found:
        return text

    def move(place: int) -> int:
        return place + sum(len(shown) - 1 for at, shown in found if at < place)

    spans = [Span(move(span.start), move(span.end), span.style) for span in text.spans]
    clean = text.blank_copy(show_controls(text.plain))
    clean.spans = spans
    return clean


def _drop_link(style: Style | None) -> Style | None:
    """Return a style without a link, whose address would be written as it is."""
    return style.update_link(None) if style is not None and style.link else style


def print_styled(text: str, style: str = "", *, end: str = "\n", is_error: bool = False) -> None:
    """Print a text in one style."""
    console = Console(stderr=is_error, highlight=False, soft_wrap=True)
    console.print(text, style=style, end=end, markup=False)


def dump_json(data: Any, indent: int | None = None) -> str:
    """Return data as JSON that can be read in a terminal: control characters are escapes of JSON."""
    return show_in_json(json.dumps(data, ensure_ascii=False, default=str, indent=indent))


_CONSOLE_OF_TYPER = "Console"
setattr(rich_utils, _CONSOLE_OF_TYPER, Console)  # its help and its errors quote what was typed
