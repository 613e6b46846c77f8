"""Tools: decorators keep signatures, and options are checked."""

from collections.abc import AsyncIterator
from typing import Literal, assert_type

from dovetail import Agent, Kind, Tool, ToolResult, tool
from dovetail.tools import ToolContext, ToolSnapshot, make_tool

agent = Agent()


@tool
def add(a: int, b: int = 2) -> int:
    """Add two numbers."""
    return a + b


@tool(kind=Kind.Read, tags=("stock",), time_limit=5)
async def count(item: str, context: ToolContext) -> ToolResult:
    """Count the pieces of an item."""
    return ToolResult(item, data=len(context.call_id))


@tool(kind="fetch")
async def follow(url: str) -> AsyncIterator[str]:
    """Follow a page."""
    yield url


@agent.tool_func
def stock(item: Literal["chisel", "plane"]) -> int:
    """Count what is in stock."""
    return len(item)


@agent.auto_func
def judge(review: str) -> Literal["good", "bad"]:
    """Say how the customer felt."""
    raise NotImplementedError


@agent.auto_func
async def translate(text: str, *, to: str = "de") -> str:
    """Translate the text."""
    raise NotImplementedError


assert_type(add(1, b=3), int)
assert_type(add.name, str)
assert_type(stock("chisel"), int)
assert_type(judge("Fine."), Literal["good", "bad"])
a_tool: Tool = count
assert_type(make_tool(len, name="length")("abc"), int)
assert_type(agent.tools, ToolSnapshot)


async def call() -> None:
    assert_type(await count("saw", ToolContext(call_id="1")), ToolResult)
    assert_type(await translate("Hello", to="fr"), str)


Agent(tools=[add, count, len, "stock", Agent("helper", system="You help.")])
Agent(tools=[3])  # type: ignore[list-item]
add("one")  # type: ignore[arg-type]
stock("saw")  # type: ignore[arg-type]
judge(3)  # type: ignore[arg-type]
tool(add.function, nme="plus")  # type: ignore[call-overload]
