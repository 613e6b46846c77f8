"""A run keeps what it began with when it resumes after a restart, whatever was edited since."""

import logging
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from dovetail.events.call import Kind, ModelRequest
from dovetail.events.tool_context import ToolContext
from dovetail.tools.tool import Tool
from serving import Serving, serve

QUESTIONS = {"questions": [{"question": "Which wood?", "choices": ["Oak", "Ash"]}]}
BODY = {"message": "Build a table", "session_id": "s", "tab_id": "t"}


def call(name: str, arguments: dict[str, Any] | None = None, call_id: str = "c1") -> dict[str, Any]:
    return {"tool_calls": [{"call_id": call_id, "name": name, "arguments": arguments or {}}]}


def make_tool(name: str, **properties: Any) -> Tool:
    async def execute(args: dict[str, Any], context: ToolContext) -> str:
        return f"{name} ran"

    schema = {"type": "object", "properties": properties}
    return Tool(name=name, description=name, parameters=schema, execute=execute, kind=Kind.Read)


def write_agent(folder: Path, name: str, text: str, *lines: str) -> None:
    path = folder / "agents" / f"{name}.md"
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(["---", f"name: {name}", f"description: {name}", *lines, "---", text]))


async def begin(server: Serving) -> None:
    """Send the message, and leave when the run asks."""
    stream = server.stream("POST", "/api/v1/chat", json=BODY)
    async for chunk in stream:
        if chunk["type"] == "data-ask":
            return await stream.aclose()
    raise AssertionError("nothing was asked")


async def answer(server: Serving) -> AsyncIterator[dict[str, Any]]:
    """Answer the question of the run; return the events that follow."""
    [ask] = (await server.get("/api/v1/asks"))["asks"]
    body = {"value": {"answers": {"q1": "Ash"}}}
    assert (await server.client.post(f"/api/v1/asks/{ask['id']}", json=body)).status_code == 200
    events = server.stream("GET", f"/api/v1/runs/{ask['run_id']}/events")
    async for event in events:
        if event["type"] == "ask-answer" and event["ask_id"] == ask["id"]:
            break
    return events


async def answer_and_end(server: Serving) -> Any:
    """Answer the question of the run; return its result."""
    return [event async for event in await answer(server)][-1]["result"]


async def answer_and_be_asked(server: Serving) -> None:
    """Answer the question of the run, which asks another one."""
    async for event in await answer(server):
        if event["type"] == "ask-request":
            return
    raise AssertionError("nothing was asked")


def system(request: ModelRequest) -> list[Any]:
    return [message["content"] for message in request.messages if message["role"] == "system"]


def names(request: ModelRequest) -> Sequence[str]:
    return [tool.name for tool in request.tools]


async def test_system_text_options_and_tools_are_those_of_the_start_after_edits_and_restarts(
    tmp_path: Path,
) -> None:
    write_agent(tmp_path, "master", "You build ${query}.", "options: {temperature: 0.5}")
    tools = [make_tool("look"), make_tool("count")]
    ask = [call("ask_user", QUESTIONS, f"c{number}") for number in range(4)]
    async with serve(tmp_path, [ask[0]], tools) as server:
        await begin(server)
        [first] = server.model.requests
    for number in range(1, 4):
        write_agent(tmp_path, "master", f"Edition {number}.", f"options: {{temperature: 0.{number}}}")
        reply = ask[number] if number < 3 else "A table of ash."
        more = [make_tool(f"new_{number}"), *tools]
        async with serve(tmp_path, [reply, "Unused."], more) as server:
            if number < 3:
                await answer_and_be_asked(server)
            else:
                assert await answer_and_end(server) == "A table of ash."
            [request] = server.model.requests
            assert system(request) == system(first)
            assert (request.options, names(request)) == (first.options, names(first))
            assert request.messages[: len(first.messages)] == first.messages
    assert "You build Build a table." in system(first)[0]


async def test_a_tool_that_is_gone_is_reported_to_the_model_and_to_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    tools = [make_tool("look"), make_tool("measure", length={"type": "number"})]
    async with serve(tmp_path, [call("ask_user", QUESTIONS)], tools) as server:
        await begin(server)
    changed = make_tool("measure", width={"type": "number"})
    with caplog.at_level(logging.WARNING, logger="dovetail.agents.setup"):
        async with serve(tmp_path, [call("ask_user", QUESTIONS, "c2"), "Done."], [changed]) as server:
            await answer_and_be_asked(server)
        assert "no longer available: `look`" in caplog.text
        async with serve(tmp_path, ["Done."], [changed]) as server:
            assert await answer_and_end(server) == "Done."
            said = [message["content"] for message in server.model.requests[0].messages]
    notices = [text for text in said if "resumed after a restart" in str(text)]
    assert len(notices) == 1  # not again after the second restart
    assert "no longer available: `look`" in notices[0]
    assert "new parameters, see their definitions: `measure`" in notices[0]


async def test_an_agent_below_keeps_its_own_beginning_too(tmp_path: Path) -> None:
    inputs = "inputs: {task: {type: string, description: the task}}"
    write_agent(tmp_path, "joiner", "You join ${task}.", inputs, "tools: [ask_user, look]")
    replies = [call("joiner", {"task": "legs"}), call("ask_user", QUESTIONS, "c2")]
    async with serve(tmp_path, replies, [make_tool("look")]) as server:
        await begin(server)
        first = server.model.requests[-1]
    write_agent(tmp_path, "joiner", "You burn ${task}.", inputs, "tools: [ask_user, look, burn]")
    async with serve(tmp_path, ["Joined.", "All done."], [make_tool("burn"), make_tool("look")]) as server:
        assert await answer_and_end(server) == "All done."
        request = server.model.requests[0]
    assert "You join legs." in system(first)
    assert request.messages[: len(first.messages)] == first.messages
    assert names(request) == names(first)


async def test_an_agent_that_was_removed_while_it_waited_is_reported_and_its_question_is_closed(
    tmp_path: Path,
) -> None:
    write_agent(tmp_path, "joiner", "You join.", "tools: [ask_user]")
    replies = [call("joiner", {"query": "legs"}), call("ask_user", QUESTIONS, "c2")]
    async with serve(tmp_path, replies) as server:
        await begin(server)
        [ask] = (await server.get("/api/v1/asks"))["asks"]
    (tmp_path / "agents" / "joiner.md").unlink()
    async with serve(tmp_path, ["Without a joiner, then."]) as server:
        events = [event async for event in server.stream("GET", f"/api/v1/runs/{ask['run_id']}/events")]
        assert (await server.get("/api/v1/asks"))["asks"] == []
        late = await server.client.post(
            f"/api/v1/asks/{ask['id']}", json={"value": {"answers": {"q1": "Ash"}}}
        )
        [request] = server.model.requests
    assert events[-1]["result"] == "Without a joiner, then."
    [told] = [message["content"] for message in request.messages if message["role"] == "tool"]
    assert told.startswith("Agent 'joiner' no longer exists")
    assert late.status_code == 409
    assert "its agent no longer exists" in late.json()["error"]["message"]
