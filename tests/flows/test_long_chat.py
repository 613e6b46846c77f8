"""A conversation that outgrows the model's window is shortened, and the chat goes on."""

import asyncio
from pathlib import Path
from typing import Any

import httpx
import pytest

from dovetail import Agent
from dovetail.app import Dovetail
from dovetail.errors import ContextLengthError
from dovetail.events.delta import Usage
from dovetail.events.model_events import ModelRequestEvent
from dovetail.events.run_events import TurnEnd
from dovetail.requesters.windows import recall_window
from dovetail.testing import Gate, Reply, ScriptedServer
from patience import PATIENCE
from serving import Serving, serve_app, text_of

STORY = "word " * 1_500
USAGE = Usage(100, 10)


def is_summary(server: ScriptedServer, place: int) -> bool:
    return "Write down what the assistant needs" in str(server.requests[place].body["messages"][0])


async def test_a_refused_chat_is_summarized_and_answered(tmp_path: Path) -> None:
    story = "word " * 2_500  # much longer than the tools
    summary = Reply(text="Three stories were told.", usage=USAGE)
    replies = ["One.", "Two.", "Three.", summary, "Four.", "Five."]
    async with ScriptedServer(replies, context_tokens=11_500) as model:
        settings: dict[str, Any] = {"model": {"name": "openai:unheard-of", "base_url": model.url}}
        app = Dovetail(workspace=tmp_path, settings=settings)
        async with serve_app(app) as address, httpx.AsyncClient(base_url=address, timeout=PATIENCE) as client:
            server = Serving(app, None, client, address)  # type: ignore[arg-type]
            for number in range(3):
                await server.chat(f"Story {number}: {story}")
            chunks = await server.chat(f"Story 3: {story}")
            assert text_of(chunks) == "Four."
            assert chunks[-1]["finishReason"] == "stop"
            run_id = chunks[0]["messageMetadata"]["run_id"]
            events = [event async for event in server.stream("GET", f"/api/v1/runs/{run_id}/events")]
            assert text_of(await server.chat("And?")) == "Five."
    asked = [event for event in events if event["type"] == "model-request"]
    assert [event.get("purpose", "answer") for event in asked] == ["answer", "summary", "answer"]
    assert [event["turn"] for event in asked] == [1, 1, 1]
    [end] = [event for event in events if event["type"] == "turn-end"]
    assert end["usage"]["input_tokens"] >= 100  # the summary counts
    assert is_summary(model, -3)
    last, next_one = (model.requests[place].body["messages"] for place in (-2, -1))
    assert "Three stories were told." in str(last)
    assert last[-1]["content"] == f"Story 3: {story}"
    assert "Three stories were told." in str(next_one)  # no second request for a summary
    assert [message["content"] for message in next_one[-2:]] == ["Four.", "And?"]


async def test_a_run_with_tools_is_repeated_and_not_ended() -> None:
    calls = [{"tool_calls": [{"name": "tell", "arguments": {"about": f"{turn}"}}]} for turn in range(6)]
    async with ScriptedServer([*calls, "Done."], context_tokens=4_000) as model:
        agent = Agent(model="openai:unheard-of", settings={"model": {"base_url": model.url}})

        @agent.tool_func
        def tell(about: str) -> str:
            """Tell a story."""
            return about + STORY[:4_000]

        outcome = await agent.async_run("Tell me stories.")
    assert (outcome.text, outcome.turns) == ("Done.", 7)


async def test_the_refusal_teaches_the_window_for_the_next_turns() -> None:
    calls = [{"tool_calls": [{"name": "tell", "arguments": {"about": f"{turn}"}}]} for turn in range(12)]
    async with ScriptedServer([*calls, "Done."], context_tokens=5_000) as model:
        agent = Agent(model="openai:unheard-of", settings={"model": {"base_url": model.url}})

        @agent.tool_func
        def tell(about: str) -> str:
            """Tell a story."""
            return about + STORY[:4_000]

        outcome = await agent.async_run("Tell me stories.")
        refused = len(model.requests) - len(calls) - 1
    assert outcome.text == "Done."
    assert refused == 1


async def test_a_plain_request_stays_as_written_and_fails_clearly() -> None:
    async with ScriptedServer(["Never."], context_tokens=1_000) as model:
        agent = Agent(model="openai:unheard-of", settings={"model": {"base_url": model.url}})
        with pytest.raises(ContextLengthError, match=r"unheard-of at .* context length exceeded") as caught:
            await agent.input(STORY).async_start()
    assert caught.value.limit == 1_000
    assert len(model.requests) == 1


async def test_what_cannot_be_shortened_ends_with_the_refusal() -> None:
    async with ScriptedServer(["Never."], context_tokens=1_000) as model:
        agent = Agent(model="openai:unheard-of", settings={"model": {"base_url": model.url}})
        with pytest.raises(ContextLengthError):
            await agent.async_run(STORY)
    assert len(model.requests) == 1


async def test_the_published_window_shortens_before_anything_is_refused() -> None:
    history = [{"role": "user" if place % 2 == 0 else "assistant", "content": STORY} for place in range(9)]
    async with ScriptedServer(["A story.", "Done."]) as model:
        settings: dict[str, Any] = {"model": {"base_url": model.url}}
        agent = Agent(model="openai:gpt-4", settings=settings)  # 8,192 tokens
        agent.set_chat_history(history[:-1])
        outcome = await agent.async_run(STORY)
    assert outcome.text == "Done."
    assert is_summary(model, 0)


async def test_a_restart_while_the_summary_is_written_loses_nothing(tmp_path: Path) -> None:
    gate = Gate()
    told = ["One.", "Two.", "Three."]
    replies = [*told, ["Three sto", gate], Reply(text="Three stories were told.", usage=USAGE), "Four."]
    async with ScriptedServer(replies, context_tokens=7_500) as model:
        settings: dict[str, Any] = {"model": {"name": "openai:unheard-of", "base_url": model.url}}
        app = Dovetail(workspace=tmp_path, settings=settings)
        async with serve_app(app) as address, httpx.AsyncClient(base_url=address, timeout=PATIENCE) as client:
            server = Serving(app, None, client, address)  # type: ignore[arg-type]
            for number in range(3):
                await server.chat(f"Story {number}: {STORY}")
            body = {"message": f"Story 3: {STORY}", "session_id": "s"}
            async with client.stream("POST", "/api/v1/chat", json=body), asyncio.timeout(PATIENCE):
                await gate.reached.async_wait()
                record = await app.runs.find_running("s")
        assert record is not None
        recall_window.cache_clear()  # another process knows nothing of the window
        again = Dovetail(workspace=tmp_path, settings=settings)
        async with (
            serve_app(again) as address,
            httpx.AsyncClient(base_url=address, timeout=PATIENCE) as client,
        ):
            async with asyncio.timeout(PATIENCE), await again.runs.read(record.id) as reader:
                while not reader.ended:
                    await reader.next()
            messages = (await client.get("/api/v1/sessions/s/messages")).json()["messages"]
            entries = await again.runs.history(record.id)
    assert messages[-1]["parts"][-1]["text"] == "Four."
    ends = [entry.event for entry in entries if isinstance(entry.event, TurnEnd)]
    assert [(end.turn, end.usage.input_tokens >= 100) for end in ends] == [(1, True)]
    asked = [entry.event.purpose for entry in entries if isinstance(entry.event, ModelRequestEvent)]
    assert asked == ["answer", "answer", "summary", "answer"]
