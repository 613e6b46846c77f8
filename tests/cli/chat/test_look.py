"""The look of the chat: themes, Markdown without frames, lines that are cut at the edge."""

import re
from typing import get_args

import pytest

from dovetail.cli.chat.look import Look, find_look, one_line, trim_rows
from dovetail.settings.sections import TerminalSettings, Theme

COLOUR = re.compile(r"\x1b\[(?:[0-9;]*;)?(?:3[0-8]|9[0-7])[;m]")


@pytest.mark.parametrize("theme", get_args(Theme))
def test_every_theme_can_be_set_and_only_plain_has_no_colours(theme: Theme) -> None:
    assert TerminalSettings.read({"theme": theme}).theme == theme
    look = Look(find_look(theme).theme, "truecolor")
    shown = look.render(look.markdown("Use `saw()`:\n\n```python\nx = 'oak'\n```\n"), 40)
    assert bool(COLOUR.search(shown)) is (theme != "plain")


def test_without_colours_emphasis_stays() -> None:
    look = Look("dark", None)
    shown = look.render(look.markdown("**hard** `saw`"), 40)
    assert not COLOUR.search(shown)
    assert "\x1b[1mhard" in shown


def test_headings_and_code_begin_at_the_left() -> None:
    look = Look("plain")
    text = re.sub(r"\x1b\[[0-9;]*m", "", look.render(look.markdown("# Woods\n\n```\noak\n```\n"), 40))
    assert [line.rstrip() for line in trim_rows(text)] == ["Woods", "", "  oak"]


def test_a_line_is_cut_at_the_edge_of_the_terminal() -> None:
    shown = Look("plain").render(one_line(("abcdefghij", "bold"), "klmno"), 8)
    assert re.sub(r"\x1b\[[0-9;]*m", "", shown).strip() == "abcdefg…"
