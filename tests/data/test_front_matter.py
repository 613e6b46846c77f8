"""Front matter is split off and its mistakes are reported with their line."""

import pytest

from dovetail.data.front_matter import split_front_matter
from dovetail.errors import ConfigError


def test_front_matter_and_body_are_split() -> None:
    assert split_front_matter("---\nname: a\ntags: [x, y]\n---\n\nBody\n---\n") == (
        {"name": "a", "tags": ["x", "y"]},
        "\nBody\n---\n",
    )


@pytest.mark.parametrize("text", ["", "Body", "# --- x", " ---\nname: a\n---\n"])
def test_a_text_without_front_matter_is_all_body(text: str) -> None:
    assert split_front_matter(text) == ({}, text)


def test_windows_line_ends_a_mark_and_an_empty_one() -> None:
    assert split_front_matter("\ufeff---\r\nname: a\r\n---\r\nBody") == ({"name": "a"}, "Body")
    assert split_front_matter("---\n---\nBody") == ({}, "Body")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("---\nname: a\n", "has no end"),
        ("---\nname: a\nbad: [1\n---\n", "not valid YAML: .* in line"),
        ("---\nsince: 2026-13-45\n---\n", "not valid YAML: month must be in 1..12"),
        ("---\na: " + "[" * 2000 + "\n---\n", "not valid YAML: it is nested too deeply"),
        ("---\n- a\n---\n", "must be `key: value` lines, not \\['a'\\]"),
    ],
)
def test_mistakes_are_reported(text: str, complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint):
        split_front_matter(text)


def test_very_long_front_matter_is_refused_before_it_is_read() -> None:
    with pytest.raises(ConfigError, match="has 60000 characters, at most 50000 are read"):
        split_front_matter("---\n" + "k: v\n" * 12_000 + "---\nbody")
