"""Chats with a Gemini model: its signatures go back over calls, a restart and the next message."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from dovetail import Agent
from dovetail.app import Dovetail
from dovetail.events.call import Kind
from dovetail.events.tool_context import ToolContext
from dovetail.testing import ScriptedRequester
from dovetail.tools.tool import Tool
from mock_provider import MockProvider
from patience import PATIENCE
from serving import Serving, serve_app, text_of

MODEL = "gemini-3-flash-preview"
Part = dict[str, Any]


def stream(*chunks: list[Part]) -> bytes:
    """An answer as the API streams it, one list of parts per chunk."""
    candidates = [{"content": {"role": "model", "parts": parts}, "index": 0} for parts in chunks]
    candidates[-1]["finishReason"] = "STOP"
    events = [{"candidates": [candidate], "modelVersion": MODEL} for candidate in candidates]
    return b"".join(b"data: %s\r\n\r\n" % json.dumps(event).encode() for event in events)


def call(name: str, call_id: str, **fields: Any) -> Part:
    return {"functionCall": {"id": call_id, "name": name, "args": {"key": call_id}}, **fields}


def sign(number: int) -> Part:
    return {"thoughtSignature": f"SIGNED{number}=="}


def find_answers(body: Any) -> list[Part]:
    """The parts of all answers in a request."""
    return [part for content in body["contents"] if content["role"] == "model" for part in content["parts"]]


@asynccontextmanager
async def live(
    folder: Path, provider: MockProvider, reached: asyncio.Event, is_first: bool
) -> AsyncGenerator[Serving]:
    """One life of a server; in the first one, the tool `wait` does not return."""

    async def look(args: dict[str, Any], context: ToolContext) -> str:
        return f"seen {args['key']}"

    async def wait(args: dict[str, Any], context: ToolContext) -> str:
        reached.set()
        if is_first:
            await asyncio.Event().wait()
        return "waited"

    schema = {"type": "object", "properties": {"key": {"type": "string"}}}
    model = {"name": f"google:{MODEL}", "base_url": f"{provider.url}/v1beta", "api_key": "test-key-1"}
    app = Dovetail({"model": {**model, "thinking": "low"}}, workspace=folder)
    for name, run in (("look", look), ("wait", wait)):
        app.tools.register_tool(
            Tool(
                name=name, description="Do.", parameters=schema, execute=run, kind=Kind.Read, idempotent=True
            )
        )
    async with serve_app(app) as address, httpx.AsyncClient(base_url=address, timeout=PATIENCE) as client:
        yield Serving(app, ScriptedRequester([]), client, address)


async def test_signatures_survive_three_turns_a_restart_and_another_message(
    tmp_path: Path, mock_provider: MockProvider
) -> None:
    thought = {"text": "I should look.", "thought": True}
    first = [{"text": "I look."}, call("look", "c1", **sign(1)), call("look", "c2")]
    second = [call("wait", "c3", **sign(2))]
    third = [{"text": "Done"}, {"text": ".", **sign(3)}, {"text": "", **sign(4)}]
    mock_provider.replay(stream([thought], first[:1], first[1:]))
    mock_provider.replay(stream([thought], second))
    mock_provider.replay(stream(*[[part] for part in third]))
    mock_provider.replay(stream([{"text": "Again."}]))
    reached = asyncio.Event()

    async with live(tmp_path, mock_provider, reached, is_first=True) as server:
        body = {"message": "Go.", "session_id": "s"}
        async with server.client.stream("POST", "/api/v1/chat", json=body), asyncio.timeout(PATIENCE):
            await reached.wait()
    async with live(tmp_path, mock_provider, reached, is_first=False) as server:
        record = await server.app.runs.find_running("s")
        assert record is not None
        async with asyncio.timeout(PATIENCE), await server.app.runs.read(record.id) as reader:
            while not reader.ended:
                await reader.next()
        chunks = await server.chat("And now?")
        assert text_of(chunks) == "Again."

    bodies = [request.body for request in mock_provider.requests]
    assert [find_answers(body) for body in bodies] == [
        [],
        first,
        [*first, *second],
        [*first, *second, *third],
    ]
    assert bodies[1]["contents"][-1]["parts"] == [
        {"functionResponse": {"id": call_id, "name": "look", "response": {"output": f"seen {call_id}"}}}
        for call_id in ("c1", "c2")
    ]
    assert all(body["generationConfig"]["thinkingConfig"]["thinkingLevel"] == "LOW" for body in bodies)


async def test_thoughts_are_shown_and_not_sent_back(tmp_path: Path, mock_provider: MockProvider) -> None:
    mock_provider.replay(stream([{"text": "Hm. ", "thought": True}], [{"text": "Hello."}]))
    mock_provider.replay(stream([{"text": "Bye."}]))

    async with live(tmp_path, mock_provider, asyncio.Event(), is_first=True) as server:
        chunks = await server.chat("Hi.")
        await server.chat("Bye.")

    assert [chunk["delta"] for chunk in chunks if chunk["type"] == "reasoning-delta"] == ["Hm. "]
    assert find_answers(mock_provider.requests[1].body) == [{"text": "Hello."}]


def test_a_plain_program_runs_tools_and_reads_typed_answers(
    mock_provider: MockProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    def add(a: int, b: int) -> int:
        """Add two numbers."""
        return a + b

    monkeypatch.setenv("GEMINI_API_KEY", "test-key-2")
    settings = {"model": {"providers": {"google": {"base_url": f"{mock_provider.url}/v1beta"}}}}
    wrong, right = ({"name": "add", "arguments": {"a": a, "b": 2}} for a in ("one", 1))
    mock_provider.reply("Hello.", {"toolCalls": [wrong]}, {"toolCalls": [right]}, "It is 3.", '{"sum": 3}')

    assert Agent(model="google:gemini-2.5-flash", settings=settings).input("Hi.").start() == "Hello."
    agent = Agent(model="google:gemini-2.5-flash", settings=settings)
    agent.use_tool(add)
    assert agent.run("1 + 2?").text == "It is 3."
    asked = (
        Agent(model="google:gemini-2.5-flash", settings=settings)
        .input("1 + 2?")
        .output({"sum": (int, "the sum")})
    )
    assert asked.start() == {"sum": 3}

    requests = mock_provider.requests
    assert {request.headers["x-goog-api-key"] for request in requests} == {"test-key-2"}
    refused, result = (
        content["parts"][0]["functionResponse"]["response"]["output"]
        for content in requests[3].body["contents"]
        if "functionResponse" in content["parts"][0]
    )
    assert "`a` must be integer" in refused
    assert result == "3"
    assert requests[4].body["generationConfig"]["responseMimeType"] == "application/json"
