"""What a model thought goes back to its provider: in the tool loop, after a restart, in the next message."""

import asyncio
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest

import aws_frames
from dovetail.app import Dovetail
from dovetail.events.call import Kind
from dovetail.events.tool_context import ToolContext
from dovetail.testing import ScriptedRequester
from dovetail.tools.tool import Tool
from mock_provider import MockProvider
from patience import PATIENCE
from serving import Serving, serve_app

SCHEMA = {"type": "object", "properties": {}, "additionalProperties": False}


def write_events(events: Iterable[Mapping[str, Any]]) -> bytes:
    return b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events)


def write_responses(thought: str, text: str, call: str = "") -> bytes:
    items: list[dict[str, Any]] = [
        {"type": "reasoning", "id": f"rs_{thought}", "summary": [], "encrypted_content": f"secret {thought}"}
    ]
    if text:
        items.append(
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}
        )
    if call:
        items.append({"type": "function_call", "call_id": call, "name": call, "arguments": "{}"})
    done = [
        {"type": "response.output_item.done", "output_index": index, "item": item}
        for index, item in enumerate(items)
    ]
    return write_events([*done, {"type": "response.completed", "response": {"status": "completed"}}])


def write_chat(text: str, call: str, **fields: Any) -> bytes:
    deltas: list[dict[str, Any]] = [fields]
    if text:
        deltas.append({"content": text})
    if call:
        function = {"name": call, "arguments": "{}"}
        deltas.append({"tool_calls": [{"index": 0, "id": call, "type": "function", "function": function}]})
    choices = [{"index": 0, "delta": delta} for delta in deltas]
    end = {"index": 0, "delta": {}, "finish_reason": "tool_calls" if call else "stop"}
    return write_events({"choices": [choice]} for choice in [*choices, end])


def write_deepseek(thought: str, text: str, call: str = "") -> bytes:
    return write_chat(text, call, reasoning_content=thought)


def write_openrouter(thought: str, text: str, call: str = "") -> bytes:
    detail = {"type": "reasoning.text", "text": thought, "signature": f"signed {thought}", "index": 0}
    return write_chat(text, call, reasoning=thought, reasoning_details=[detail])


def write_bedrock(thought: str, text: str, call: str = "") -> bytes:
    blocks: list[dict[str, Any]] = [
        {"reasoningContent": {"reasoningText": {"text": thought, "signature": f"signed {thought}"}}}
    ]
    if text:
        blocks.append({"text": text})
    if call:
        blocks.append({"toolUse": {"toolUseId": call, "name": call, "input": {}}})
    return aws_frames.write_answer(*blocks, stop="tool_use" if call else "end_turn")


def read_responses(body: Any) -> list[str]:
    return [item["encrypted_content"] for item in body["input"] if item.get("type") == "reasoning"]


def read_deepseek(body: Any) -> list[str]:
    return [message["reasoning_content"] for message in body["messages"] if "reasoning_content" in message]


def read_openrouter(body: Any) -> list[str]:
    return [
        detail["signature"] for message in body["messages"] for detail in message.get("reasoning_details", ())
    ]


def read_bedrock(body: Any) -> list[str]:
    blocks = [block for message in body["messages"] for block in message["content"]]
    return [
        block["reasoningContent"]["reasoningText"]["signature"]
        for block in blocks
        if "reasoningContent" in block
    ]


STYLES: dict[str, tuple[str, Callable[..., bytes], Callable[[Any], list[str]], str]] = {
    "responses": ("openai:gpt-5-mini", write_responses, read_responses, "secret {}"),
    "deepseek": ("deepseek:deepseek-v4-pro", write_deepseek, read_deepseek, "{}"),
    "openrouter": ("openrouter:some/model", write_openrouter, read_openrouter, "signed {}"),
    "bedrock": ("bedrock:anthropic.claude-sonnet-4-5-v1:0", write_bedrock, read_bedrock, "signed {}"),
}


def make_tools(reached: asyncio.Event, is_first_life: bool) -> list[Tool]:
    async def look(args: dict[str, Any], context: ToolContext) -> str:
        return "seen"

    async def wait(args: dict[str, Any], context: ToolContext) -> str:
        reached.set()
        if is_first_life:
            await asyncio.Event().wait()
        return "waited"

    return [
        Tool(name=name, description="Do.", parameters=SCHEMA, execute=run, kind=Kind.Read, idempotent=True)
        for name, run in (("look", look), ("wait", wait))
    ]


@pytest.mark.parametrize("style", STYLES)
async def test_reasoning_survives_three_turns_a_restart_and_another_message(
    style: str, tmp_path: Path, mock_provider: MockProvider
) -> None:
    model, write, read, form = STYLES[style]
    mock_provider.replay(write("one", "First I look.", "look"))
    mock_provider.replay(write("two", "", "wait"))
    mock_provider.replay(write("three", "Done."))
    mock_provider.replay(write("four", "Again."))
    settings = {"model": {"name": model, "base_url": f"{mock_provider.url}/v1", "api_key": "test-key-1"}}
    reached = asyncio.Event()

    async def live(is_first: bool, work: Callable[[Serving], Any]) -> None:
        app = Dovetail(settings, workspace=tmp_path)
        for tool in make_tools(reached, is_first):
            app.tools.register_tool(tool)
        async with serve_app(app) as address, httpx.AsyncClient(base_url=address, timeout=PATIENCE) as client:
            await work(Serving(app, ScriptedRequester([]), client, address))

    async def begin(server: Serving) -> None:
        body = {"message": "Go.", "session_id": "s"}
        async with server.client.stream("POST", "/api/v1/chat", json=body):
            async with asyncio.timeout(PATIENCE):
                await reached.wait()

    async def resume(server: Serving) -> None:
        record = await server.app.runs.find_running("s")
        if record is not None:  # the recovered run may have ended already
            async with asyncio.timeout(PATIENCE), await server.app.runs.read(record.id) as reader:
                while not reader.ended:
                    await reader.next()
        await server.chat("And now?")

    await live(True, begin)
    await live(False, resume)
    thoughts = [read(request.body) for request in mock_provider.requests]
    kept = [form.format(thought) for thought in ("one", "two", "three")]
    assert thoughts[:3] == [[], kept[:1], kept[:2]]
    assert thoughts[3] == kept
