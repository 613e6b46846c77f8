"""Agents and requests: what a user's type checker knows about answers."""

import asyncio
from dataclasses import dataclass
from typing import Any, Literal, assert_type

from pydantic import BaseModel

from dovetail import Agent, Dovetail, create_agent
from dovetail.agent.fluent import TypedRequest
from dovetail.agent.run import RunStream
from dovetail.events import RunResult
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
assert_type(response.get_result().object, Invoice | None)
assert_type(response.get_data_object().total, float)
assert_type(response.get_text(), str)
assert_type(agent.returns(Door).start(ensure_keys=["width"]), Door)
assert_type(agent.returns(int).start(), int)
assert_type(agent.returns(list[Door]).start(), list[Door])
assert_type(agent.start(), Any)
assert_type(agent.returns(Invoice | Door).start(), Invoice | Door)
assert_type(agent.returns(Door | None).start(), Door | None)
assert_type(agent.returns(Literal["paid", "open"]).start(), Literal["paid", "open"])

result = agent.run("Read it.", returns=Invoice, limits={"turns": 5})
assert_type(result, RunResult[Invoice])
assert_type(result.data.total, float)
assert_type(agent.run("Read it.", returns=Invoice | Door).data, Invoice | Door)
assert_type(agent.run("Read it.", history=result.messages).text, str)
assert_type(agent.run("Read it.").data, Any)
assert_type(agent.returns(list[Door]).run("Read it.").data, list[Door])
assert_type(agent.run_stream("Read it.", returns=Door).result.data, Door)
assert_type(agent.returns(Door).run_stream("Read it."), RunStream[Door])
Agent(tools=[helper.returns(Invoice)])
agent.run("Read it.", limits={"turn": 3})  # type: ignore[arg-type]


async def ask() -> None:
    assert_type(await agent.returns(Invoice).async_start(), Invoice)
    assert_type(await agent.returns(Invoice).async_get_data_object(), Invoice)
    assert_type(await agent.async_get_text(), str)
    assert_type((await agent.async_run("Read it.", returns=Door)).data, Door)
    assert_type((await agent.returns(Door).async_run("Read it.")).data, Door)
    invoice, number = await asyncio.gather(
        agent.returns(Invoice).async_start(), agent.returns(int).async_start()
    )
    assert_type(invoice, Invoice)
    assert_type(number, int)
    async with agent as entered:
        assert_type(entered, Agent)


for piece in agent.input("x").get_generator("delta"):
    assert_type(piece, str)

chat = agent.chat("ann")
assert_type(chat.run("Read it.", returns=Invoice).data, Invoice)
assert_type(chat.run("Read it.").text, str)
assert_type(chat.run_stream("Read it.", returns=Door), RunStream[Door])
