"""LangChain tools and ours, both ways."""

import asyncio
from typing import Annotated, Any

import pytest
from langchain.agents import create_agent
from langchain_core.tools import BaseTool, InjectedToolArg, StructuredTool, ToolException
from langchain_core.tools import tool as langchain_tool
from langchain_openai import ChatOpenAI
from pydantic import BaseModel, Field, SecretStr

from dovetail import Agent
from dovetail.errors import ConfigError, ToolError
from dovetail.policy import Policy, PolicyRule
from dovetail.testing import ScriptedServer
from dovetail.tools import Kind, ToolManager, ToolRunner, make_tool
from dovetail.tools.makers.langchain import from_langchain, to_langchain


class Plank(BaseModel):
    """A plank."""

    wood: str = Field(description="which wood")
    length: float = 1.0


@langchain_tool(args_schema=Plank)
async def saw(wood: str, length: float = 1.0) -> dict[str, Any]:
    """Cut a plank."""
    if wood == "steel":
        raise ToolException("this is no wood")
    return {"wood": wood, "length": length}


def test_a_langchain_tool_given_as_it_is_is_explained() -> None:
    with pytest.raises(
        ConfigError, match=r"is not a tool\.\nFor a tool of LangChain: from_langchain\(tool\)"
    ):
        Agent(tools=[saw])


async def test_langchain_tool_becomes_ours() -> None:
    manager = ToolManager()
    tool = from_langchain(saw, kind=Kind.Read)
    manager.add(tool)
    assert (tool.name, tool.description, tool.origin) == ("saw", "Cut a plank.", "langchain")
    assert tool.parameters == {
        "type": "object",
        "properties": {
            "wood": {"type": "string", "description": "which wood"},
            "length": {"type": "number", "default": 1.0},
        },
        "required": ["wood"],
    }
    assert await manager.async_call_tool("saw", {"wood": "oak", "length": "2"}) == {
        "wood": "oak",
        "length": 2,
    }
    with pytest.raises(Exception, match="this is no wood"):
        await manager.async_call_tool("saw", {"wood": "steel"})


async def test_sync_tool_with_an_artifact_and_a_hidden_argument_becomes_ours() -> None:
    @langchain_tool(response_format="content_and_artifact")
    def measure(plank: str, secret: Annotated[str, InjectedToolArg] = "hidden") -> tuple[str, list[int]]:
        """Measure a plank."""
        return f"{plank} measured", [1, 2]

    tool = from_langchain(measure, tags=("shop",))
    assert list(tool.parameters["properties"]) == ["plank"]
    assert tool.tags == ("shop",)
    manager = ToolManager()
    manager.add(tool)
    assert await manager.async_call_tool("measure", {"plank": "oak"}) == [1, 2]


def make_weather() -> BaseTool:
    async def get_weather(city: str, unit: str = "c") -> str:
        return f"{city}: 26 {unit}"

    tool = make_tool(get_weather, description="The weather of a city.", tags=("weather",))
    return to_langchain(tool)


async def test_our_tool_becomes_a_structured_tool_with_its_label_as_tag() -> None:
    weather = make_weather()
    assert isinstance(weather, StructuredTool)
    assert (weather.name, weather.tags) == ("get_weather", ["weather"])
    assert weather.args["city"] == {"type": "string"}
    assert await weather.ainvoke({"city": "Bern"}) == "Bern: 26 c"
    message = await weather.ainvoke(
        {"type": "tool_call", "id": "1", "name": "get_weather", "args": {"city": "Bern"}}
    )
    assert message.content == "Bern: 26 c"
    assert "`city` is missing" in await weather.ainvoke({})


def test_our_tool_is_called_by_sync_langchain_code_too() -> None:
    assert make_weather().invoke({"city": "Bern", "unit": "f"}) == "Bern: 26 f"


async def test_policy_holds_for_langchain_too() -> None:
    runner = ToolRunner(Policy([PolicyRule(action="deny", tool="burn", reason="no fire")]))
    ours = make_tool(lambda: "burnt", name="burn", description="Burn.")
    burn = to_langchain(ours, runner=runner, handle_tool_error=False)
    with pytest.raises(ToolException, match="'burn' is not allowed: no fire"):
        await burn.ainvoke({})
    assert to_langchain(ours, runner=runner, handle_tool_error="Leave it.").invoke({}) == "Leave it."


@pytest.mark.parametrize("handler", [True, "Leave it.", lambda error: f"told: {error}"])
async def test_tool_that_handles_its_errors_fails_here_with_the_same_text(handler: Any) -> None:
    def saw(plank: str) -> str:
        """Saw a plank."""
        raise ToolException("the saw is blunt")

    theirs = StructuredTool.from_function(saw, handle_tool_error=handler)
    manager = ToolManager()
    manager.add(from_langchain(theirs))
    with pytest.raises(ToolError) as caught:
        await manager.async_call_tool("saw", {"plank": "oak"})
    assert str(caught.value) == theirs.invoke({"plank": "oak"})


def make_failing_tools() -> list[Any]:
    def cut(plank: str) -> str:
        """Cut a plank."""
        raise ToolError(f"{plank} is too hard")

    def crash() -> str:
        """Crash."""
        raise ZeroDivisionError("by zero")

    policy = Policy([PolicyRule(action="ask", tool="burn")])
    burn = make_tool(lambda: "burnt", name="burn", description="Burn.")
    return [*map(to_langchain, map(make_tool, (cut, crash))), to_langchain(burn, runner=ToolRunner(policy))]


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("cut", {"plank": "oak"}, "oak is too hard"),
        ("cut", {"plnk": "oak"}, "`plank` is missing"),
        ("cut", {"plank": ["oak"]}, "`plank` must be"),
        ("crash", {}, "ZeroDivisionError: by zero"),
        ("burn", {}, "approval"),
    ],
)
async def test_failed_call_is_reported_to_langchains_agent(
    name: str, arguments: dict[str, Any], told: str
) -> None:
    replies = [{"tool_calls": [{"name": name, "arguments": arguments}]}, "It did not work."] * 2
    with ScriptedServer(replies) as server:
        model = ChatOpenAI(model="scripted", base_url=server.url, api_key=SecretStr("none"))
        agent: Any = create_agent(model, make_failing_tools())
        ask = {"messages": [{"role": "user", "content": "Go."}]}
        for outcome in (await agent.ainvoke(ask), await asyncio.to_thread(agent.invoke, ask)):
            call, answer = outcome["messages"][-2:]
            assert (call.type, call.status, answer.content) == ("tool", "error", "It did not work.")
            assert told in call.content


async def test_there_and_back_is_the_same_tool() -> None:
    def cut(plank: str, pieces: int = 2) -> list[str]:
        """Cut a plank."""
        return [plank] * pieces

    ours = make_tool(cut, tags=("shop",))
    again = from_langchain(to_langchain(ours))
    assert (again.name, again.description, again.tags) == ("cut", "Cut a plank.", ("shop",))
    assert again.parameters == ours.parameters
    manager = ToolManager()
    manager.add(again)
    assert await manager.async_call_tool("cut", {"plank": "oak"}) == ["oak", "oak"]


def test_an_object_that_is_not_a_langchain_tool_is_rejected() -> None:
    with pytest.raises(ConfigError, match="is not a LangChain tool"):
        from_langchain(len)
