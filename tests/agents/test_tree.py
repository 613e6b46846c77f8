"""Agents below agents: one budget, one set of rights, one way to a person."""

import asyncio
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import pytest

from agent_host import Host, call, make_tool, results
from dovetail.agents.definition import AgentDefinition, RunConfig, ToolConfig
from dovetail.agents.dispatcher import make_dispatcher
from dovetail.agents.run import AgentExecutor
from dovetail.events.call import Kind
from dovetail.events.run_context import current_run
from dovetail.events.run_events import ChildEvent, Event, RunEnd, ToolEnd
from dovetail.events.tool_context import ToolContext
from dovetail.loop.budget import BudgetLimits
from dovetail.tools.tool import Tool
from patience import PATIENCE

TASK = '{"query": "x"}'
USED = {"usage": {"input_tokens": 10, "output_tokens": 1}}


def make(name: str, *tools: str, **config: Any) -> AgentDefinition:
    return AgentDefinition(name=name, description=name, tool_config=ToolConfig(tools=tools), **config)


def both(*calls: dict[str, Any]) -> dict[str, Any]:
    return {"tool_calls": [made for one in calls for made in one["tool_calls"]]}


def unwrap(event: Event) -> tuple[int, Event]:
    depth = 0
    while isinstance(event, ChildEvent):
        depth, event = depth + 1, event.event
    return depth, event


async def test_three_levels_share_one_budget() -> None:
    host = Host(
        [
            {**call("mid", TASK), **USED},
            {**call("leaf", TASK, "c2"), **USED},
            {**call("look", call_id="c3"), **USED},
            {"text": "Leaf's best.", **USED},
            {"text": "Mid's best.", **USED},
            {"text": "Root's best.", **USED},
        ],
        make_tool("look"),
    )
    host.offer(make("mid", "leaf", "look"), make("leaf", "look"))
    root = make("root", "mid", "leaf", "look", run_config=RunConfig(max_tokens=33))
    events: list[Event] = []
    output = await (await AgentExecutor.create(root, host, events.append)).run({"query": "go"})
    assert (output.result, output.limit) == ("Root's best.", "max-tokens")
    assert len(host.runtime.scripted.requests) == 6
    assert (output.usage.input_tokens, output.usage.output_tokens) == (60, 6)
    told = results(host.runtime.scripted.requests[-1])[0]
    assert "The limit of 33 tokens of an agent above this one is reached." in told
    ends = [
        (depth, event.usage.input_tokens) for depth, event in map(unwrap, events) if isinstance(event, RunEnd)
    ]
    assert ends == [(2, 20), (1, 40), (0, 60)]


async def test_tree_is_not_deeper_than_its_limit() -> None:
    names = ["b", "c", "d", "e"]
    calls = [call(name, TASK, f"c{name}") for name in names]
    answers = ["d alone.", "c done.", "b done.", "a done."]
    host = Host([*calls, *answers])
    host.offer(*(make(name, *names) for name in names))
    await (await AgentExecutor.create(make("a", *names), host)).run({"query": "go"})
    told = results(host.runtime.scripted.requests[4])[0]
    assert "Agent 'e' could not start: The depth limit for sub-agents is reached." in told
    assert "Raise `max_depth` of the agent, or the setting `subagents.max_depth`." in told
    assert BudgetLimits().depth == 3


async def test_run_has_no_more_children_than_its_width() -> None:
    width = 3
    turns: list[Any] = []
    for number in range(width + 1):
        turns.append(call("child", f'{{"query": "{number}"}}', f"c{number}"))
        if number < width:
            turns.append(f"Answer {number}.")
    host = Host([*turns, "Done."])
    host.offer(make("child"))
    parent = make("parent", "child", run_config=RunConfig(max_children=width))
    await (await AgentExecutor.create(parent, host)).run({"query": "go"})
    told = results(host.runtime.scripted.requests[-1])
    assert told[:-1] == [f"Answer {number}." for number in range(width)]
    assert f"The limit of {width} children is reached" in told[-1]


@pytest.mark.parametrize(
    ("setting", "complaint"),
    [
        ("subagents.max_depth", "depth limit"),
        ("subagents.max_children", "limit of 0 children"),
        ("subagents.max_subagents", "limit of 0 sub-agents in the whole run"),
    ],
)
async def test_settings_limit_the_tree(setting: str, complaint: str) -> None:
    host = Host([call("child", TASK), "Alone."])
    host.offer(make("child"))
    host.settings.set(setting, 0)
    await (await AgentExecutor.create(make("parent", "child"), host)).run({"query": "go"})
    assert complaint in results(host.runtime.scripted.requests[-1])[0]


async def test_twelve_files_are_summarised_one_after_the_other_with_turns_to_spare() -> None:
    turns: list[Any] = []
    for number in range(12):
        turns += [call("child", f'{{"query": "{number}"}}', f"c{number}")]
        turns += [call("look", call_id=f"l{number}"), f"Summary {number}."]
    host = Host([*turns, "All twelve."], make_tool("look"))
    host.offer(make("child", "look"))
    output = await (await AgentExecutor.create(make("parent", "*"), host)).run({"query": "go"})
    assert (output.result, output.limit, output.turns) == ("All twelve.", None, 13)
    told = results(host.runtime.scripted.requests[-1])
    assert told == [f"Summary {number}." for number in range(12)]


async def test_twelve_files_are_summarised_in_one_turn() -> None:
    calls = [call("child", f'{{"query": "file {number}"}}', f"c{number}") for number in range(12)]
    host = Host([both(*calls), *(f"Summary {number}." for number in range(12)), "All twelve."])
    host.offer(make("child"))
    output = await (await AgentExecutor.create(make("parent", "*"), host)).run({"query": "go"})
    assert (output.result, output.limit, output.turns) == ("All twelve.", None, 2)
    assert sorted(results(host.runtime.scripted.requests[-1])) == sorted(
        f"Summary {number}." for number in range(12)
    )


async def test_grandchild_has_no_more_than_all_above_it_have() -> None:
    host = Host(
        [call("mid", TASK), call("leaf", TASK, "c2"), call("wipe", call_id="c3"), "No.", "Mid.", "Root."]
    )
    for name in ("look", "wipe"):
        host.runtime.tools.register_tool(make_tool(name))
    host.offer(make("mid", "leaf", "look"), make("leaf", "look", "wipe"))
    output = await (await AgentExecutor.create(make("root", "*"), host)).run({"query": "go"})
    assert output.result == "Root."
    requests = host.runtime.scripted.requests
    assert [spec.name for spec in requests[2].tools] == ["look"]
    assert "Unknown tool 'wipe'" in results(requests[3])[0]


async def test_child_asks_for_approval_while_its_sibling_runs_to_its_end() -> None:
    host = Host(
        [
            both(call("asker", '{"query": "ask"}', "c1"), call("worker", '{"query": "work"}', "c2")),
            {"when": "ask", **call("write", '{"text": "x"}', "c3")},
            {"when": "work", "text": "Worked."},
            {"when": "write ran", "text": "Written."},
            "Both are done.",
        ],
        make_tool("write", kind=Kind.Write),
    )
    host.offer(make("asker", "write"), make("worker"))
    worked = asyncio.Event()
    asked: list[tuple[str, Mapping[str, Any]]] = []
    events: list[Event] = []

    def watch(event: Event) -> None:
        events.append(event)
        if isinstance(event, ToolEnd) and event.call_id == "c2":
            worked.set()

    async def ask(kind: str, call_id: str, payload: Mapping[str, Any], limit: float | None) -> Any:
        asked.append((call_id, payload))
        await asyncio.wait_for(worked.wait(), PATIENCE)
        return {"approved": True}

    parent = make("parent", "asker", "worker", "write")
    output = await (await AgentExecutor.create(parent, host, watch, ask=ask)).run({"query": "go"})
    assert output.result == "Both are done."
    assert [(call_id, payload["agent_path"], payload["tool"]) for call_id, payload in asked] == [
        ("c3", ["parent", "asker"], "write")
    ]
    assert results(host.runtime.scripted.requests[-1]) == ["Written.", "Worked."]
    wrote = [
        event for _, event in map(unwrap, events) if isinstance(event, ToolEnd) and event.call_id == "c3"
    ]
    assert [event.status for event in wrote] == ["ok"]


async def test_two_agents_that_write_run_one_after_the_other() -> None:
    order: list[str] = []

    async def write(args: dict[str, Any], context: ToolContext) -> str:
        order.append(f"{context.scope.agent_path[-1]} begins")
        await asyncio.sleep(0)
        order.append(f"{context.scope.agent_path[-1]} ends")
        return "written"

    tool = Tool(name="write", description="w", parameters={"type": "object"}, execute=write, kind=Kind.Other)
    host = Host(
        [
            both(call("one", '{"query": "first"}', "c1"), call("two", '{"query": "second"}', "c2")),
            {"when": "first", **call("write", call_id="c3")},
            {"when": "written", "text": "Done.", "repeat": True},
            {"when": "second", **call("write", call_id="c4")},
        ],
        tool,
    )
    host.offer(make("one", "write"), make("two", "write"))
    await (await AgentExecutor.create(make("root", "*"), host)).run({"query": "go"})
    assert order == ["one begins", "one ends", "two begins", "two ends"]
    kinds = {tool.name: tool.is_read_only for tool in host.get_tool_registry().snapshot()}
    assert kinds == {"write": False, "one": False, "two": False}


def test_agent_is_read_only_if_all_its_tools_are() -> None:
    host = Host([], make_tool("look"), make_tool("write", kind=Kind.Write))
    host.offer(make("reader", "look"), make("talker"), make("writer", "*"), make("boss", "reader", "writer"))
    tools = host.get_tool_registry().snapshot().tools
    read_only = {name for name, tool in tools.items() if tool.is_read_only}
    assert read_only == {"look", "reader", "talker", "boss"}
    assert make_dispatcher([tools["reader"], tools["talker"]]).is_read_only
    assert not make_dispatcher([tools["reader"], tools["writer"]]).is_read_only


async def test_declined_call_of_a_child_is_reported_to_the_child_which_continues() -> None:
    host = Host(
        [call("asker", TASK), call("write", call_id="c2"), "I may not write.", "It may not."],
        make_tool("write", kind=Kind.Write),
    )
    host.offer(make("asker", "write"))

    async def ask(kind: str, call_id: str, payload: Mapping[str, Any], limit: float | None) -> Any:
        return {"approved": False, "value": "not on Sundays"}

    parent = make("parent", "asker", "write")
    output = await (await AgentExecutor.create(parent, host, ask=ask)).run({"query": "go"})
    assert output.result == "It may not."
    told = results(host.runtime.scripted.requests[2])[0]
    assert "not on Sundays" in told
    assert "say in your result what blocks you" in told


async def test_clock_of_the_whole_tree_stands_still_while_a_person_thinks() -> None:
    host = Host(
        [call("asker", TASK), call("write", call_id="c2"), "Written.", "Done."],
        make_tool("write", kind=Kind.Write),
    )
    host.offer(make("asker", "write"))
    paused: list[bool] = []

    async def ask(kind: str, call_id: str, payload: Mapping[str, Any], limit: float | None) -> Any:
        run = current_run()
        budget = run.budget if run else None
        while budget is not None:
            paused.append(budget.is_paused)
            budget = budget.parent
        return {"approved": True}

    parent = make("parent", "asker", "write")
    await (await AgentExecutor.create(parent, host, ask=ask)).run({"query": "go"})
    assert paused == [True, True]


async def test_same_script_plays_the_same_events_twice() -> None:
    first, second = await _play(), await _play()
    assert first == second
    assert len(first) > 20


async def _play() -> list[Any]:
    host = Host(
        [
            both(call("one", '{"query": "first"}', "c1"), call("two", '{"query": "second"}', "c2")),
            {"when": "first", **call("look", call_id="c3")},
            {"when": "second", "reasoning": "Hm.", "text": "Two is done.", "cut": 3},
            {"when": "look ran", "text": "One is done.", "cut": 4},
            call("nothing", call_id="c4"),
            "All done.",
        ],
        make_tool("look"),
    )
    host.offer(make("one", "look"), make("two"))
    events: list[Event] = []
    await (await AgentExecutor.create(make("root", "*"), host, events.append)).run({"query": "go"})
    return _without_ids(events, {})


def _without_ids(value: Any, seen: dict[str, str]) -> Any:
    """Events as data: run ids numbered in the order of their appearance, durations left out."""
    if is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in fields(value) if field.compare and field.name != "duration"]
        return [type(value).__name__, *(_without_ids(getattr(value, name), seen) for name in names)]
    if isinstance(value, Mapping):
        return {key: _without_ids(item, seen) for key, item in value.items() if key != "duration"}
    if isinstance(value, list | tuple):
        return [_without_ids(item, seen) for item in value]
    if isinstance(value, str) and value.startswith("run_"):
        return seen.setdefault(value, f"run {len(seen)}")
    return value
