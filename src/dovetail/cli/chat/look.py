"""How the chat looks: themes, Markdown, and rich content as text with escape sequences."""

import io
import os
import re
from dataclasses import dataclass, field
from typing import Any, ClassVar, cast

from rich.console import Console as AnyConsole
from rich.console import ConsoleOptions, Group, RenderResult
from rich.markdown import CodeBlock, Heading, Markdown, MarkdownElement
from rich.syntax import Syntax
from rich.text import Text
from rich.theme import Theme as Styles

from dovetail.cli.output import Console
from dovetail.settings.sections import Theme

_STYLES: dict[Theme, dict[str, str]] = {
    "auto": {"user": "bold", "tool": "cyan", "ask": "yellow"},
    "dark": {"user": "bold bright_white", "tool": "bright_cyan", "ask": "bright_yellow"},
    "light": {"user": "bold black", "tool": "blue", "ask": "magenta"},
    "plain": {"user": "bold", "tool": "none", "ask": "bold"},
}
_CODE = {"auto": "ansi_dark", "dark": "monokai", "light": "friendly", "plain": "ansi_dark"}
_ESCAPES = re.compile(r"\x1b\[[0-9;]*m")
FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"


class _Heading(Heading):
    """A heading at the left, without a frame."""

    def __rich_console__(self, console: AnyConsole, options: ConsoleOptions) -> RenderResult:
        self.text.justify = "left"
        self.text.stylize("bold underline" if self.tag == "h1" else "bold")
        yield self.text


class _CodeBlock(CodeBlock):
    """Code with an indent, on the background of the terminal, so that it can be copied line by line."""

    def __rich_console__(self, console: AnyConsole, options: ConsoleOptions) -> RenderResult:
        code = str(self.text).rstrip()
        yield Syntax(
            code,
            self.lexer_name,
            theme=self.theme,
            word_wrap=True,
            padding=(0, 0, 0, 2),
            background_color="default",
        )


class _Markdown(Markdown):
    """Markdown for a narrow column of a terminal."""

    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "heading_open": _Heading,
        "fence": _CodeBlock,
        "code_block": _CodeBlock,
    }


@dataclass(frozen=True, slots=True)
class Look:
    """A theme in a terminal with some colours."""

    theme: Theme = "auto"
    colors: str | None = None
    styles: Styles = field(init=False, repr=False)

    def __post_init__(self) -> None:
        own = _STYLES[self.theme]
        marks = {"markdown.code": own["tool"], "markdown.block_quote": "italic dim"}
        links = {"markdown.link": own["tool"], "markdown.link_url": "underline"}
        tables = {"markdown.table.header": "bold", "markdown.table.border": "dim"}
        object.__setattr__(self, "styles", Styles({**own, **marks, **links, **tables}))

    @property
    def has_colors(self) -> bool:
        """Whether anything is shown in colour."""
        return self.theme != "plain" and self.colors is not None

    def open_console(self, file: Any, width: int | None = None) -> Console:
        """Return a console that writes in this look to a file."""
        return Console(
            file=file,
            width=width,
            force_terminal=True,
            color_system=cast(Any, self.colors or "standard"),
            no_color=not self.has_colors,
            theme=self.styles,
            highlight=False,
            legacy_windows=False,
        )

    def render(self, content: Any, width: int) -> str:
        """Return content as lines with escape sequences."""
        out = io.StringIO()
        self.open_console(out, width).print(content, end="")
        return out.getvalue()

    def markdown(self, text: str) -> Any:
        """Return Markdown as rich content."""
        return _Markdown(text, code_theme=_CODE[self.theme], hyperlinks=False)


def find_look(theme: Theme) -> Look:
    """Return the look of a theme in the terminal of the standard output."""
    console = Console()
    has_colors = console.is_terminal and not os.environ.get("NO_COLOR")
    return Look(theme, console.color_system if has_colors else None)


def trim_rows(text: str) -> list[str]:
    """Return the lines of rendered content without empty ones at its beginning and end."""
    rows = text.split("\n")
    filled = [place for place, row in enumerate(rows) if _ESCAPES.sub("", row).strip()]
    return rows[filled[0] : filled[-1] + 1] if filled else []


def one_line(*parts: str | Text | tuple[str, str]) -> Group:
    """Return texts with their styles as one line, which is cut at the edge of the terminal."""
    return Group(Text.assemble(*parts, no_wrap=True, overflow="ellipsis"))  # alone it would be wrapped
