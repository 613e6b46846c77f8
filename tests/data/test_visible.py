"""What steers a terminal or is not drawn becomes visible; ordinary text stays as it is."""

import json

import pytest

from dovetail.data.visible import (
    show_controls,
    show_exactly,
    show_in_json,
    show_lines_to_approve,
    show_on_line,
    show_to_approve,
)

ORDINARY = "Ähren 木材 🪵 👩‍🌾 नमस्ते می‌خواهم שלום\tx\ny"


@pytest.mark.parametrize("show", [show_controls, show_exactly])
def test_ordinary_text_of_every_language_stays(show: object) -> None:
    assert callable(show)
    assert show(ORDINARY) == ORDINARY


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x1b[2Jb", r"a\x1b[2Jb"),
        ("\x9b8m\x7f\x00", r"\x9b8m\x7f\x00"),
        ("a\u202eb\u2066\u200f\u061c", r"a\u202eb\u2066\u200f\u061c"),
        ("a\u2028b\ufeff", r"a\u2028b\ufeff"),
        ("a\U000e0041", r"a\U000e0041"),
        ("one\r\ntwo\rthree", "one\ntwo\\rthree"),
    ],
)
def test_control_and_direction_characters_are_escapes(text: str, shown: str) -> None:
    assert show_controls(text) == shown
    assert show_controls(shown) == shown


def test_a_value_shows_also_what_is_not_drawn() -> None:
    assert show_controls("r\u200bm\xad x\u200d") == "r\u200bm\xad x\u200d"
    assert show_exactly("r\u200bm\xad x\u200d\r\n") == "r\\u200bm\\xad x\\u200d\\r\n"
    assert show_on_line("a\tb\nc") == r"a\tb\nc"


def test_blank_signs_selectors_and_enclosing_marks_are_shown() -> None:
    assert show_on_line("a\u2800\U0001d159b\u20e3\ufe00\ufe0f") == r"a\u2800\U0001d159b\u20e3\ufe00\ufe0f"
    assert show_exactly("❤\ufe0f ⚠\ufe0f \ufe0f") == "❤\ufe0f ⚠\ufe0f \\ufe0f"


def test_runs_of_blanks_are_counted_for_an_approval() -> None:
    assert show_to_approve("a  b" + " " * 7 + "c") == "a  b" + " " * 7 + "c"
    assert show_to_approve("a" + " \xa0" * 40 + "b") == "a␣×80b"
    assert show_to_approve("a" + "\u2800" * 90 + "\n" * 9 + "\n\t") == r"a\u2800×90\n×10\t"
    assert show_lines_to_approve("    a    \n\t\tb") == "    a␣×4\n\t\tb"
    assert show_lines_to_approve(" " * 30 + "\u202e" * 9) == r"␣×30\u202e×9"


def test_a_text_may_be_cut_anywhere() -> None:
    text = "a\x1b]0;x\x07\u202e\r b\U000e0041"
    assert "".join(map(show_controls, text)) == show_controls(text)


def test_json_stays_the_same_data() -> None:
    data = {"a\x9b": "\u202e\U000e0041\u200b👩‍🌾\x7f"}
    shown = show_in_json(json.dumps(data, ensure_ascii=False))
    assert json.loads(shown) == data
    assert shown == r'{"a\u009b": "\u202e\udb40\udc41\u200b👩‍🌾\u007f"}'
