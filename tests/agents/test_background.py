"""Which agents are offered in the background, and what their tools look like."""

from collections.abc import Mapping
from typing import Any

from agent_host import Host, make_tool
from dovetail.agents.as_tool import SubagentToolWrapper
from dovetail.agents.background import BackgroundAgentTool, offer_background, restrict_tools
from dovetail.agents.definition import AgentDefinition, InputConfig, ToolConfig
from dovetail.agents.dispatcher import Dispatcher, make_dispatcher
from dovetail.events.tool_context import ToolContext
from dovetail.tools.snapshot import ToolSnapshot


def define(name: str, **fields: Any) -> AgentDefinition:
    return AgentDefinition(name=name, description=name, **fields)


def offer(host: Host, *definitions: AgentDefinition) -> ToolSnapshot:
    """Register agents, and return the tools of an agent in a session."""
    host.offer(*definitions)
    return offer_background(host.get_tool_registry().snapshot(), host)


def list_arguments(tools: ToolSnapshot, name: str) -> list[str]:
    tool = tools.get(name)
    assert tool is not None
    properties: Mapping[str, Any] = tool.parameters["properties"]
    return list(properties)


def test_agent_gets_the_argument_and_the_tool_for_tasks_only_where_it_is_offered() -> None:
    host = Host([], make_tool("look"))
    tools = offer(host, define("scout", input_config=InputConfig(inputs={"place": {"type": "string"}})))
    plain = host.get_tool_registry().snapshot()
    assert list_arguments(tools, "scout") == ["place", "background"]
    assert "background_tasks" in tools
    assert list_arguments(plain, "scout") == ["place"]
    assert "background_tasks" not in plain


def test_same_tools_are_offered_each_time() -> None:
    host = Host([])
    first = offer(host, define("scout"))
    again = offer_background(host.get_tool_registry().snapshot(), host)
    assert first.get("scout") is again.get("scout")
    assert offer_background(first, host).get("scout") is first.get("scout")


def test_own_input_called_background_stays_the_agents_own() -> None:
    own = InputConfig(inputs={"background": {"type": "string", "description": "The colour behind."}})
    tools = offer(Host([]), define("painter", input_config=own))
    tool = tools.get("painter")
    assert tool is not None
    assert not isinstance(tool, BackgroundAgentTool)
    assert tool.parameters["properties"]["background"]["type"] == "string"


def test_agent_that_another_process_could_not_find_is_not_offered() -> None:
    host = Host([])
    host.get_tool_registry().register_tool(SubagentToolWrapper(define("stray"), host))
    tools = offer_background(host.get_tool_registry().snapshot(), host)
    assert list_arguments(tools, "stray") == []
    assert "background_tasks" not in tools


def test_schema_that_is_composed_gets_no_further_argument() -> None:
    composed = InputConfig(schema={"type": "object", "anyOf": [{"required": ["a"]}, {"required": ["b"]}]})
    tool = offer(Host([]), define("picky", input_config=composed)).get("picky")
    assert tool is not None
    assert not isinstance(tool, BackgroundAgentTool)


def test_without_a_level_below_only_existing_tasks_are_managed() -> None:
    host = Host([])
    host.offer(define("scout"))
    plain = host.get_tool_registry().snapshot()
    assert offer_background(plain, host, can_start=False) is plain
    managing = offer_background(plain, host, can_start=False, has_tasks=True)
    assert list_arguments(managing, "scout") == []
    assert "background_tasks" in managing


def test_dispatcher_starts_its_agents_in_the_background_on_request() -> None:
    host = Host([])
    host.offer(define("scout"), define("sleeper", background=True))
    agents = [tool for tool in host.get_tool_registry().snapshot() if isinstance(tool, SubagentToolWrapper)]
    tools = offer_background(ToolSnapshot.of([make_dispatcher(agents)]), host)
    dispatcher = tools.get("sub-agent")
    assert isinstance(dispatcher, Dispatcher)
    assert list_arguments(tools, "sub-agent") == ["name", "inputs", "background"]
    waited, _ = dispatcher.resolve({"name": "scout", "inputs": {}})
    asked, _ = dispatcher.resolve({"name": "scout", "inputs": {}, "background": True})
    always, _ = dispatcher.resolve({"name": "sleeper", "inputs": {}})
    kinds = [isinstance(tool, BackgroundAgentTool) for tool in (waited, asked, always)]
    assert kinds == [False, True, True]
    narrowed = restrict_tools(tools, define("x"), {"scout"}).get("sub-agent")
    assert isinstance(narrowed, Dispatcher)
    assert (list(narrowed.agents), list(narrowed.tasks)) == (["scout"], ["scout"])


def test_restricted_tools_keep_the_agents_own() -> None:
    own = make_tool("own")
    definition = define("scout", tool_config=ToolConfig(tools=[own]))
    tools = ToolSnapshot.of([make_tool("look"), make_tool("smash"), own])
    assert list(restrict_tools(tools, definition, {"look"}).tools) == ["look", "own"]


async def test_agent_of_the_background_is_waited_for_where_there_is_none() -> None:
    host = Host(["Seen."])
    tool = offer(host, define("scout", background=True)).get("scout")
    assert tool is not None
    result = await tool.execute({}, ToolContext(call_id="c"))
    assert result.llm_content == "Seen."
