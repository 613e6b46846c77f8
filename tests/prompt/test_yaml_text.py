"""YAML blocks are PyYAML's to the letter, at the width where lines break too."""

import datetime
import enum
from typing import Any

import pytest
import yaml

from dovetail.prompt.yaml_text import to_block_text


def dump(value: Any) -> str:
    return yaml.safe_dump(value, allow_unicode=True, sort_keys=True)


@pytest.mark.parametrize("word", ["a", "three", "it's", "x: y"])
def test_lines_break_where_pyyaml_breaks_them(word: str) -> None:
    for length in range(55, 175):
        text = ((word + " ") * 60)[:length].rstrip() + " end of it"
        for value in ({"key": text}, [text], {"a": [{"deep": text}]}, [[text, {"b": text}]]):
            assert to_block_text(value) == dump(value)


LOOK_ALIKES = [
    "yes",
    "Yes",
    "yEs",
    "~",
    "null",
    "1",
    "1e3",
    "0x1f",
    "1_000",
    "12:30",
    "2024-05-06",
    ".5",
    "+1",
    "=",
    "<<",
    "<a",
    "7",
]
INDICATORS = [
    "",
    " ",
    "-",
    "--",
    "- a",
    "-a",
    "?",
    "? a",
    "a:",
    "a: b",
    "a #b",
    "a#b",
    "'",
    '"',
    "7 planks",
    "7  m",
]
BREAKS = [
    "a\nb",
    "a\n\nb\n",
    "\na",
    "a \nb",
    "a\n b",
    "tab\tbed",
    "bell\a",
    "\u2028",
    "\x85",
    "\ufeff",
    "中: 好",
]


@pytest.mark.parametrize("text", [*LOOK_ALIKES, *INDICATORS, *BREAKS])
def test_text_is_quoted_as_pyyaml_quotes_it(text: str) -> None:
    assert to_block_text({"key": text}) == dump({"key": text})
    assert to_block_text([text, text]) == dump([text, text])
    assert to_block_text({text: 1}) == dump({text: 1})


def test_one_list_at_two_places_is_written_twice() -> None:
    shared = ["a"]
    assert to_block_text({"x": shared, "y": shared}) == "x:\n- a\ny:\n- a\n"
    escaped = ["\t"]
    assert to_block_text([escaped, escaped]) == '- - "\\t"\n- - "\\t"\n'


class Color(enum.StrEnum):
    RED = "red"


def test_values_of_other_classes_become_plain_first() -> None:
    value = {"when": datetime.date(2024, 5, 6), "kind": int, "color": Color.RED, 3: (1, {"b"})}
    assert to_block_text(value) == "'3':\n- 1\n- - b\ncolor: red\nkind: int\nwhen: '2024-05-06'\n"


def test_scalars_are_plain_text() -> None:
    assert [to_block_text(value) for value in (None, True, 1.5, "a: b", int)] == [
        "None",
        "True",
        "1.5",
        "a: b",
        "int",
    ]
