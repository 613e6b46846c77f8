"""An agent as a tool of another one: `Agent(tools=[helper])`."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest
from pydantic import BaseModel

from dovetail import Agent, Kind, tool
from dovetail.errors import ConfigError
from dovetail.events.run_events import ToolEnd
from dovetail.testing import Gate, ScriptedRequester


def call(name: str, task: str = "go") -> dict[str, Any]:
    return {"tool_calls": [{"name": name, "arguments": {"task": task}}]}


def make_agent(name: str | None, *replies: Any, **options: Any) -> Agent:
    return Agent(name, requester=ScriptedRequester(replies), **options)


def last_message(agent: Agent) -> Mapping[str, Any]:
    requester = agent.requester
    assert isinstance(requester, ScriptedRequester)
    return requester.requests[-1].messages[-1]


def test_caller_reads_the_answer_of_the_agent_it_calls() -> None:
    helper = make_agent("helper", "Oak.", system="You know woods.")
    boss = make_agent("boss", call("helper", "A wood for doors?"), "Take oak.", tools=[helper])
    assert boss.run("Which wood?").text == "Take oak."
    assert last_message(helper)["content"] == "A wood for doors?"
    assert last_message(boss)["content"] == "Oak."


def test_description_is_the_system_prompt_and_can_be_chosen() -> None:
    helper = make_agent("helper", system="You know woods.")
    assert "You know woods." in helper.as_tool().description
    chosen = helper.as_tool(name="carpenter", description="Ask about woods.")
    assert (chosen.name, chosen.description) == ("carpenter", "Ask about woods.")


def test_agent_without_a_name_or_a_description_is_not_a_tool() -> None:
    with pytest.raises(ConfigError, match="needs a name"):
        make_agent("boss", tools=[make_agent(None, system="You help.")])
    with pytest.raises(ConfigError, match="no description"):
        make_agent("boss", tools=[make_agent("helper")])


def test_agent_whose_name_no_tool_may_have_is_refused_with_one_that_it_may_have() -> None:
    with pytest.raises(ConfigError, match=r"(?s)Invalid tool name 'my helper'.*as_tool\(name='my_helper'\)"):
        Agent(tools=[Agent("my helper", system="You help.")])


def test_same_agent_twice_is_one_tool_and_two_of_one_name_are_refused() -> None:
    helper = make_agent("helper", system="You help.")
    assert len(make_agent("boss", tools=[helper, helper]).tools) == 1
    with pytest.raises(ConfigError, match="Duplicate tool name 'helper'"):
        make_agent("boss", tools=[helper, make_agent("helper", system="Another one.")])


class Quote(BaseModel):
    item: str
    price: float


def test_agent_that_returns_a_type_is_a_tool_with_a_typed_result() -> None:
    handed_in = {
        "tool_calls": [{"name": "complete_task", "arguments": {"result": {"item": "oak", "price": 3}}}]
    }
    pricer = make_agent("pricer", handed_in, system="You find prices.", tools=[len])
    boss = make_agent("boss", call("pricer", "Oak?"), "3 euros.", tools=[pricer.returns(Quote)])
    ends = [event for event in boss.run_stream("What is oak?") if isinstance(event, ToolEnd)]
    assert ends[0].result["data"] == {"item": "oak", "price": 3.0}
    assert last_message(boss)["content"] == '{"item": "oak", "price": 3.0}'


def test_failure_of_a_typed_agent_is_a_failed_call_with_the_reason() -> None:
    pricer = make_agent("pricer", *["No idea."] * 4, system="You find prices.").returns(Quote)
    boss = make_agent("boss", call("pricer", "Oak?"), "I do not know.", tools=[pricer])
    assert boss.run("What is oak?").text == "I do not know."
    assert "contains no JSON object" in last_message(boss)["content"]


def test_typed_tool_refuses_what_is_set_for_one_request_only() -> None:
    request = make_agent("pricer", system="You find prices.").info("In euros.").returns(Quote)
    with pytest.raises(ConfigError, match="next request only"):
        make_agent("boss", tools=[request])


def test_agents_that_call_each_other_in_a_circle_are_stopped() -> None:
    first = make_agent("first", call("second"), "Done.", system="First.")
    second = make_agent("second", call("first"), "Back.", system="Second.", tools=[first])
    first.use_tools(second)
    assert first.run("Go.").text == "Done."
    assert "in a circle: first → second → first" in last_message(second)["content"]


def test_limits_of_the_caller_hold_for_the_agents_below_it() -> None:
    helper = make_agent("helper", "One.", "Two.", system="You help.")
    boss = make_agent("boss", call("helper"), call("helper"), "Enough.", tools=[helper])
    result = boss.run("Go.", limits={"calls": 3})
    requester = helper.requester
    assert isinstance(requester, ScriptedRequester)
    assert (len(requester.requests), result.limit or result.reason) == (1, "max-calls")


def test_agent_asks_whom_its_caller_may_ask() -> None:
    @tool(kind=Kind.Write)
    def paint(colour: str) -> str:
        """Paint the door."""
        return f"painted {colour}"

    painter = make_agent(
        "painter",
        {"tool_calls": [{"name": "paint", "arguments": {"colour": "red"}}]},
        "It is red.",
        system="You paint.",
        tools=[paint],
    )
    boss = make_agent("boss", call("painter"), "Done.", tools=[painter])
    asked: list[str] = []

    async def ask(kind: str, call_id: str, payload: Mapping[str, Any], *_: Any) -> Mapping[str, Any]:
        asked.append(payload["tool"])
        return {"approved": True}

    assert boss.run("Paint it.", ask=ask).text == "Done."
    assert (asked, last_message(painter)["content"]) == (["paint"], "painted red")


async def test_stopping_the_caller_stops_the_agent_it_waits_for() -> None:
    gate = Gate()
    helper = make_agent("helper", ["Hm ", gate], system="You help.")
    boss = make_agent("boss", call("helper"), tools=[helper])
    run = asyncio.create_task(boss.async_run("Go."))
    await gate.reached.async_wait()
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_one_agent_works_for_two_callers_at_a_time() -> None:
    helper = make_agent(
        "helper", {"when": "door", "text": "Oak."}, {"when": "boat", "text": "Teak."}, system="You help."
    )
    bosses = [
        make_agent(f"boss-{what}", call("helper", what), "Done.", tools=[helper]) for what in ("door", "boat")
    ]
    await asyncio.gather(*(boss.async_run("Go.") for boss in bosses))
    assert [last_message(boss)["content"] for boss in bosses] == ["Oak.", "Teak."]
