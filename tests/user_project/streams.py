"""Streams: events are a union that `match` and comparisons narrow."""

from typing import Any, assert_type

from dovetail import Agent
from dovetail.errors import ModelError
from dovetail.events import ChildEvent, Delta, Event, RunEnd, RunResult, TextDeltaEvent, ToolEnd, Usage
from dovetail.response import FieldEvent

agent = Agent()


async def follow() -> None:
    stream = agent.run_stream("Count.", limits={"turns": 3})
    async for event in stream:
        assert_type(show(event), str)
    assert_type(stream.result, RunResult)
    assert_type(stream.result.text, str)
    async with agent.run_stream("Again.") as entered:
        async for event in entered:
            if event.type == "tool-end":
                assert_type(event, ToolEnd)
    async for piece in agent.input("x").async_get_generator("delta"):
        assert_type(piece, str)
    async for field in agent.input("x").async_get_generator("instant"):
        assert_type(field, FieldEvent)
    async for delta in agent.input("x").async_get_generator("original"):
        assert_type(delta, Delta)
    async for pair in agent.input("x").async_get_generator("specific", specific=["done"]):
        assert_type(pair, tuple[str, Any])


def show(event: Event) -> str:
    match event:
        case TextDeltaEvent(delta=text):
            return text
        case ToolEnd(call_id=call_id, status="ok"):
            return call_id
        case RunEnd(reason=reason, usage=usage):
            assert_type(usage, Usage)
            return reason
        case ChildEvent(event=inner):
            return show(inner)
        case _:
            return event.type


for event in agent.run_stream("Once more."):
    assert_type(event.type == "run-end", bool)


def explain(error: ModelError) -> str:
    assert_type(error.status, int | None)
    return f"{error.provider}: {error.message}"


agent.run_stream("x", limit=3)  # type: ignore[call-arg]
