"""Levels and numbers of tokens mean the same to every provider."""

import pytest

from dovetail.requesters.thinking import BUDGETS, count_tokens, name_level


@pytest.mark.parametrize("level", BUDGETS)
def test_number_of_a_level_stands_for_that_level(level: str) -> None:
    assert name_level(count_tokens(level)) == name_level(level) == level


@pytest.mark.parametrize(("tokens", "level"), [(1, "low"), (4096, "medium"), (16_384, "high")])
def test_number_stands_for_the_nearest_level(tokens: int, level: str) -> None:
    assert name_level(tokens) == level
    assert count_tokens(tokens) == tokens
