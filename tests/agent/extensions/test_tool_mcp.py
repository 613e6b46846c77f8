"""An agent uses the tools of a real MCP server, given in sync and in async code."""

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest

from dovetail import Agent
from dovetail.agent.runtime import Runtime
from dovetail.concurrency import run_sync
from dovetail.errors import ConfigError
from dovetail.testing import ScriptedRequester

pytestmark = pytest.mark.slow

SERVER = Path(__file__).parents[2] / "tools" / "mcp" / "shed_server.py"
TRANSPORT = {
    "mcpServers": {"shed": {"command": sys.executable, "args": [str(SERVER)], "allow": ["add", "fail"]}}
}
PLAN = '{"use_tool": true, "tool_command": {"purpose": "sum", "tool_name": "add", "tool_kwargs": {"a": 3}}}'


def make_agent(*replies: Any, runtime: Runtime | None = None) -> tuple[Agent, ScriptedRequester]:
    requester = ScriptedRequester(replies)
    return Agent(requester=requester, runtime=runtime or Runtime()), requester


async def test_async_agent_judges_calls_and_answers() -> None:
    agent, requester = make_agent(PLAN, "It is 5.")
    await agent.async_use_mcp(TRANSPORT)
    try:
        response = agent.input("3 + 2?").get_response()
        assert await response.async_get_text() == "It is 5."
        assert [tool.name for tool in agent.tools] == ["add", "fail"]
        assert response.extra["tool_logs"][0]["result"] == {"result": 5}
        assert "Add two numbers" in str(requester.requests[0].messages[-1]["content"])
    finally:
        await agent.runtime.manager.async_close()


def test_sync_agent_runs_with_the_tools_and_sees_their_errors() -> None:
    calls = [
        {"tool_calls": [{"call_id": name, "name": name, "arguments": arguments}]}
        for name, arguments in (("add", {"a": 3}), ("fail", {}))
    ]
    agent, requester = make_agent(*calls, "It is 5, and one failed.")
    try:
        outcome = agent.use_mcp(TRANSPORT).run("3 + 2?")
    finally:
        run_sync(agent.runtime.manager.async_close())
    assert outcome.reason == "goal"
    told = [message["content"] for message in requester.requests[-1].messages if message["role"] == "tool"]
    assert "5" in told[0]
    assert "Error executing tool fail" in told[1]


async def test_tools_of_a_server_belong_to_the_agent_that_was_given_them() -> None:
    runtime = Runtime()
    agent, _ = make_agent(runtime=runtime)
    other, _ = make_agent(runtime=runtime)
    await agent.async_use_mcp(TRANSPORT)
    try:
        assert (len(agent.tools), len(other.tools)) == (2, 0)
        await other.async_use_mcp(TRANSPORT)
        assert len(other.tools) == 2
    finally:
        await runtime.manager.async_close()


async def test_server_that_is_not_there_is_a_clear_error() -> None:
    agent, _ = make_agent()
    with pytest.raises(ConfigError, match="MCP server 'gone' cannot be reached"):
        await agent.async_use_mcp({"mcpServers": {"gone": {"command": "no-such-program-here"}}})


async def test_agents_share_a_connection_that_stays_open_for_the_last_of_them() -> None:
    runtime = Runtime()
    (first, _), (second, _) = make_agent(runtime=runtime), make_agent(PLAN, "It is 5.", runtime=runtime)
    async with second:
        async with first:
            await asyncio.gather(first.async_use_mcp(TRANSPORT), second.async_use_mcp(TRANSPORT))
            assert [tool.name for tool in first.tools] == ["add", "fail"]
        assert len(first.tools) == 0
        assert await second.input("3 + 2?").async_start() == "It is 5."


async def test_own_tool_and_that_of_a_server_have_two_names() -> None:
    agent, _ = make_agent()
    async with agent:
        await agent.async_use_mcp(TRANSPORT)
        agent.register_tool("add", "Add.", {}, lambda: "own")
        assert sorted(tool.name for tool in agent.tools) == ["add", "fail", "shed_add"]


async def test_tools_have_the_names_of_their_server_whatever_other_agents_use_or_used() -> None:
    runtime = Runtime()
    (first, _), (second, _) = make_agent(runtime=runtime), make_agent(PLAN, "It is 5.", runtime=runtime)
    server = {**TRANSPORT["mcpServers"]["shed"], "env": {"SHED": "another"}}
    async with second:
        async with first:
            await first.async_use_mcp(TRANSPORT)
            await second.async_use_mcp({"mcpServers": {"barn": server}})
            assert [tool.name for tool in second.tools] == ["add", "fail"]
            assert next(iter(first.tools)) is not next(iter(second.tools))
            await first.async_use_mcp({"mcpServers": {"barn": server}})
            assert [tool.name for tool in first.tools] == ["add", "fail", "barn_add", "barn_fail"]
        assert await second.input("3 + 2?").async_start() == "It is 5."


async def test_a_name_that_is_excluded_is_not_given_to_a_tool_of_a_server() -> None:
    runtime = Runtime()
    (first, _), (second, _) = make_agent(runtime=runtime), make_agent(runtime=runtime)
    server = {**TRANSPORT["mcpServers"]["shed"], "env": {"SHED": "another"}}
    async with first, second:
        await first.async_use_mcp(TRANSPORT)
        await second.async_use_mcp({"mcpServers": {"barn": server}})
        runtime.manager.registry.limit(None, ["add"])
        assert [tool.name for tool in second.tools] == ["barn_add", "fail"]
