"""Chats with a thinking Claude model: signed thinking survives tool calls, messages and killed servers."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from anthropic_events import stream
from faults.person import Person
from faults.world import World
from mock_provider import MockProvider

pytestmark = [pytest.mark.slow, pytest.mark.timeout(90)]


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
