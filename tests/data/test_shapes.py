"""Which numbers from outside are taken."""

import math

import pytest

from dovetail.data.shapes import LARGEST_COUNT, is_number, read_count, read_number


@pytest.mark.parametrize("value", [0, 1, -1, 0.5, -2.5, 10**30])
def test_finite_numbers_are_numbers(value: float) -> None:
    assert is_number(value)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 10**400, True, False, "1", None, [], {}])
def test_what_no_timer_can_take_is_not_a_number(value: object) -> None:
    assert not is_number(value)


@pytest.mark.parametrize("text", ["nan", "inf", "-Infinity", "1e999", "", "soon", "1,5"])
def test_a_text_without_a_finite_number_is_none(text: str) -> None:
    assert read_number(text) is None


def test_a_text_with_a_number_is_read() -> None:
    assert (read_number(" 1.5 "), read_number("-2"), read_number("1e3")) == (1.5, -2.0, 1000.0)


@pytest.mark.parametrize("value", [-1, math.nan, math.inf, True, "7", None, [], 10**400])
def test_what_is_not_a_count_is_zero(value: object) -> None:
    assert read_count(value) == 0


def test_counts_are_whole_and_bounded() -> None:
    assert (read_count(7), read_count(7.9), read_count(10**20)) == (7, 7, LARGEST_COUNT)
