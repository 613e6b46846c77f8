"""Agents and requests: what a user's type checker knows about answers."""

from dataclasses import dataclass
from typing import Any, assert_type

from pydantic import BaseModel

from dovetail import Agent, Dovetail, create_agent
from dovetail.agent.fluent import TypedRequest
from dovetail.response.response import Response
from dovetail.response.result import Result
from dovetail.tools import Tool


class Invoice(BaseModel):
    number: int
    total: float


@dataclass
class Door:
    width: float


def lookup(number: int) -> str:
    """Look up an invoice."""
    return str(number)


helper = Agent("helper", system="You help.")
agent = Agent("clerk", model="openai:gpt-4.1-mini", system="You read invoices.", tools=[lookup, helper])
assert_type(agent, Agent)
assert_type(agent.input("x").info({"a": 1}).system("y", always=True), Agent)
assert_type(agent.use_tools([lookup]), Agent)
assert_type(helper.as_tool(), Tool)
assert_type(create_agent("x"), Agent)
assert_type(Dovetail().create_agent(), Agent)

request = agent.input("Read it.").returns(Invoice)
assert_type(request, TypedRequest[Invoice])
assert_type(request.instruct("carefully"), TypedRequest[Invoice])
assert_type(request.start(), Invoice)
response = request.get_response(timeout=30)
assert_type(response, Response[Invoice])
assert_type(response.get_result(), Result[Invoice])
assert_type(response.get_result().object, Invoice)
assert_type(response.get_data_object().total, float)
assert_type(response.get_text(), str)
assert_type(agent.returns(Door).start(ensure_keys=["width"]), Door)
assert_type(agent.returns(int).start(), int)
assert_type(agent.returns(list[Door]).start(), list[Door])
assert_type(agent.start(), Any)


async def ask() -> None:
    assert_type(await agent.returns(Invoice).async_start(), Invoice)
    assert_type(await agent.returns(Invoice).async_get_data_object(), Invoice)
    assert_type(await agent.async_get_text(), str)
    async with agent as entered:
        assert_type(entered, Agent)


for piece in agent.input("x").get_generator("delta"):
    assert_type(piece, str)
