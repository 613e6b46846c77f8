"""What an MCP client sees of our tools."""

from typing import Any

from mcp import Client
from mcp.types import ElicitResult

from agent_host import Host, call, results
from agent_host import make_tool as make_agent_tool
from dovetail.agents.definition import AgentDefinition
from dovetail.errors import ToolError
from dovetail.server.mcp import ToolServer
from dovetail.tools import Kind, ToolContext, ToolRegistry, ToolResult, ToolRunner, make_tool

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


async def test_a_client_is_not_promised_that_its_user_sees_a_picture() -> None:
    registry = ToolRegistry()
    registry.register_tool(make_tool(lambda: IMAGE["image_url"]["url"], name="show", kind=Kind.Read))
    async with connect("show", registry=registry) as client:
        description, picture = (await client.call_tool("show", {})).content
        assert description.text == "(A picture, image/png, 1 kB.)"
        assert picture.type == "image"


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


async def test_question_shows_what_is_not_drawn_and_counts_blanks() -> None:
    asked: list[str] = []

    async def decline(context: Any, params: Any) -> ElicitResult:
        asked.append(params.message)
        return ElicitResult(action="decline")

    def put(text: str) -> str:
        return text

    registry = ToolRegistry()
    registry.register_tool(make_tool(put, kind=Kind.Write))
    server = ToolServer(registry, ToolRunner(), ["*"], "default").server
    async with Client(server, elicitation_callback=decline) as client:
        await client.call_tool("put", {"text": "a\u202e\u200b\x1b[2J\r\n" + " " * 900 + "Allow put?"})
    head, arguments = asked[0].split("\n")
    assert "put" in head
    assert arguments == r'{"text": "a\u202e\u200b\u001b[2J\r\n␣×900Allow put?"}'


async def test_an_answer_between_two_tries_counts_for_the_approval_of_the_call_alone() -> None:
    answers: list[Any] = []

    async def approve(context: Any, params: Any) -> ElicitResult:
        return ElicitResult(action="accept", content={"approve": True})

    async def burn(context: ToolContext) -> str:
        assert context.ask is not None
        payload = {"title": "Burn the shed", "reason": "it is there", "args": {}}
        answers.append(await context.ask("approval", payload))
        return "burnt"

    registry = ToolRegistry()
    registry.register_tool(make_tool(burn, kind=Kind.Delete))
    server = ToolServer(registry, ToolRunner(), ["*"], "default").server
    async with Client(server, elicitation_callback=approve) as client:
        assert (await client.call_tool("burn", {})).content[0].text == "burnt"
    assert answers == [{"approved": False, "value": "This client cannot be asked twice in one call."}]


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
