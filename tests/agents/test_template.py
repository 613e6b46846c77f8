"""Placeholders in agent prompts."""

import pytest

from dovetail.data.template import fill_template
from dovetail.errors import ConfigError


def test_names_are_filled_and_doubled_dollars_stay() -> None:
    assert fill_template("Find ${what} in $${HOME}, $5.", {"what": "it"}) == "Find it in ${HOME}, $5."


def test_missing_names_are_listed_beside_those_given() -> None:
    with pytest.raises(ConfigError, match="needs depth, goal") as caught:
        fill_template("${goal} ${depth} ${goal}", {"query": "x"})
    assert "Given: query" in str(caught.value)


def test_a_filled_value_is_not_a_template_itself() -> None:
    assert fill_template("${a}", {"a": "${b}"}) == "${b}"
