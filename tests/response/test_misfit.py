"""Where an answer does not fit an output: keys and plain types, each place once."""

from typing import Any

import pytest
from pydantic import BaseModel

from dovetail.response.misfit import describe_misfits


class Wood(BaseModel):
    name: str
    age: int = 0


@pytest.mark.parametrize(
    ("schema", "data"),
    [
        (
            {"a": (str, "text"), "b": int, "c": ("float", ""), "d": (bool,)},
            {"a": "", "b": 1, "c": 2, "d": True},
        ),
        ({"a": (int,)}, {"a": 3.0, "more": None}),
        ({"a": "what it is", "b": None, "c": (Any,)}, {"a": 1, "b": [], "c": None}),
        (
            {"a": [(str,)], "b": [], "c": list[int], "d": (list,)},
            {"a": [], "b": [1, "x"], "c": [1], "d": [{}]},
        ),
        ({"a": {"b": dict}}, {"a": {"b": {}}}),
        ({1: (str,)}, {"1": "x"}),
        ({"a": (Wood,)}, {"a": {"name": "oak"}}),
        ({"a": (int | None,)}, {"a": "unknown"}),
        ([(str,)], ["x"]),
    ],
)
def test_what_fits_or_is_not_judged_is_not_reported(schema: Any, data: Any) -> None:
    assert describe_misfits(schema, data) == ""


@pytest.mark.parametrize(
    ("schema", "data", "misfits"),
    [
        ({"a": (int,)}, {"a": True}, "`a`: expected int, got bool"),
        ({"a": (int,)}, {"a": 1.5}, "`a`: expected int, got float"),
        ({"a": (float,)}, {"a": None}, "`a`: expected float, got NoneType"),
        ({"a": {"b": str}}, {"a": "x"}, "`a`: expected dict, got str"),
        ({"a": {"b": str}}, {"a": {}}, "`a.b` is missing"),
        ({"a": [(str,)]}, {"a": "x"}, "`a`: expected list, got str"),
        ({"a": [{"b": int}]}, {"a": [{"b": "1"}, {"b": "2"}]}, "`a[*].b`: expected int, got str"),
        ({"a": (Wood,)}, {"a": {"name": 1}}, "`a.name`: expected str, got int"),
        ([(str,)], {}, "the answer: expected list, got dict"),
    ],
)
def test_a_place_that_does_not_fit_is_reported_once(schema: Any, data: Any, misfits: str) -> None:
    assert describe_misfits(schema, data) == misfits


def test_only_the_first_places_are_reported() -> None:
    schema = dict.fromkeys("abcdefg", (str,))
    assert describe_misfits(schema, {}).endswith("`e` is missing")
