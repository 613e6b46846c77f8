"""Agents as tools: each wrapped by itself."""

import asyncio
from typing import Any

import pytest

from agent_host import Host, call, make_tool, results
from dovetail.agents.as_tool import SubagentToolWrapper
from dovetail.agents.catalog import wrap_agents
from dovetail.agents.definition import AgentDefinition, InputConfig, PromptConfig, RunConfig
from dovetail.agents.run import AgentExecutor
from dovetail.errors import ConfigError, ToolError
from dovetail.events.call import Kind
from dovetail.events.run_events import RunStart, ToolEnd, ToolProgress

TASK = InputConfig(inputs={"task": {"description": "Task to perform", "type": "string", "required": True}})
MY_AGENT = AgentDefinition(name="my_agent", description="Does something useful", input_config=TASK)
PARENT = AgentDefinition(name="parent", description="calls others")


def test_wrapper_looks_like_any_tool() -> None:
    wrapper = SubagentToolWrapper(MY_AGENT, Host([]))
    assert (wrapper.schema.name, wrapper.schema.description) == ("my_agent", "Does something useful")
    assert wrapper.schema.parameters_json_schema == wrapper.parameters
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
    host.runtime.tools.register_tool(make_tool("see"))
    host.offer(MY_AGENT)
    events: list[Any] = []
    output = await (await AgentExecutor.create(PARENT, host, events.append)).run({"query": "go"})
    assert output.result == "All done."
    progress = [event.output for event in events if isinstance(event, ToolProgress)]
    assert progress[-1]["activity"][0]["status"] == "ok"
    starts = [event.event for event in events if event.type == "subagent-event"]
    assert isinstance(starts[0], RunStart)
    assert starts[0].parent_call_id == "c1"


async def test_agent_that_fails_is_reported_to_the_caller_and_the_caller_continues() -> None:
    host = Host([call("my_agent", '{"task": "x"}'), call("see", call_id="c2"), "", "It could not."])
    host.runtime.tools.register_tool(make_tool("see"))
    host.offer(AgentDefinition(**{**_fields(MY_AGENT), "run_config": RunConfig(max_turns=1)}))
    events: list[Any] = []
    output = await (await AgentExecutor.create(PARENT, host, events.append)).run({"query": "go"})
    ended = next(event for event in events if isinstance(event, ToolEnd))
    assert (ended.status, (ended.error or {})["type"]) == ("error", "agent_max_turns")
    assert output.result == "It could not."


def test_switch_hidden_agents_and_broken_schemas(caplog: pytest.LogCaptureFixture) -> None:
    host = Host([])
    hidden = AgentDefinition(name="hidden", description="h", is_tool=False)
    broken = AgentDefinition(name="broken", description="b", input_config=InputConfig(schema={"type": 5}))
    host.offer(MY_AGENT, hidden, broken)
    assert [tool.name for tool in host.get_tool_registry().get_all_tools()] == ["my_agent"]
    assert "Failed to wrap agent 'broken' as a tool: " in caplog.text
    host.settings.set("subagents.enabled", False)
    assert wrap_agents(host) == []


def test_unknown_shape_is_an_error() -> None:
    host = Host([])
    with pytest.raises(ConfigError, match="'pyramid'"):
        host.settings.set("subagents.shape", "pyramid")
    assert wrap_agents(host) == []


def _fields(definition: AgentDefinition) -> dict[str, Any]:
    return {name: getattr(definition, name) for name in ("name", "description", "input_config")}


async def test_child_that_cannot_start_is_reported_and_no_run_begins(
    caplog: pytest.LogCaptureFixture,
) -> None:
    prompt = PromptConfig(query="${mood}")
    sad = AgentDefinition(name="sad", description="s", input_config=TASK, prompt_config=prompt)
    host = Host([call("sad", '{"task": "x"}'), "It could not."])
    host.offer(sad)
    events: list[Any] = []
    output = await (await AgentExecutor.create(PARENT, host, events.append)).run({"query": "go"})
    assert output.result == "It could not."
    assert (
        "Agent 'sad' could not start: Missing values for the template: mood"
        in results(host.runtime.scripted.requests[1])[0]
    )
    assert not [event for event in events if event.type == "subagent-event"]
    assert "crashed" not in caplog.text


async def test_secrets_of_a_childs_calls_are_masked_in_its_activity() -> None:
    login = call("login", '{"user": "ann", "password": "geheim"}', "c2")
    host = Host([call("my_agent", '{"task": "x"}'), login, "In.", "Done."], make_tool("login"))
    host.offer(MY_AGENT)
    heard: list[Any] = []
    host.runtime.bus.subscribe("subagent-activity", lambda message: heard.append(message))
    await (await AgentExecutor.create(PARENT, host)).run({"query": "go"})
    call_item = next(message for message in heard if message.payload["type"] == "tool")
    assert call_item.payload["args"] == {"user": "ann", "password": "***"}
    assert call_item.path == ("my_agent",)


async def test_nothing_goes_over_the_bus_when_it_is_switched_off() -> None:
    host = Host(
        [call("my_agent", '{"task": "x"}'), call("see", call_id="c2"), "Seen.", "Done."], make_tool("see")
    )
    host.settings.set("bus.enabled", False)
    host.offer(MY_AGENT)
    heard: list[Any] = []
    host.runtime.bus.subscribe("*", lambda message: heard.append(message))
    output = await (await AgentExecutor.create(PARENT, host)).run({"query": "go"})
    assert (output.result, heard) == ("Done.", [])
