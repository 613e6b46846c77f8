"""An MCP server that is wrong or hostile: it is limited, and the reason is reported."""

import asyncio
import contextlib
import logging
import sys
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from mcp.types import jsonrpc_message_adapter

from dovetail.errors import ToolError
from dovetail.events.call import Kind, ToolCall
from dovetail.events.tool_context import ToolContext
from dovetail.policy import Policy
from dovetail.tools import RunContext, ToolRunner
from dovetail.tools.mcp.connection import McpConnection
from dovetail.tools.mcp.server import McpServer
from dovetail.tools.mcp.settings import ConfiguredServers, read_entry
from dovetail.tools.mcp.source import McpSource
from dovetail.tools.mcp.transport import read_again
from dovetail.tools.registry import ToolRegistry

pytestmark = pytest.mark.slow

SERVER = Path(__file__).parent / "hostile_server.py"


def entry(how: str, **fields: Any) -> dict[str, Any]:
    return {"command": sys.executable, "args": [str(SERVER), how], **fields}


@pytest.fixture
async def servers() -> AsyncIterator[ConfiguredServers]:
    servers = ConfiguredServers(ToolRegistry())
    yield servers
    await servers.close()


@pytest.mark.parametrize(
    ("how", "complaint"),
    [
        ("endless", "it has more than 100 pages"),
        ("empty-pages", "it has more than 100 pages"),
        ("repeated", "it repeats the cursor 'again'"),
        ("many", "it has more than 1000 tools"),
        ("large", "the descriptions have more than 5000000 characters"),
        ("wrong-type", "tools: Input should be a valid list, got 'none'"),
        ("wrong-schema", "tools.0.inputSchema: Input should be a valid dictionary"),
        ("deep", "its answer cannot be read; it may be nested too deeply"),
    ],
)
async def test_a_list_that_cannot_be_used_is_reported_with_its_reason(
    servers: ConfiguredServers, how: str, complaint: str
) -> None:
    await servers.connect({"shed": entry(how)})
    assert servers.problems["shed"].startswith("The tool list of MCP server 'shed' cannot be used: ")
    assert complaint in servers.problems["shed"]


async def test_names_that_no_model_takes_are_changed() -> None:
    registry = ToolRegistry()
    source = McpSource(read_entry("shed", entry("names")), registry)
    tools = await source.get_tools()
    assert [tool.name for tool in tools] == ["tool", "two_words", "files_read", "shed_files_read", "tool7"]
    await source.close()


async def test_a_huge_result_is_cut() -> None:
    connection = McpConnection(McpServer(name="shed", command=sys.executable, args=(str(SERVER), "result")))
    result = await connection.call("tool0", {}, ToolContext(call_id="c"))
    assert 4_999_000 < len(str(result.llm_content)) < 5_001_000
    assert "a part of it is left out" in str(result.llm_content)[-100:]
    await connection.close()


async def test_half_a_character_is_replaced_in_lists_and_results() -> None:
    source = McpSource(read_entry("shed", entry("half-characters")), ToolRegistry())
    [tool] = await source.get_tools()
    result = await tool.execute({}, ToolContext(call_id="c"))
    await source.close()
    assert tool.description == "a\ufffd"
    assert result.llm_content == "b\ufffd"


async def test_a_call_ends_when_its_answer_cannot_be_read() -> None:
    connection = McpConnection(
        McpServer(name="shed", command=sys.executable, args=(str(SERVER), "deep-result"))
    )
    with pytest.raises(ToolError, match="its answer cannot be read; it may be nested too deeply"):
        await connection.call("tool0", {}, ToolContext(call_id="c"))
    await connection.close()


def test_an_answer_nested_beyond_all_limits_still_names_its_call() -> None:
    text = '{"jsonrpc":"2.0","id":7,"result":{"a":' + "[" * 50_000 + "]" * 50_000 + "}}"
    with pytest.raises(ValueError, match="recursion") as caught:
        jsonrpc_message_adapter.validate_json(text)
    message, is_whole = read_again(caught.value)
    assert not is_whole
    assert message.message.id == 7
    assert "cannot be read" in message.message.error.message


@pytest.mark.parametrize(
    ("status", "complaint"),
    [
        (401, "it answered 401 (unauthorized). Check the `headers` of the server's entry"),
        (403, "it answered 403 (unauthorized)"),
        (500, "it answered with HTTP status 500"),
    ],
)
async def test_the_status_of_a_refusal_is_reported(
    servers: ConfiguredServers, status: int, complaint: str
) -> None:
    async def answer(request: web.Request) -> web.Response:
        return web.Response(status=status, text="no")

    application = web.Application()
    application.router.add_route("*", "/{path:.*}", answer)
    runner = web.AppRunner(application)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    await servers.connect({"shed": {"url": f"http://127.0.0.1:{runner.addresses[0][1]}/mcp"}})
    assert complaint in servers.problems["shed"]
    await runner.cleanup()


@pytest.mark.parametrize("how", ["json", "events", "gzip"])
async def test_an_answer_over_http_that_never_ends_is_given_up(
    servers: ConfiguredServers,
    how: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr("dovetail.tools.mcp.transport.MOST_BYTES", 1_000_000)
    monkeypatch.setattr("dovetail.tools.mcp.answers.LIST_SECONDS", 5.0)

    async def answer(request: web.Request) -> web.StreamResponse:
        message = await request.json() if request.method == "POST" else {}
        if "id" not in message:
            return web.Response(status=202 if message else 405)
        if message["method"] == "initialize":
            info = {"name": "hostile", "version": "1"}
            result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info}
            return web.json_response({"jsonrpc": "2.0", "id": message["id"], "result": result})
        if message["method"] != "tools/list":
            error = {"code": -32601, "message": "no"}
            return web.json_response({"jsonrpc": "2.0", "id": message["id"], "error": error})
        response = web.StreamResponse()
        response.content_type = "text/event-stream" if how == "events" else "application/json"
        if how == "gzip":
            response.headers["content-encoding"] = "gzip"
        await response.prepare(request)
        with contextlib.suppress(OSError):  # the client leaves
            await response.write(b"data: " if how == "events" else b'{"result": "')
            for _ in range(300):
                await response.write(b"x" * 100_000)
        return response

    application = web.Application()
    application.router.add_route("*", "/{path:.*}", answer)
    runner = web.AppRunner(application, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    await servers.connect({"shed": {"url": f"http://127.0.0.1:{runner.addresses[0][1]}/mcp"}})
    assert servers.problems["shed"].startswith("The tool list of MCP server 'shed' cannot be used: ")
    assert "rejected an answer of an MCP server" in caplog.text
    await runner.cleanup()


def test_a_server_of_the_settings_is_trusted_only_if_they_say_so() -> None:
    assert not read_entry("shed", entry("result")).trusted
    assert read_entry("shed", entry("result", trusted=True)).trusted
    with pytest.raises(Exception, match=r"shed\.trusted must be true or false, got 'false'"):
        read_entry("shed", entry("result", trusted="false"))


async def test_a_changed_tool_is_warned_of_and_asked_about_again(caplog: pytest.LogCaptureFixture) -> None:
    registry, policy = ToolRegistry(), Policy()
    source = McpSource(read_entry("shed", entry("changing")), registry)
    asked: list[str] = []

    async def ask(
        kind: str, call_id: str, payload: Mapping[str, Any], seconds: float | None
    ) -> Mapping[str, Any]:
        asked.append(str(payload["tool"]))
        return {"approved": True, "remember": "always"}

    async def call() -> None:
        made = ToolCall(call_id="c", name="tool0", arguments={})
        await ToolRunner(policy).run_call(registry.snapshot(), made, RunContext(ask=ask))

    caplog.set_level(logging.WARNING)
    registry.publish(source.name, await source.get_tools())
    assert [tool.kind for tool in registry.get_all_tools()] == [Kind.Execute]
    await call()
    await call()
    assert asked == ["tool0"]
    assert "has changed its tool" not in caplog.text
    registry.publish(source.name, await source.get_tools())
    assert "MCP server 'shed' has changed its tool 'tool0'" in caplog.text
    await call()
    await call()
    assert asked == ["tool0", "tool0"]
    await source.close()


async def test_many_notices_of_change_are_one_look_at_the_list(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dovetail.tools.mcp.connection.CHANGE_SECONDS", 0.0)
    source = McpSource(read_entry("shed", entry("changing")), ToolRegistry())
    await source.get_tools()
    seen: list[int] = []
    changed = asyncio.Event()

    def note(descriptions: Any) -> None:
        seen.append(len(descriptions))
        changed.set()

    source.connection.on_change = note
    for _ in range(1000):
        await source.connection._note_change()  # pyright: ignore[reportPrivateUsage]
    await changed.wait()
    assert len(seen) == 1
    await source.close()


def test_a_program_that_names_a_server_trusts_it() -> None:
    assert McpServer(name="shed", command="x").trusted
