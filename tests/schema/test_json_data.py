"""Any value becomes data that JSON can hold."""

import dataclasses
import datetime
import enum
import json
import typing
from collections import OrderedDict, deque
from decimal import Decimal
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal, Optional, Union

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from dovetail.data import LayeredData
from dovetail.errors import ConfigError
from dovetail.schema.json_data import to_json_data


class Color(enum.Enum):
    RED = "red"
    GREEN = "green"


class Plank(BaseModel):
    length: int = Field(description="in mm")
    wood: str | None = None


class Stack(BaseModel):
    planks: list[Plank] = []
    best: Plank | None = None


class Tree(BaseModel):
    name: str
    children: "list[Tree]" = []


@dataclasses.dataclass
class Box:
    size: int
    color: Color = Color.RED


class Bench(typing.TypedDict, total=False):
    number: int
    planks: typing.Required[list[Plank]]


class Odd:
    def __str__(self) -> str:
        return "odd"


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (None, None),
        (True, True),
        ("text", "text"),
        (1.5, 1.5),
        (datetime.datetime(2024, 5, 6, 7, 8, 9), "2024-05-06T07:08:09"),
        (datetime.date(2024, 5, 6), "2024-05-06"),
        (datetime.time(7, 8), "07:08:00"),
        (Decimal("1.50"), "1.50"),
        (PurePosixPath("a/b"), "a/b"),
        (b"ab\xff", "ab\\xff"),
        (Color.RED, "red"),
        (Odd(), "odd"),
        ((1, (2, Odd())), (1, (2, "odd"))),
        ({"b", "a"}, ["a", "b"]),
        (frozenset({2, 1}), [1, 2]),
        (deque([1, 2]), [1, 2]),
        (OrderedDict(a=1), {"a": 1}),
        (
            {1: "a", None: "b", (1, 2): "c", Color.RED: "d"},
            {"1": "a", "None": "b", "(1, 2)": "c", "red": "d"},
        ),
        (LayeredData({"a": Odd()}), {"a": "odd"}),
        (Plank(length=3), {"length": 3, "wood": None}),
        (Box(2), {"size": 2, "color": "red"}),
    ],
)
def test_value_becomes_plain(value: Any, plain: Any) -> None:
    assert to_json_data(value) == plain


@pytest.mark.parametrize(
    ("annotation", "text"),
    [
        (str, "str"),
        (Any, "Any"),
        (type(None), "NoneType"),
        (list[int], "list[int]"),
        (typing.List[int], "list[int]"),  # noqa: UP006 (users write it)
        (typing.List, "list"),  # noqa: UP006
        (typing.Dict, "dict"),  # noqa: UP006
        (dict[str, list[int]], "dict[str, list[int]]"),
        (tuple[int, ...], "tuple[int, ...]"),
        (Optional[int], "int | NoneType"),  # noqa: UP045
        (Union[int, str], "int | str"),  # noqa: UP007
        (int | None, "int | None"),
        (Literal["a", 3], "Literal[a, 3]"),
        (Literal[Color.RED], "Literal[red]"),
        (Annotated[int, "x"], "int"),
        (Color, "Literal[red, green]"),
        (typing.Callable[[int], str], "Callable[[int], str]"),
        (dict[str, Plank], "dict[str, Plank]"),
        (Plank, {"length": ("int", "in mm"), "wood": ("str | None",)}),
        (list[Plank], [{"length": ("int", "in mm"), "wood": ("str | None",)}]),
        (Box, {"size": ("int",), "color": ("Literal[red, green]",)}),
        (Bench, {"number": ("int",), "planks": ([{"length": ("int", "in mm"), "wood": ("str | None",)}],)}),
    ],
)
def test_type_becomes_what_it_says_to_a_reader(annotation: Any, text: Any) -> None:
    assert to_json_data(annotation) == text


def test_classes_within_classes_are_shown_by_their_fields() -> None:
    plank = {"length": ("int", "in mm"), "wood": ("str | None",)}
    assert to_json_data(Stack) == {"planks": ([plank],), "best": (plank,)}


def test_class_that_contains_itself_is_shown_by_its_name() -> None:
    assert to_json_data(Tree) == {"name": ("str",), "children": ("list[Tree]",)}


def test_data_that_holds_itself_is_a_clear_error() -> None:
    knot: list[Any] = []
    knot.append(knot)
    with pytest.raises(ConfigError, match="A list that contains itself"):
        to_json_data(knot)


def test_text_of_a_subclass_becomes_plain_text() -> None:
    class Loud(str):
        def __str__(self) -> str:
            return self.upper()

    assert type(to_json_data(Loud("a"))) is str
    assert to_json_data(Loud("a")) == "a"


def test_result_has_containers_of_its_own() -> None:
    given_value = {"a": [1]}
    result = to_json_data(given_value)
    result["a"].append(2)
    assert given_value == {"a": [1]}


leaves = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.text()
    | st.dates()
    | st.binary()
    | st.decimals(allow_nan=False)
)
anything = st.recursive(
    leaves,
    lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(leaves, inner),
    max_leaves=12,
)


@given(anything)
@settings(max_examples=60)
def test_whatever_comes_out_fits_into_json_and_stays_as_it_is(value: Any) -> None:
    plain = to_json_data(value)
    json.dumps(plain)
    assert to_json_data(plain) == plain
