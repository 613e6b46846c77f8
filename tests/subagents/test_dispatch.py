"""Agents as tools: wrapped one by one, or behind one dispatcher."""

import asyncio
from typing import Any

import pytest

from dovetail.errors import ConfigError, ToolError
from dovetail.messages.event import RunStart, ToolEnd, ToolProgress
from dovetail.messages.kind import Kind
from dovetail.subagents.definition import AgentDefinition, InputConfig, RunConfig
from dovetail.subagents.dispatch import DISPATCHER, wrap_agents
from dovetail.subagents.executor import AgentExecutor
from dovetail.subagents.wrapper import SubagentToolWrapper
from dovetail.tools.tool import Tool, ToolContext, ToolResult
from subagents.host import Host, call

TASK = InputConfig(inputs={"task": {"description": "Task to perform", "type": "string", "required": True}})
MY_AGENT = AgentDefinition(name="my_agent", description="Does something useful", input_config=TASK)
PARENT = AgentDefinition(name="parent", description="calls others")


def equip(host: Host, *definitions: AgentDefinition) -> None:
    for definition in definitions:
        host.get_agent_registry().register_agent(definition)
    host.get_tool_registry().publish("agents", wrap_agents(host))


def test_wrapper_looks_like_any_tool() -> None:
    wrapper = SubagentToolWrapper(MY_AGENT, Host([]))
    assert (wrapper.name, wrapper.title, wrapper.kind) == ("my_agent", "my_agent", Kind.Think)
    assert (wrapper.is_output_markdown, wrapper.can_update_output, wrapper.origin) == (True, True, "agent")
    assert wrapper.parameters == {
        "type": "object",
        "properties": {"task": {"type": "string", "description": "Task to perform"}},
        "required": ["task"],
    }


async def test_building_checks_the_inputs_and_executing_runs_the_agent() -> None:
    wrapper = SubagentToolWrapper(MY_AGENT, Host(["It is useful."]))
    with pytest.raises(ToolError, match="task"):
        wrapper.build({})
    invocation = wrapper.build({"task": "Analyze the codebase"})
    assert invocation.get_description() == "my_agent: Analyze the codebase"
    result = await invocation.execute(asyncio.Event())
    assert (result.llm_content, result.return_display) == ("It is useful.", "It is useful.")


async def test_main_agent_calls_a_wrapped_agent_and_its_activity_is_seen() -> None:
    host = Host([call("my_agent", '{"task": "look"}'), call("see", call_id="c2"), "Seen.", "All done."])
    host.runtime.tools.register_tool(_make_tool("see"))
    equip(host, MY_AGENT)
    events: list[Any] = []
    output = await (await AgentExecutor.create(PARENT, host, events.append)).run({"query": "go"})
    assert output.result == "All done."
    progress = [event.output for event in events if isinstance(event, ToolProgress)]
    assert progress[-1]["activity"][0]["status"] == "ok"
    starts = [event.event for event in events if event.type == "subagent-event"]
    assert isinstance(starts[0], RunStart)
    assert starts[0].parent_call_id == "c1"


async def test_agent_that_fails_is_told_to_the_caller_and_the_caller_goes_on() -> None:
    host = Host([call("my_agent", '{"task": "x"}'), call("see", call_id="c2"), "", "It could not."])
    host.runtime.tools.register_tool(_make_tool("see"))
    equip(host, AgentDefinition(**{**_fields(MY_AGENT), "run_config": RunConfig(max_turns=1)}))
    events: list[Any] = []
    output = await (await AgentExecutor.create(PARENT, host, events.append)).run({"query": "go"})
    ended = next(event for event in events if isinstance(event, ToolEnd))
    assert (ended.status, (ended.error or {})["type"]) == ("error", "agent_max_turns")
    assert output.result == "It could not."


async def test_many_agents_stand_behind_one_dispatcher_that_checks_their_inputs() -> None:
    many = [AgentDefinition(name=f"a{n}", description=f"agent {n}", input_config=TASK) for n in range(13)]
    wrong = call(DISPATCHER, '{"name": "a3", "inputs": {}}')
    right = call(DISPATCHER, '{"name": "a3", "inputs": {"task": "x"}}', "c2")
    host = Host([wrong, right, "Third here.", "Done."])
    equip(host, *many)
    assert [tool.name for tool in host.get_tool_registry().get_all_tools()] == [DISPATCHER]
    await (await AgentExecutor.create(PARENT, host)).run({"query": "go"})
    told = [
        message["content"]
        for message in host.runtime.scripted.requests[-1].messages
        if message["role"] == "tool"
    ]
    assert "task" in told[0]
    assert told[1] == "Third here."


async def test_circle_through_the_dispatcher_is_refused() -> None:
    back = call(DISPATCHER, '{"name": "my_agent", "inputs": {"task": "again"}}')
    host = Host([call(DISPATCHER, '{"name": "my_agent", "inputs": {"task": "x"}}'), back, "Enough.", "Done."])
    host.settings.set("subagents.shape", "dispatcher")
    equip(host, MY_AGENT)
    await (await AgentExecutor.create(PARENT, host)).run({"query": "go"})
    told = [m["content"] for m in host.runtime.scripted.requests[2].messages if m["role"] == "tool"]
    assert "circle: parent → my_agent → my_agent" in told[0]


def test_switch_hidden_agents_and_broken_schemas(caplog: pytest.LogCaptureFixture) -> None:
    host = Host([])
    hidden = AgentDefinition(name="hidden", description="h", is_tool=False)
    broken = AgentDefinition(name="broken", description="b", input_config=InputConfig(schema={"type": 5}))
    equip(host, MY_AGENT, hidden, broken)
    assert [tool.name for tool in host.get_tool_registry().get_all_tools()] == ["my_agent"]
    assert "'broken' (code) cannot be a tool" in caplog.text
    host.settings.set("subagents.enabled", False)
    assert wrap_agents(host) == []


def test_unknown_shape_is_an_error() -> None:
    host = Host([])
    host.settings.set("subagents.shape", "pyramid")
    with pytest.raises(ConfigError, match="'pyramid'"):
        wrap_agents(host)


def _make_tool(name: str) -> Tool:
    async def execute(args: dict[str, Any], context: ToolContext) -> ToolResult:
        return ToolResult("seen")

    return Tool(name=name, description=name, parameters={"type": "object"}, execute=execute)


def _fields(definition: AgentDefinition) -> dict[str, Any]:
    return {name: getattr(definition, name) for name in ("name", "description", "input_config")}
