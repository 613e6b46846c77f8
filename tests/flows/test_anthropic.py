"""Claude models from outside: programs with an `Agent`, and chats whose server is killed while it thinks."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from anthropic_events import stream
from dovetail import Agent
from faults.person import Person
from faults.world import World
from mock_provider import MockProvider


def think(number: int) -> dict[str, Any]:
    return {"type": "thinking", "thinking": f"Thought {number}.", "signature": f"SIGNED{number}=="}


def call(number: int, tool: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": f"toolu_{number}", "name": tool, "input": {"key": f"k{number}"}}


def say(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


HIDDEN = {"type": "redacted_thinking", "data": "OPAQUE=="}


def find_answers(body: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the blocks of all answers in a request, without the marks of the cache."""
    return [
        block
        for message in body["messages"]
        if message["role"] == "assistant"
        for block in message["content"]
    ]


def make_agent(provider: MockProvider, **options: Any) -> Agent:
    settings = {"model": {"base_url": f"{provider.url}/v1", "api_key": "test-key", **options}}
    return Agent(model="anthropic:claude-sonnet-4-5", settings=settings)


def test_a_program_asks_a_question(mock_provider: MockProvider) -> None:
    mock_provider.reply("Hello", match={"userMessage": "hi"})
    assert make_agent(mock_provider).input("hi").start() == "Hello"


def test_a_program_gets_typed_fields(mock_provider: MockProvider) -> None:
    mock_provider.reply('{"planet": "Jupiter", "moons": 95}')
    agent = make_agent(mock_provider).input("Name a planet.")
    assert agent.output({"planet": (str, "its name"), "moons": (int,)}).start() == {
        "planet": "Jupiter",
        "moons": 95,
    }
    [request] = mock_provider.requests
    assert set(request.body["output_config"]["format"]["schema"]["properties"]) == {"planet", "moons"}


def test_an_agent_runs_with_tools_thinks_and_counts_its_tokens(mock_provider: MockProvider) -> None:
    agent = make_agent(mock_provider, thinking="low")

    @agent.tool_func
    def add(a: int, b: int) -> int:
        """Add two numbers."""
        return a + b

    calls = [{"id": f"t{number}", "name": "add", "arguments": {"a": number, "b": 1}} for number in (1, 2)]
    usage = {"input_tokens": 100, "output_tokens": 10}
    mock_provider.reply(
        {"reasoning": "Add.", "reasoningSignature": "SIG", "toolCalls": calls, "usage": usage},
        {"content": "2 and 3.", "usage": usage},
    )
    outcome = agent.run("What are 1 + 1 and 2 + 1?")
    assert (outcome.reason, outcome.text) == ("goal", "2 and 3.")
    assert (outcome.usage.input_tokens, outcome.usage.output_tokens) == (200, 20)
    assert outcome.usage.cost == pytest.approx(200 * 3e-6 + 20 * 15e-6)
    [_, answer, results] = mock_provider.requests[1].body["messages"]
    assert [block["type"] for block in answer["content"]] == ["thinking", "tool_use", "tool_use"]
    assert [result["content"][0]["text"] for result in results["content"]] == ["2", "3"]


@pytest.mark.slow
async def test_thinking_goes_back_over_three_messages_and_two_dead_servers(
    tmp_path: Path, mock_provider: MockProvider
) -> None:
    environment = {
        "DATABASE_URL": f"sqlite:///{tmp_path / 'x.db'}",
        "DOVETAIL_MODEL": "anthropic:claude-sonnet-4-5",
        "DOVETAIL_BASE_URL": f"{mock_provider.url}/v1",
        "DOVETAIL_API_KEY": "test-key",
    }
    (tmp_path / "dovetail.toml").write_text('[model]\nthinking = "low"\n')
    async with World(tmp_path, environment) as world:
        await world.start()
        person = Person(world, "s")
        mock_provider.replay(stream(think(1), say("First."), call(1, "note")))
        mock_provider.replay(stream(think(9))[:300], ending="hold")
        talk = asyncio.create_task(person.say("one"))
        await asyncio.to_thread(mock_provider.wait_for_requests, 2)
        await world.end()  # in the middle of the second answer

        mock_provider.replay(stream(think(2), HIDDEN, call(2, "look")))
        mock_provider.replay(stream(say("Done one.")))
        await world.start()
        await talk
        mock_provider.replay(stream(HIDDEN, call(3, "note")))
        mock_provider.replay(stream(say("Done two.")))
        await person.say("two")
        await world.end()

        await world.start()
        mock_provider.replay(stream(say("Done three.")))
        await person.say("three")
    bodies = [request.body for request in mock_provider.requests]
    assert len(bodies) == 7
    first = [think(1), say("First."), call(1, "note")]
    assert find_answers(bodies[1]) == find_answers(bodies[2]) == first
    loop = [*first, think(2), HIDDEN, call(2, "look")]
    assert find_answers(bodies[3]) == loop
    assert find_answers(bodies[6]) == [*loop, say("Done one."), HIDDEN, call(3, "note"), say("Done two.")]
    assert all(body["thinking"] == {"type": "enabled", "budget_tokens": 2048} for body in bodies)
    assert bodies[0]["system"] == bodies[6]["system"]
    assert bodies[0]["tools"] == bodies[6]["tools"]
