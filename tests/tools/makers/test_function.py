"""Functions become tools: schema from the signature, texts from the docstring, any kind of function."""

import asyncio
import datetime
import enum
import math
import threading
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Literal, Optional

import pytest
from pydantic import BaseModel, Field

from dovetail.errors import ConfigError, ToolError
from dovetail.events.call import Kind
from dovetail.tools import Tool, ToolContext, ToolManager, make_tool
from dovetail.tools.makers.function import FunctionTool, tool


class Wood(enum.Enum):
    OAK = "oak"
    ASH = "ash"


@dataclass
class Size:
    length: float
    width: float = 0.2


class Order(BaseModel):
    """An order."""

    wood: Wood
    size: Size
    notes: list[str] = []


async def call(function: Any, **arguments: Any) -> Any:
    manager = ToolManager()
    manager.add(function if isinstance(function, Tool) else make_tool(function))
    name = manager.get_tools()[0].name
    return await manager.async_call_tool(name, arguments)


def test_plain_signature_becomes_a_schema_without_pydantic() -> None:
    def cut(
        plank: str,
        pieces: Annotated[int, "how many"] = 2,
        mode: Literal["rip", "cross"] = "rip",
        marks: list[float] | None = None,
        extra: Optional[dict[str, bool]] = None,  # noqa: UP045 - both ways are read
        anything=None,  # noqa: ANN001 - this, too, must be read
    ) -> str:
        """Cut a plank.

        Keep your fingers.

        Args:
            plank: The plank, as it
                stands there.
            mode (str): How to cut.

        Returns:
            What is left.
        """
        return plank

    made = make_tool(cut)
    assert made.name == "cut"
    assert made.description == "Cut a plank.\n\nKeep your fingers."
    assert made.parameters == {
        "type": "object",
        "properties": {
            "plank": {"type": "string", "description": "The plank, as it stands there."},
            "pieces": {"type": "integer", "description": "how many", "default": 2},
            "mode": {"enum": ["rip", "cross"], "description": "How to cut.", "default": "rip"},
            "marks": {"anyOf": [{"type": "array", "items": {"type": "number"}}, {"type": "null"}]},
            "extra": {
                "anyOf": [{"type": "object", "additionalProperties": {"type": "boolean"}}, {"type": "null"}]
            },
            "anything": {},
        },
        "required": ["plank"],
        "additionalProperties": False,
    }


async def test_rich_types_become_schemas_and_instances() -> None:
    def order(
        order: Order,
        more: list[Size],
        due: datetime.date,
        wood: Wood = Wood.ASH,
        count: Annotated[int, Field(ge=1, description="how many")] = 1,
    ) -> tuple[Any, ...]:
        return order, more, due, wood, count

    made = make_tool(order)
    properties = made.parameters["properties"]
    assert properties["order"] == {"$ref": "#/$defs/Order"}
    assert properties["wood"] == {"$ref": "#/$defs/Wood", "default": "ash"}
    assert properties["count"] == {
        "type": "integer",
        "minimum": 1,
        "description": "how many",
        "default": 1,
    }
    assert set(made.parameters["$defs"]) == {"Order", "Size", "Wood"}
    assert "title" not in str(made.parameters)
    result = await call(
        made,
        order={"wood": "oak", "size": {"length": 2}},
        more=[{"length": 1, "width": 3}],
        due="2026-03-01",
    )
    assert result == (
        Order(wood=Wood.OAK, size=Size(2)),
        [Size(1, 3)],
        datetime.date(2026, 3, 1),
        Wood.ASH,
        1,
    )
    with pytest.raises(ToolError, match=r"`order\.wood` must be one of"):
        await call(made, order={"wood": "steel", "size": {"length": 2}}, more=[], due="2026-03-01")
    with pytest.raises(ToolError, match=r"Invalid arguments: .*date"):
        await call(made, order={"wood": "oak", "size": {"length": 2}}, more=[], due="soon")


async def test_every_kind_of_function_can_be_a_tool() -> None:
    class Saw:
        def cut(self, plank: str) -> str:
            """Cut."""
            return f"{plank} cut"

        async def __call__(self, plank: str) -> str:
            """Cut, too."""
            return f"{plank} called"

    async def stream(plank: str) -> AsyncIterator[str]:
        yield plank
        yield "!"

    def count(to: int) -> Iterator[int]:
        yield from range(to)

    def report(to: int) -> Any:
        yield from range(to)
        return "done"

    assert await call(Saw().cut, plank="oak") == "oak cut"
    assert await call(Saw(), plank="oak") == "oak called"
    assert await call(stream, plank="oak") == "oak!"
    assert await call(count, to=3) == 2
    assert await call(report, to=3) == "done"
    assert await call(make_tool(lambda plank: plank, name="same"), plank="oak") == "oak"


async def test_sync_function_runs_in_a_thread_with_the_callers_context() -> None:
    def where(context: ToolContext) -> tuple[str, str]:
        return threading.current_thread().name, context.call_id

    made = make_tool(where)
    assert made.parameters["properties"] == {}
    name, call_id = await call(made)
    assert name == "dovetail-tool"
    assert call_id.startswith("call_")


async def test_positional_only_and_open_parameters_are_passed() -> None:
    async def collect(first: int, /, second: int = 2, **rest: int) -> dict[str, int]:
        return {"first": first, "second": second, **rest}

    assert await call(collect, first=1, third=3) == {"first": 1, "second": 2, "third": 3}


def test_function_that_cannot_be_a_tool_is_refused_by_name() -> None:
    def many(*planks: str) -> None: ...

    class Unknown: ...

    def odd(thing: Unknown) -> None: ...

    def missing(thing: "NoSuchType") -> None: ...  # noqa: F821 - that is the point

    with pytest.raises(ConfigError, match=r"many takes \*planks"):
        make_tool(many)
    with pytest.raises(ConfigError, match=r"Parameter 'thing' of .*odd is annotated .*Unknown"):
        make_tool(odd)
    with pytest.raises(ConfigError, match=r"annotations of .*missing cannot be read: .*NoSuchType"):
        make_tool(missing)


def test_decorator_takes_choices_and_leaves_the_function_callable() -> None:
    @tool(kind=Kind.Read, time_limit=5, tags=("shop",), display_name="Add up")
    def add(a: int, b: int) -> int:
        """Add."""
        return a + b

    assert isinstance(add, FunctionTool)
    assert (add.kind, add.time_limit, add.tags, add.title) == (Kind.Read, 5, ("shop",), "Add up")
    assert add(1, 2) == 3
    assert make_tool(add, name="plus").function is add.function


@pytest.mark.parametrize(
    "text",
    [
        "Cut.\n\n:param plank: which\n    one\n:type plank: str\n:returns: it",
        "Cut.\n\nParameters\n----------\nplank : str\n    which\n    one\n\nReturns\n-------\nstr\n    it",
        "Cut.\n\nArgs:\n  plank (str): which\n    one\n\nRaises:\n  ValueError: never",
    ],
)
def test_docstrings_of_all_styles_are_read(text: str) -> None:
    def cut(plank: str) -> None: ...

    cut.__doc__ = text
    made = make_tool(cut)
    assert made.description == "Cut."
    assert made.parameters["properties"]["plank"]["description"] == "which one"


async def test_awaitable_from_a_sync_function_is_awaited() -> None:
    def later(text: str) -> Any:
        return asyncio.sleep(0, text)

    assert await call(later, text="now") == "now"


@pytest.mark.parametrize("limit", [math.nan, math.inf, 0, -1, True, "10"])
def test_a_time_limit_that_no_timer_can_take_is_refused(limit: Any) -> None:
    async def nap() -> str:
        """Sleep a little."""
        return "done"

    with pytest.raises(ConfigError, match="time_limit of tool 'nap' must be seconds above 0 or None"):
        make_tool(nap, time_limit=limit)


def test_partial_is_named_and_described_by_its_function() -> None:
    def cut(plank: str, pieces: int) -> str:
        """Cut a plank."""
        return f"{plank} in {pieces}"

    tool = make_tool(partial(partial(cut), pieces=3))
    assert (tool.name, tool.description) == ("cut", "Cut a plank.")
    assert tool.parameters["required"] == ["plank"]
    assert tool(plank="oak") == "oak in 3"


def test_method_without_its_object_is_refused_with_the_way_to_pass_it() -> None:
    class Shelf:
        def count(self, item: str) -> int:
            """Count an item."""
            return 3

    with pytest.raises(
        ConfigError, match=r"Shelf.count is a method without its object(.|\n)*my_shelf\.count"
    ):
        make_tool(Shelf.count)
    assert make_tool(Shelf().count).parameters["required"] == ["item"]


def test_kind_may_be_written_as_its_name_and_an_unknown_one_is_rejected() -> None:
    def cut_plank(length: int) -> int:
        """Cut a plank."""
        return length

    assert make_tool(cut_plank, kind="read").kind is Kind.Read
    with pytest.raises(
        ConfigError, match=r"Tool 'cut_plank': Unknown kind 'nonsense'\. Expected one of: read, write"
    ):
        make_tool(cut_plank, kind="nonsense")


def test_an_unknown_option_is_rejected_with_the_nearest_one() -> None:
    def cut_plank(length: int) -> int:
        """Cut a plank."""
        return length

    options: Any = {"time_limits": 5}
    with pytest.raises(TypeError, match=r"Unknown option of a tool 'time_limits'. Did you mean 'time_limit'"):
        tool(cut_plank, **options)
