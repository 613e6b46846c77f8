"""Values take the form in which prompts show them."""

import collections
import dataclasses
import datetime
import enum
import types
import typing
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal, Optional, Union

import pytest
from pydantic import BaseModel, Field

from dovetail.data import LayeredData, sanitize
from dovetail.errors import ConfigError


class Color(enum.Enum):
    RED = "red"


class Tone(enum.StrEnum):
    WARM = "warm"


class Plank(BaseModel):
    length: int = Field(description="in mm")
    wood: str | None = None
    width: Annotated[int, Field(ge=1)] = 1


class Tree(BaseModel):
    name: str
    children: "list[Tree]" = []


@dataclasses.dataclass
class Box:
    size: int


PLANK = {
    "length": ("int", "in mm"),
    "wood": ("str | None",),
    "width": ("typing.Annotated[int, Ge(ge=1)]",),
}


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, None),
        (1.5, 1.5),
        (Tone.WARM, Tone.WARM),
        (Color.RED, "Color.RED"),
        (datetime.datetime(2024, 5, 6, 7, 8, 9), "2024-05-06T07:08:09"),
        (datetime.time(7, 8), "07:08:00"),
        (PurePosixPath("a/b"), "a/b"),
        (b"ab", "b'ab'"),
        ({2, 1}, {1, 2}),
        (frozenset({2}), "frozenset({2})"),
        (range(2), "range(0, 2)"),
        (collections.deque([1]), "deque([1])"),
        (types.MappingProxyType({"a": 1}), "{'a': 1}"),
        (collections.OrderedDict(a=(1, b"x")), {"a": (1, "b'x'")}),
        (
            {1: "a", None: "b", (1, 2): "c", Color.RED: "d"},
            {"1": "a", "None": "b", "(1, 2)": "c", "Color.RED": "d"},
        ),
        (LayeredData({"a": Color.RED}), {"a": "Color.RED"}),
        (Plank(length=3), "length=3 wood=None width=1"),
        (Box(2), "Box(size=2)"),
    ],
)
def test_value_is_shown(value: Any, shown: Any) -> None:
    result = sanitize(value)
    assert result == shown
    assert type(result) is type(shown)


@pytest.mark.parametrize(
    ("annotation", "text"),
    [
        (str, "str"),
        (Any, "Any"),
        (type(None), "NoneType"),
        (Color, "Color"),
        (Box, "Box"),
        (list[int], "list[int]"),
        (typing.List[int], "list[int]"),  # noqa: UP006 (users write it)
        (typing.List, "list"),  # noqa: UP006
        (typing.Dict, "dict"),  # noqa: UP006
        (dict[str, list[int]], "dict[str, list[int]]"),
        (tuple[int, ...], "tuple[int, Ellipsis]"),
        (set[int], "set[int]"),
        (Optional[int], "int | NoneType"),  # noqa: UP045
        (Union[int, str], "int | str"),  # noqa: UP007
        (int | None, "int | None"),
        (Literal["a", 3], "Literal[a, 3]"),
        (Literal[Color.RED], "Literal[Color.RED]"),
        (Annotated[int, "x"], "typing.Annotated[int, 'x']"),
        (typing.Callable[[int], str], "typing.Callable[[int], str]"),
        (Plank, PLANK),
        (list[Plank], f"list[{PLANK}]"),
        (dict[str, Plank], f"dict[str, {PLANK}]"),
        (tuple[Plank, int], f"tuple[{PLANK}, int]"),
        (Optional[Plank], f"{PLANK} | NoneType"),  # noqa: UP045
    ],
)
def test_type_is_named(annotation: Any, text: Any) -> None:
    assert sanitize(annotation) == text


def test_types_may_remain() -> None:
    assert sanitize({"x": [list[int], int]}, remain_type=True) == {"x": [list[int], int]}
    assert sanitize(Plank, remain_type=True)["length"] == (int, "in mm")


def test_class_that_holds_itself_is_named() -> None:
    assert sanitize(Tree) == {"name": ("str",), "children": ("list[Tree]",)}


def test_set_of_classes_is_listed() -> None:
    assert sanitize({Plank}) == [PLANK]


def test_data_that_holds_itself_is_a_clear_error() -> None:
    knot: list[Any] = []
    knot.append(knot)
    with pytest.raises(ConfigError, match="A list that contains itself"):
        sanitize(knot)


def test_result_has_containers_of_its_own() -> None:
    given = {"a": [1]}
    sanitize(given)["a"].append(2)
    assert given == {"a": [1]}
