"""The npm package `ai` as a client: text, reasoning, tools, approvals, browser tools, errors, resume."""

import asyncio
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from dovetail.errors import ModelError
from dovetail.events.call import Kind
from dovetail.events.tool_context import ToolContext
from dovetail.testing import Gate
from dovetail.tools.tool import Tool
from patience import PATIENCE
from serving import Serving, serve

PACKAGE = Path(__file__).parents[2] / "web" / "node_modules" / "ai" / "dist" / "index.js"
NODE = shutil.which("node")

pytestmark = pytest.mark.slow


async def run_client(server: Serving, scenario: str, gate: Gate | None = None) -> Any:
    assert NODE is not None, "the tests need Node"
    assert PACKAGE.exists(), "the web client's packages are missing: run `npm ci` in web/"
    script = Path(__file__).with_name("ai_client.mjs")
    process = await asyncio.create_subprocess_exec(
        NODE,
        script,
        PACKAGE.as_uri(),
        server.address,
        scenario,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stderr is not None
    try:
        async with asyncio.timeout(PATIENCE):
            if gate is not None:
                assert await process.stderr.readline() == b"resumed\n"
                gate.open()
            output, errors = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
    assert process.returncode == 0, errors.decode()
    return json.loads(output)


def make_tool(name: str, kind: Kind = Kind.Read, *, is_browser: bool = False) -> Tool:
    async def execute(args: dict[str, Any], context: ToolContext) -> Any:
        if not is_browser:
            return f"{name} ran"
        assert context.ask is not None
        return await context.ask("browser", {"url": "https://a.example"}, 30)

    schema = {"type": "object"}
    return Tool(
        name=name, description=name, parameters=schema, execute=execute, kind=kind, needs_tab=is_browser
    )


def call(*names: str) -> dict[str, Any]:
    return {"tool_calls": [{"call_id": f"c-{name}", "name": name} for name in names]}


def states(message: dict[str, Any]) -> dict[str, str]:
    return {part["toolName"]: part["state"] for part in message["parts"] if part["type"] == "dynamic-tool"}


async def test_text_and_reasoning(tmp_path: Path) -> None:
    async with serve(tmp_path, [{"reasoning": "Hm.", "text": "Hello 世界", "cut": 2}]) as server:
        seen = await run_client(server, "talk")
    user, answer = seen["messages"]
    assert seen["status"] == "ready"
    assert [part["type"] for part in answer["parts"]] == ["step-start", "reasoning", "text"]
    assert answer["parts"][-1] == {"type": "text", "text": "Hello 世界", "state": "done"}
    assert answer["metadata"]["parent_id"] == user["id"]


async def test_a_client_sees_the_same_parts_as_are_stored(tmp_path: Path) -> None:
    async with serve(tmp_path, [call("look"), "Done."], [make_tool("look")]) as server:
        seen = await run_client(server, "talk")
        stored = (await server.get("/api/v1/sessions/s"))["path"]
    assert states(seen["messages"][-1]) == {"look": "output-available"}
    assert [message["id"] for message in seen["messages"]] == [message["id"] for message in stored]
    kept = {"type", "text", "toolName", "toolCallId", "state", "input", "output"}
    shown = [{name: part[name] for name in part if name in kept} for part in seen["messages"][-1]["parts"]]
    assert shown == [{name: part[name] for name in part if name in kept} for part in stored[-1]["parts"]]


async def test_a_conversation_and_a_retry(tmp_path: Path) -> None:
    async with serve(tmp_path, ["one", "two", "three"]) as server:
        seen = await run_client(server, "twice")
        path = (await server.get("/api/v1/sessions/s"))["path"]
    assert [message["parts"][-1]["text"] for message in seen["messages"]] == ["Hi", "one", "Again", "three"]
    assert [message["id"] for message in path] == [message["id"] for message in seen["messages"]]
    assert path[-1]["siblings"]["total"] == 2


async def test_an_error_is_reported(tmp_path: Path) -> None:
    failure = ModelError("the key was refused", provider="x", hint="Check it.")
    async with serve(tmp_path, [failure]) as server:
        seen = await run_client(server, "fail")
    assert (seen["status"], seen["log"]) == ("error", ["the key was refused\nCheck it."])


async def test_approvals_are_answered_by_sending_the_message_again(tmp_path: Path) -> None:
    tools = [make_tool("look"), make_tool("write", Kind.Write), make_tool("delete", Kind.Delete)]
    async with serve(tmp_path, [call("look", "write", "delete"), "Done."], tools) as server:
        seen = await run_client(server, "approve")
        told = [
            message["content"] for message in server.model.requests[-1].messages if message["role"] == "tool"
        ]
    assert seen["log"] == ["c-write", "c-delete"]
    answer = seen["messages"][-1]
    assert len(seen["messages"]) == 2
    assert states(answer) == {
        "look": "output-available",
        "write": "output-available",
        "delete": "output-denied",
    }
    kinds = [part["toolMetadata"]["kind"] for part in answer["parts"] if part["type"] == "dynamic-tool"]
    assert kinds == ["read", "write", "delete"]
    assert answer["parts"][-1]["text"] == "Done."
    assert told[:2] == ["look ran", "write ran"]
    assert "declined" in told[2] or "denied" in told[2] or "refused" in told[2]


async def test_a_browser_tool_runs_in_the_client(tmp_path: Path) -> None:
    tools = [make_tool("look"), make_tool("open", is_browser=True)]
    async with serve(tmp_path, [call("open", "look"), "Opened."], tools) as server:
        seen = await run_client(server, "act")
    assert seen["log"] == ["open"]
    assert seen["messages"][-1]["parts"][-1]["text"] == "Opened."
    assert states(seen["messages"][-1]) == {"open": "output-available", "look": "output-available"}


async def test_browser_tools_of_one_turn_run_in_the_client_once_each(tmp_path: Path) -> None:
    tools = [make_tool("open", is_browser=True), make_tool("show", Kind.Other, is_browser=True)]
    async with serve(
        tmp_path, [call("show", "open"), call("look"), "Opened."], [*tools, make_tool("look")]
    ) as s:
        seen = await run_client(s, "act")
        told = [message["content"] for message in s.model.requests[1].messages if message["role"] == "tool"]
    assert sorted(seen["log"]) == ["open", "show"]
    assert ["opened" in text for text in told] == [True, True]
    assert states(seen["messages"][-1]) == {
        "show": "output-available",
        "open": "output-available",
        "look": "output-available",
    }


async def test_a_stream_does_not_end_while_a_call_still_works(tmp_path: Path) -> None:
    gate = Gate()

    async def work(args: dict[str, Any], context: ToolContext) -> str:
        await gate.pass_through()
        return "worked"

    slow = Tool(name="slow", description="slow", parameters={"type": "object"}, execute=work, kind=Kind.Read)
    tools = [make_tool("open", is_browser=True), slow]
    async with serve(tmp_path, [call("open", "slow"), "Opened."], tools) as server:
        body = {
            "id": "s",
            "messages": [{"id": "u", "role": "user", "parts": [{"type": "text", "text": "Hi"}]}],
        }
        seen: list[str] = []
        async with asyncio.timeout(PATIENCE):
            async for chunk in server.stream("POST", "/api/v1/chat", json=body):
                seen.append(chunk["type"])
                if chunk["type"] == "data-ask":
                    gate.open()
    assert seen[-2:] == ["tool-output-available", "finish"]


async def test_a_reader_that_left_resumes(tmp_path: Path) -> None:
    gate = Gate()
    async with serve(tmp_path, [["one ", gate, "two"]]) as server:
        seen = await run_client(server, "resume", gate)
    assert seen["log"] == ["one "]
    assert seen["messages"][-1]["parts"][-1]["text"] == "one two"


async def test_a_cancelled_answer_ends_without_an_error(tmp_path: Path) -> None:
    async with serve(tmp_path, [["one ", Gate(), "two"]]) as server:
        seen = await run_client(server, "cancel")
    assert seen["status"] == "ready"
    assert seen["messages"][-1]["metadata"]["reason"] == "cancelled"
