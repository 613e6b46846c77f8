"""The Python objects that cases name: classes, their instances, enum members and type expressions.

Both sides import this module, so nothing here may come from either package.
"""

import dataclasses
import datetime
import decimal
import enum
import pathlib
import types
import typing
import uuid
from typing import Annotated, Any, Literal, Optional, Union

from pydantic import BaseModel, Field

_SIDES = types.SimpleNamespace(wide=3, high=2)


class Wood(enum.Enum):
    OAK = "oak"
    ASH = "ash"


class Grade(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Tone(str, enum.Enum):  # noqa: UP042 (users write it)
    WARM = "warm"
    COLD = "cold"


@dataclasses.dataclass
class Box:
    size: int
    label: str = "plain"


class Plank(BaseModel):
    length: int = Field(description="in mm")
    wood: str | None = None


class Stack(BaseModel):
    name: str
    planks: list[Plank] = Field(default=[], description="the planks")
    best: Plank | None = None


class Note(BaseModel):
    text: str = "empty"
    tags: list[str] = []
    score: float = 0.5


class Bench(typing.TypedDict):
    number: int
    name: str


class Odd:
    """An object with nothing but a text."""

    def __str__(self) -> str:
        return "odd: one"

    def __repr__(self) -> str:
        return "Odd()"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Odd)

    def __hash__(self) -> int:
        return 7


CLASSES: dict[str, Any] = {
    "str": str,
    "int": int,
    "float": float,
    "bool": bool,
    "list": list,
    "dict": dict,
    "tuple": tuple,
    "set": set,
    "bytes": bytes,
    "NoneType": type(None),
    "object": object,
    "Wood": Wood,
    "Grade": Grade,
    "Tone": Tone,
    "Box": Box,
    "Plank": Plank,
    "Stack": Stack,
    "Note": Note,
    "Bench": Bench,
    "Odd": Odd,
    "datetime": datetime.datetime,
    "date": datetime.date,
    "Path": pathlib.PurePosixPath,
    "Decimal": decimal.Decimal,
}

EXPRESSIONS: dict[str, Any] = {
    "Any": Any,
    "list[int]": list[int],
    "list[str]": list[str],
    "list[bool]": list[bool],
    "list[Any]": list[Any],
    "list[float]": list[float],
    "list[Plank]": list[Plank],
    "list[Note]": list[Note],
    "list[list[int]]": list[list[int]],
    "list[dict[str, int]]": list[dict[str, int]],
    "list[Wood]": list[Wood],
    "list[int | None]": list[int | None],
    "List[int]": typing.List[int],  # noqa: UP006 (users write it)
    "List": typing.List,  # noqa: UP006
    "Dict": typing.Dict,  # noqa: UP006
    "Dict[str, int]": typing.Dict[str, int],  # noqa: UP006
    "dict[str, int]": dict[str, int],
    "dict[str, Plank]": dict[str, Plank],
    "dict[str, list[int]]": dict[str, list[int]],
    "tuple[int, str]": tuple[int, str],
    "tuple[int, ...]": tuple[int, ...],
    "set[int]": set[int],
    "frozenset[str]": frozenset[str],
    "Optional[int]": Optional[int],  # noqa: UP045
    "Optional[Plank]": Optional[Plank],  # noqa: UP045
    "int | None": int | None,
    "Plank | None": Plank | None,
    "int | str": int | str,
    "Union[int, str]": Union[int, str],  # noqa: UP007
    "Union[int, list[str]]": Union[int, list[str]],  # noqa: UP007
    "Literal['a', 'b']": Literal["a", "b"],
    "Literal[1, 2, 3]": Literal[1, 2, 3],
    "Literal[Wood.OAK]": Literal[Wood.OAK],
    "Literal[None, True]": Literal[None, True],
    "Annotated[int, 'x']": Annotated[int, "x"],
    "Annotated[str, Field(description='d')]": Annotated[str, Field(description="d")],
    "Annotated[list[int], 'x']": Annotated[list[int], "x"],
    "Callable[[int], str]": typing.Callable[[int], str],
    "Sequence[int]": typing.Sequence[int],
    "type[int]": type[int],
}

OBJECTS: dict[str, typing.Callable[[], Any]] = {
    "Wood.OAK": lambda: Wood.OAK,
    "Grade.LOW": lambda: Grade.LOW,
    "Tone.WARM": lambda: Tone.WARM,
    "Box(2)": lambda: Box(2),
    "Box(3, 'a: b')": lambda: Box(3, "a: b"),
    "Plank(1)": lambda: Plank(length=1),
    "Plank(2, 'ash')": lambda: Plank(length=2, wood="ash"),
    "Stack": lambda: Stack(name="s", planks=[Plank(length=1)]),
    "Odd()": Odd,
    "datetime": lambda: datetime.datetime(2024, 5, 6, 7, 8, 9),
    "datetime+tz": lambda: datetime.datetime(2024, 5, 6, 7, 8, 9, 10, tzinfo=datetime.UTC),
    "date": lambda: datetime.date(2024, 5, 6),
    "time": lambda: datetime.time(7, 8),
    "timedelta": lambda: datetime.timedelta(days=1, seconds=2),
    "Path": lambda: pathlib.PurePosixPath("a/b.txt"),
    "Decimal": lambda: decimal.Decimal("1.50"),
    "UUID": lambda: uuid.UUID(int=5),
    "complex": lambda: 1 + 2j,
    "range": lambda: range(3),
    "bytearray": lambda: bytearray(b"ab"),
    "Ellipsis": lambda: ...,
    "namespace": lambda: _SIDES,
    "mappingproxy": lambda: types.MappingProxyType({"k": 1}),
}
