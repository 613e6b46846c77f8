"""What text and data from outside become."""

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dovetail.data.clean import DEEPEST, clean_data, clean_text, clean_texts, is_clean


@pytest.mark.parametrize("text", ["", "hello", "café", "日本", "😀", "a\nb\tc", "\ufffd"])
def test_text_that_is_clean_comes_back_as_it_is(text: str) -> None:
    assert clean_text(text) is text


def test_halves_of_a_pair_that_meet_become_their_character() -> None:
    assert clean_text("a\ud83d\ude00b") == "a😀b"


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("\ud83d", "\ufffd"),
        ("x\ude00", "x\ufffd"),
        ("\ude00\ud83d", "\ufffd\ufffd"),
        ("r\udce9sum\udce9.txt", "r\ufffdsum\ufffd.txt"),
        ("a\0b", "a\ufffdb"),
        ("\0\ud83d\ude00\0", "\ufffd😀\ufffd"),
    ],
)
def test_lone_halves_and_nul_are_replaced(text: str, cleaned: str) -> None:
    assert clean_text(text) == cleaned


@given(st.text(st.characters(categories=None)))
def test_every_text_becomes_clean_and_stays_so(text: str) -> None:
    cleaned = clean_text(text)
    cleaned.encode()
    assert is_clean(cleaned)
    assert clean_text(cleaned) is cleaned


def test_data_is_cleaned_in_keys_and_values_at_every_depth() -> None:
    dirty = {"a\0": ["\ud83d", {"b": ("\ud83d\ude00", 1)}], "n": math.nan, "i": -math.inf, "x": 1.5}
    assert clean_data(dirty) == {
        "a\ufffd": ["\ufffd", {"b": ("😀", 1)}],
        "n": None,
        "i": None,
        "x": 1.5,
    }


def test_data_that_is_clean_comes_back_as_the_same_object() -> None:
    data: dict[str, Any] = {"a": [1, 2.5, None, True, "x", {"b": []}], "c": ("y",)}
    assert clean_data(data) is data


def test_data_that_is_nested_too_deeply_is_refused() -> None:
    fits = json.loads("[" * DEEPEST + "]" * DEEPEST)
    assert clean_data(fits) is fits
    with pytest.raises(ValueError, match="nested too deeply"):
        clean_data([fits])


def test_texts_are_cleaned_without_touching_numbers() -> None:
    cleaned = clean_texts({"a": "\0", "n": math.inf})
    assert cleaned == {"a": "\ufffd", "n": math.inf}
