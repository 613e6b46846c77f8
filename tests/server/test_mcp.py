"""What an MCP client sees of our tools."""

from typing import Any

from mcp import Client
from mcp.types import ElicitResult

from agent_host import Host, call, results
from agent_host import make_tool as make_agent_tool
from dovetail.agents.definition import AgentDefinition
from dovetail.errors import ToolError
from dovetail.server.mcp import ToolServer
from dovetail.tools import Kind, ToolRegistry, ToolResult, ToolRunner, make_tool

IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw=="}}


def draw() -> ToolResult:
    """Draw a plank."""
    return ToolResult([{"type": "text", "text": "a plank"}, IMAGE], data={"planks": 1})


def refuse() -> None:
    raise ToolError("the saw is blunt", type="blunt")


def connect(*globs: str, registry: ToolRegistry | None = None) -> Client:
    registry = registry or ToolRegistry()
    registry.register_tool(make_tool(draw, kind=Kind.Read, display_name="Draw", idempotent=True))
    registry.register_tool(make_tool(refuse))
    return Client(ToolServer(registry, ToolRunner(), globs, "default").server)


async def test_tools_carry_their_hints_and_results_their_pictures() -> None:
    async with connect("*") as client:
        [drawing, other] = (await client.list_tools()).tools
        assert (drawing.title, drawing.description) == ("Draw", "Draw a plank.")
        hints: Any = drawing.annotations
        assert (hints.read_only_hint, hints.destructive_hint, hints.idempotent_hint) == (True, False, True)
        hints = other.annotations
        assert (hints.read_only_hint, hints.destructive_hint) == (False, None)
        result = await client.call_tool("draw", {})
        assert [block.type for block in result.content] == ["text", "image"]
        assert (result.content[1].data, result.content[1].mime_type) == ("iVBORw==", "image/png")
        assert result.structured_content == {"planks": 1}


async def test_failure_is_a_result_that_says_why() -> None:
    async with connect("*") as client:
        result = await client.call_tool("refuse", {})
        assert result.is_error
        assert result.content[0].text == "Error: the saw is blunt"


async def test_only_what_is_offered_can_be_called_and_new_tools_appear() -> None:
    registry = ToolRegistry()
    async with connect("d*", registry=registry) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == ["draw"]
        assert "Unknown tool 'refuse'" in (await client.call_tool("refuse", {})).content[0].text
        registry.register_tool(make_tool(lambda: "dug", name="dig"))
        assert [tool.name for tool in (await client.list_tools()).tools] == ["draw", "dig"]


async def test_question_inside_an_agent_is_not_answered_by_another_try() -> None:
    host = Host([call("burn", call_id="c1"), "I may not."], make_agent_tool("burn", kind=Kind.Delete))
    host.offer(AgentDefinition(name="stoker", description="Burns."))
    asked: list[str] = []

    async def approve(context: Any, params: Any) -> ElicitResult:
        asked.append(params.message)
        return ElicitResult(action="accept", content={"approve": True})

    registry = host.get_tool_registry()
    server = ToolServer(registry, host.runtime.runner, ["*"], "default").server
    async with Client(server, elicitation_callback=approve) as client:
        tools = {tool.name: tool.annotations for tool in (await client.list_tools()).tools}
        result = await client.call_tool("stoker", {})
    assert (asked, result.content[0].text) == ([], "I may not.")
    assert "cannot be asked while an agent works" in results(host.runtime.scripted.requests[-1])[0]
    hints: Any = tools["stoker"]
    assert (hints.read_only_hint, hints.destructive_hint) == (False, None)
