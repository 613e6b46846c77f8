"""Placeholders are filled at every depth, with values where they stand alone and with text elsewhere."""

from typing import Any

import pytest

from dovetail.data.template import fill, fill_required, fill_template, fill_text, find_placeholders
from dovetail.errors import ConfigError

MAPPINGS = {"name": "Ann", "n": 3, "list": [1, 2], "none": None, "with space": "x"}


@pytest.mark.parametrize(
    ("value", "filled"),
    [
        ("${name}", "Ann"),
        ("${ n }", 3),
        ("${list}", [1, 2]),
        ("${none}", None),
        ("to ${name} and ${none}", "to Ann and None"),
        ("${name}${n}", "Ann3"),
        ("${with space}", "x"),
        ("${unknown} ${name}", "${unknown} Ann"),
        ("${unknown}", "${unknown}"),
        ("$name {name} ${}", "$name {name} ${}"),
        ({"${name}": ["${n}"]}, {"Ann": [3]}),
        (("${n}", "for ${name}"), (3, "for Ann")),
        ({"${name}"}, {"Ann"}),
        ({1: "${n}"}, {1: 3}),
        (5, 5),
    ],
)
def test_value_is_filled(value: Any, filled: Any) -> None:
    assert fill(value, MAPPINGS) == filled


def test_key_alone_in_its_placeholder_becomes_the_value() -> None:
    assert fill({"${n}": 1, "no ${n}": 2}, MAPPINGS) == {3: 1, "no 3": 2}
    assert fill({"${list}": 1}, MAPPINGS) == {"[1, 2]": 1}


def test_text_is_filled_with_text() -> None:
    assert fill_text("${list}", MAPPINGS) == "[1, 2]"


def test_what_is_filled_in_is_not_filled_again() -> None:
    assert fill("${a} ${b}", {"a": "${b}", "b": "x"}) == "${b} x"


def test_placeholders_are_found_in_order() -> None:
    assert find_placeholders("${a} ${ b } $c ${a}") == ["a", "b", "a"]


def test_names_are_filled_and_doubled_dollars_stay() -> None:
    assert fill_template("Find ${what} in $${HOME}, $5.", {"what": "it"}) == "Find it in ${HOME}, $5."


def test_missing_names_are_listed_with_those_given() -> None:
    with pytest.raises(ConfigError, match="Missing values for the template: depth, goal") as caught:
        fill_template("${goal} ${depth} ${goal}", {"query": "x"})
    assert "Given: query" in str(caught.value)


def test_a_filled_value_is_not_a_template_itself() -> None:
    assert fill_template("${a}", {"a": "${b}"}) == "${b}"


def test_required_names_are_looked_up_in_texts_at_every_depth_but_not_in_keys() -> None:
    entry = {"${A}": ["${A}!", {"b": "$${A} ${ A } ${a b}"}, 3]}
    assert fill_required(entry, {"A": "x"}.__getitem__) == {"${A}": ["x!", {"b": "$x ${ A } ${a b}"}, 3]}
