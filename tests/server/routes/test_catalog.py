"""Agents, tools and models over HTTP, and the sources that failed."""

from pathlib import Path

import pytest

from dovetail.events.call import Kind
from dovetail.tools.makers.function import make_tool
from serving import Serving, serve

SCOUT = "---\ndescription: Looks.\ntools: [read_*]\n---\nLook.\n"


async def test_agents_are_listed_with_the_tools_they_name_and_with_broken_files(
    tmp_path: Path,
) -> None:
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "scout.md").write_text(SCOUT)
    (tmp_path / "agents" / "bad.md").write_text("nothing")
    async with serve(tmp_path) as server:
        listed = await server.get("/api/v1/agents")
    tools = {agent["name"]: agent["tools"] for agent in listed["agents"]}
    assert (tools["scout"], tools["master"], tools["summarizer"]) == (["read_*"], ["*"], [])
    assert [Path(error["path"]).name for error in listed["errors"]] == ["bad.md"]
    assert listed["notices"] == []


async def test_agent_that_names_an_unknown_tool_is_reported_in_the_list_and_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "scout.md").write_text(SCOUT.replace("read_*", "read_fil, gone_*, load_skill"))
    async with serve(tmp_path) as server:
        [notice] = (await server.get("/api/v1/agents"))["notices"]
    assert notice.endswith("scout.md:3: Unknown tool 'read_fil'. Did you mean 'read_file'?")
    assert notice in caplog.text


CLERK = "---\ndescription: Counts.\ntools: [count, read_*, write_file]\n---\nCount.\n"
NO_SECRETS = """[[rule]]
action = "deny"
tool = "read_file"
agent = "clerk"

[[rule]]
action = "deny"
tool = "count"
arguments = { item = "gold" }
"""


def count(item: str) -> int:
    """Count an item."""
    return len(item)


async def _name_tools(server: Serving, query: str) -> list[str]:
    return [tool["name"] for tool in (await server.get(f"/api/v1/tools?{query}"))["tools"]]


async def test_tools_of_an_agent_are_those_that_settings_and_policy_leave_it(tmp_path: Path) -> None:
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "clerk.md").write_text(CLERK)
    (tmp_path / "policy.toml").write_text(NO_SECRETS)
    settings = {"tools": {"excluded": ["read_artifact"]}}
    counter = make_tool(count, kind=Kind.Read)
    async with serve(tmp_path, tools=[counter], settings=settings) as server:
        assert await _name_tools(server, "agent=clerk") == ["count", "write_file"]
        assert await _name_tools(server, "agent=clerk&mode=plan") == ["count"]
        assert "read_file" in await _name_tools(server, "agent=master")
        assert await _name_tools(server, "agent=summarizer") == []


async def test_tools_of_an_unknown_agent_or_mode_are_refused_with_the_known_ones(tmp_path: Path) -> None:
    async with serve(tmp_path) as server:
        unknown = await server.client.get("/api/v1/tools?agent=nobody")
        freer = await server.client.get("/api/v1/tools?agent=master&mode=free")
    assert (unknown.status_code, freer.status_code) == (400, 400)
    assert "summarizer" in unknown.text
    assert "plan" in freer.text


@pytest.mark.slow
async def test_unreachable_mcp_server_is_reported_with_the_tools(tmp_path: Path) -> None:
    settings = {"mcp": {"servers": {"gone": {"command": "no-such-program-here"}}}}
    async with serve(tmp_path, settings=settings) as server:
        listed = await server.get("/api/v1/tools")
    assert "read_artifact" in [tool["name"] for tool in listed["tools"]]
    [error] = listed["errors"]
    assert error["source"] == "mcp:gone"
    assert "cannot be reached" in error["message"]
