"""Sections know their keys, check their values and stay as they are."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import pytest

from dovetail.errors import ConfigError
from dovetail.settings import DEFAULTS, ENVIRONMENT
from dovetail.settings.model import ModelSettings, TimeLimits
from dovetail.settings.section import Section, find_hint, keys_of
from dovetail.settings.sections import AllSettings, ServerSettings
from dovetail.settings.value import Count, Limit, Names, Secret


class Oven(Section, key="oven"):
    """An oven."""

    degrees: Count = 180
    minutes: Limit | None = None
    fan: bool = False
    light: Literal["on", "off"] = "off"
    code: Secret | None = None
    trays: Names = ()
    racks: Sequence[str] = ()
    labels: Mapping[str, Any] = {}
    limits: TimeLimits = TimeLimits()


def test_values_are_checked_and_defaults_fill_the_rest() -> None:
    oven = Oven.read({"degrees": 200, "minutes": 5, "trays": "a, b,", "limits": {"idle": 1}})
    assert (oven.degrees, oven.minutes, oven.fan, oven.light) == (200, 5, False, "off")
    assert (oven.trays, oven.limits.idle, oven.limits.total) == (["a", "b"], 1, 900.0)
    assert oven.given == {"degrees", "minutes", "trays", "limits"}


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        ({"degrees": "hot"}, "oven.degrees must be a whole number that is not negative, got 'hot'."),
        ({"degrees": 1.5}, "oven.degrees must be a whole number that is not negative, got 1.5."),
        ({"degrees": True}, "oven.degrees must be a whole number that is not negative, got True."),
        ({"degrees": -1}, "oven.degrees must be a whole number that is not negative, got -1."),
        ({"minutes": 0}, "oven.minutes must be a number of seconds above 0, got 0."),
        ({"minutes": math.nan}, "oven.minutes must be a number of seconds above 0, got nan."),
        ({"fan": "yes"}, "oven.fan must be true or false, got 'yes'."),
        ({"light": "dim"}, "Unknown oven.light 'dim'. Expected one of: on, off."),
        ({"light": 1}, "oven.light must be one of: on, off, got 1."),
        ({"code": ["1234"]}, "oven.code must be text, got list."),
        ({"trays": 3}, "oven.trays must be a list of texts, or text with commas, got 3."),
        ({"racks": "top"}, "oven.racks must be a list of texts, got 'top'."),
        ({"racks": [1]}, "oven.racks must be a list of texts, got [1]."),
        ({"labels": "a"}, "oven.labels must be a table, got 'a'."),
        (
            {"limits": {"idle": "1"}},
            "oven.limits.idle must be a finite number that is not negative, got '1'.",
        ),
        ({"limits": 5}, "oven.limits must be a table, got 5."),
        ({"degres": 1}, "Unknown setting 'oven.degres'. Did you mean 'oven.degrees'?"),
        ({"limits": {"idel": 1}}, "Unknown setting 'oven.limits.idel'. Did you mean 'oven.limits.idle'?"),
    ],
)
def test_wrong_value_is_named_with_its_key_and_type(values: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Oven.read(values)
    assert str(caught.value) == complaint


def test_none_stands_for_the_default_where_it_is_not_a_value() -> None:
    oven = Oven.read({"degrees": None, "minutes": None})
    assert (oven.degrees, oven.minutes, oven.given) == (180, None, {"minutes"})


def test_section_is_frozen_and_hides_its_secrets() -> None:
    oven = Oven(code="1234")
    with pytest.raises(AttributeError, match="frozen"):
        oven.degrees = 3  # type: ignore[misc]
    assert "1234" not in repr(oven)
    assert oven == Oven(code="1234")
    assert oven != Oven()


def test_missing_value_that_is_required_is_named() -> None:
    with pytest.raises(ConfigError, match=r"Missing setting 'model\.prices\.a\.output'"):
        ModelSettings.read({"prices": {"a": {"input": 1}}})


def test_every_default_is_a_value_of_its_type() -> None:
    assert AllSettings.read(DEFAULTS).to_dict() == DEFAULTS


def test_every_variable_sets_a_key() -> None:
    for key in ENVIRONMENT.values():
        assert find_hint(AllSettings, key) is not None
    assert list(keys_of(ServerSettings)) == list(DEFAULTS["server"])
