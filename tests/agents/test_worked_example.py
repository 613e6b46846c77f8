"""One agent, from its definition to the answer that its caller reads."""

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from agent_host import Host, call, make_tool, results
from dovetail.agents.as_tool import SubagentInvocation, SubagentToolWrapper
from dovetail.agents.definition import AgentDefinition, InputConfig
from dovetail.agents.run import AgentExecutor
from dovetail.app import Dovetail
from dovetail.errors import ConfigError, ToolError
from dovetail.events.call import Kind
from dovetail.policy import MessageBus
from dovetail.tools import BaseDeclarativeTool, ToolResult

TASK = {"task": {"description": "Task to perform", "type": "string", "required": True}}
MY_AGENT = AgentDefinition(
    name="my_agent", description="Does something useful", input_config=InputConfig(inputs=TASK)
)
OTHER = AgentDefinition(
    name="other", description="Does something else", input_config=InputConfig(inputs=TASK)
)
MAIN = AgentDefinition(name="main", description="Talks to people")
SEEN = {
    "type": "object",
    "properties": {"task": {"type": "string", "description": "Task to perform"}},
    "required": ["task"],
}


async def test_registered_agent_is_a_tool_that_the_main_agent_sees(tmp_path: Path) -> None:
    app = Dovetail(workspace=tmp_path)
    app.get_agent_registry().register_agent(MY_AGENT)
    async with app:
        tool = app.get_tool_registry().get_tool("my_agent")
    assert isinstance(tool, SubagentToolWrapper)
    assert (tool.name, tool.description, tool.parameters) == ("my_agent", "Does something useful", SEEN)
    assert (tool.spec.name, tool.spec.description, tool.spec.parameters) == (
        "my_agent",
        "Does something useful",
        SEEN,
    )


async def test_call_of_the_main_agent_runs_the_sub_agent_and_returns_its_result() -> None:
    host = Host(
        [call("my_agent", '{"task": "Analyze the codebase"}'), "Three modules.", "It has three modules."]
    )
    host.offer(MY_AGENT)
    output = await (await AgentExecutor.create(MAIN, host)).run({"query": "What is in there?"})
    assert output.result == "It has three modules."
    first, inner, last = host.runtime.scripted.requests
    assert [(tool.name, tool.parameters) for tool in first.tools] == [("my_agent", SEEN)]
    assert "Analyze the codebase" in str(inner.messages)
    assert results(last) == ["Three modules."]


async def test_wrong_arguments_are_refused_before_the_agent_runs() -> None:
    host = Host([call("my_agent", '{"job": 1}'), "I shall ask otherwise."])
    host.offer(MY_AGENT)
    await (await AgentExecutor.create(MAIN, host)).run({"query": "go"})
    assert len(host.runtime.scripted.requests) == 2
    assert "task" in results(host.runtime.scripted.requests[1])[0]


def test_display_name_falls_back_to_the_name() -> None:
    named = AgentDefinition(name="my_agent", description="d", display_name="My Agent")
    assert SubagentToolWrapper(named, Host([])).title == "My Agent"
    assert SubagentToolWrapper(MY_AGENT, Host([])).title == "my_agent"


def test_wrapper_is_a_declarative_tool_that_thinks_in_markdown_and_streams() -> None:
    wrapper = SubagentToolWrapper(MY_AGENT, Host([]))
    assert isinstance(wrapper, BaseDeclarativeTool)
    assert wrapper.kind is Kind.Think
    assert (wrapper.is_output_markdown, wrapper.can_update_output) == (True, True)


async def test_build_returns_an_invocation_and_execute_a_tool_result() -> None:
    bus = MessageBus()
    wrapper = SubagentToolWrapper(MY_AGENT, Host(["Done."]), bus)
    invocation = wrapper.build({"task": "look"})
    assert isinstance(invocation, SubagentInvocation)
    assert dict(invocation.params) == {"task": "look"}
    updates: list[Any] = []
    result = await invocation.execute(asyncio.Event(), updates.append)
    assert isinstance(result, ToolResult)
    assert (result.llm_content, result.return_display, result.error) == ("Done.", "Done.", None)
    for wrong in ({}, {"task": 5}):
        with pytest.raises(ToolError, match="task"):
            wrapper.build(wrong)


def offered(**settings: Any) -> list[str]:
    host = Host([])
    for name, value in settings.items():
        host.settings.set(name.replace("__", "."), value)
    host.offer(MY_AGENT, OTHER)
    return [tool.name for tool in host.get_tool_registry().get_all_tools()]


def test_lists_of_the_settings_say_which_agents_are_tools() -> None:
    assert offered() == ["my_agent", "other"]
    assert offered(tools__allowed=["other"]) == ["other"]
    assert offered(tools__allowed=[]) == []
    assert offered(tools__excluded=["other"]) == ["my_agent"]
    assert offered(tools__allowed=["my_agent", "other"], tools__excluded=["my_agent"]) == ["other"]
    assert offered(subagents__enabled=False) == []


def test_settings_that_change_later_hold_for_the_next_look(tmp_path: Path) -> None:
    app = Dovetail(workspace=tmp_path)
    for definition in (MY_AGENT, OTHER):
        app.get_agent_registry().register_agent(definition)

    def names(key: str, value: Any) -> list[str]:
        app.settings.set(key, value)
        return [tool.name for tool in app.get_tool_registry().snapshot()]

    assert names("tools.excluded", ["other"]) == ["my_agent"]
    assert names("tools.excluded", []) == ["my_agent", "other"]
    assert names("tools.allowed", ["other"]) == ["other"]
    assert names("tools.allowed", None) == ["my_agent", "other"]
    assert names("subagents.enabled", False) == []
    assert names("subagents.enabled", True) == ["my_agent", "other"]
    assert names("bus.enabled", False) == ["my_agent", "other"]
    tool = app.get_tool_registry().get_tool("other")
    assert isinstance(tool, SubagentToolWrapper)
    assert tool.message_bus is None


@pytest.mark.parametrize("key", ["tools.allowed", "tools.excluded"])
def test_list_of_tools_that_is_one_text_is_an_error(key: str, tmp_path: Path) -> None:
    app = Dovetail(workspace=tmp_path)
    app.get_agent_registry().register_agent(MY_AGENT)
    with pytest.raises(ConfigError, match=f"{key} must be a list of tool names, got 'my_agent'"):
        app.settings.set(key, "my_agent")
    assert app.get_tool_registry().snapshot().get("my_agent") is not None


def test_fluent_agent_finds_an_agent_by_name_as_soon_as_it_is_registered(tmp_path: Path) -> None:
    app = Dovetail(workspace=tmp_path)
    app.get_agent_registry().register_agent(MY_AGENT)
    assert list(app.create_agent().use_tools("my_agent").tools.tools) == ["my_agent"]


def test_wrapper_that_is_registered_by_hand_is_the_tool(tmp_path: Path) -> None:
    app, bus = Dovetail(workspace=tmp_path), MessageBus()
    app.get_agent_registry().register_agent(MY_AGENT)
    wrapper = SubagentToolWrapper(MY_AGENT, app, bus)
    app.get_tool_registry().register_tool(wrapper)
    assert app.get_tool_registry().get_tool("my_agent") is wrapper
    app.get_agent_registry().register_agent(OTHER)
    assert app.get_tool_registry().get_tool("my_agent") is wrapper
    assert [tool.name for tool in app.get_tool_registry().snapshot()] == ["my_agent", "other"]


def test_agents_may_be_registered_from_many_threads(tmp_path: Path) -> None:
    app = Dovetail({"subagents": {"shape": "tools"}}, workspace=tmp_path)

    def register(number: int) -> bool:
        definition = AgentDefinition(name=f"a{number}", description="Helps.")
        app.get_agent_registry().register_agent(definition)
        return app.get_tool_registry().get_tool(definition.name) is not None

    with ThreadPoolExecutor(16) as pool:
        assert all(pool.map(register, range(200)))
    assert len(app.get_tool_registry().snapshot()) == 200


def test_tool_may_not_take_the_name_of_an_agent_that_was_just_registered(tmp_path: Path) -> None:
    app = Dovetail(workspace=tmp_path)
    app.get_agent_registry().register_agent(MY_AGENT)
    with pytest.raises(ConfigError, match="Duplicate tool name 'my_agent'"):
        app.get_tool_registry().register_tool(make_tool("my_agent"))


def test_agent_that_cannot_be_wrapped_is_logged_and_the_others_are_registered(
    caplog: pytest.LogCaptureFixture,
) -> None:
    host = Host([])
    broken = AgentDefinition(name="broken", description="b", input_config=InputConfig(schema={"type": 5}))
    host.offer(broken, MY_AGENT)
    assert [tool.name for tool in host.get_tool_registry().get_all_tools()] == ["my_agent"]
    assert [record.levelno for record in caplog.records] == [logging.ERROR]
    assert "Failed to wrap agent 'broken' as a tool: " in caplog.text


@pytest.mark.parametrize("enabled", [True, False])
def test_wrapper_gets_the_bus_when_it_is_enabled(enabled: bool) -> None:
    host = Host([])
    host.settings.set("bus.enabled", enabled)
    host.offer(MY_AGENT)
    [tool] = host.get_tool_registry().get_all_tools()
    assert isinstance(tool, SubagentToolWrapper)
    assert tool.message_bus is (host.runtime.bus if enabled else None)


def test_kinds_and_those_that_change_nothing() -> None:
    assert [kind.name for kind in Kind] == [
        "Read",
        "Write",
        "Edit",
        "Delete",
        "Move",
        "Search",
        "Execute",
        "Think",
        "Fetch",
        "Communicate",
        "Other",
    ]
    assert [kind for kind in Kind if kind.is_read_only] == [Kind.Read, Kind.Search, Kind.Think, Kind.Fetch]
