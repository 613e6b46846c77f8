"""Paths lead into documents, in both styles."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dovetail.data import LayeredData, dot_to_slash, get_path, slash_to_dot

DOCUMENT = {"a": {"b": [{"c": 1}, {"c": 2}, {"d": 3}]}, "n": None}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("a.b[0].c", 1),
        ("a.b[-1].d", 3),
        ("/a/b/[1]/c", 2),
        ("a.b[*].c", [1, 2]),
        ("/a/b/[*]/c", [1, 2]),
        ("a.b[7].c", "missing"),
        ("a.x", "missing"),
        ("a.b.c", "missing"),
        ("a[0]", "missing"),
        ("n[*]", "missing"),
        ("n", None),
        ("", DOCUMENT),
    ],
)
def test_path_leads_to_its_value(path: str, value: Any) -> None:
    assert get_path(DOCUMENT, path, "missing") == value


def test_layered_data_can_be_walked() -> None:
    assert get_path(LayeredData({"b": 1}, parent=LayeredData({"a": {"x": [5]}})), "a.x[0]") == 5


def test_styles_turn_into_each_other() -> None:
    assert dot_to_slash("a.b[0].c[*]") == "/a/b/[0]/c/[*]"
    assert slash_to_dot("/a/b/[0]/c/[*]") == "a.b[0].c[*]"
    assert dot_to_slash("[0].a") == "/[0]/a"
    assert slash_to_dot("/[0]/a") == "[0].a"


names = st.text(st.characters(exclude_characters="./[]", exclude_categories=("Cs",)), min_size=1)
steps = st.lists(names | st.integers(0, 9) | st.just("*"), min_size=1)


@given(steps)
def test_styles_turn_into_each_other_without_loss(path: list[Any]) -> None:
    dotted = "".join(
        f".{step}" if isinstance(step, str) and step != "*" else f"[{step}]" for step in path
    ).removeprefix(".")
    assert slash_to_dot(dot_to_slash(dotted)) == dotted
