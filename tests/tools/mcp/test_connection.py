"""Tools of real MCP servers, over stdio and HTTP, also when the server dies in the middle of a call."""

import asyncio
import gc
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from mcp.server import MCPServer

from dovetail.errors import ConfigError
from dovetail.events.call import Kind, ToolCall
from dovetail.events.run_events import Event, ToolProgress
from dovetail.tools import CallOutcome, RunContext, ToolManager, make_tool
from dovetail.tools.mcp.connection import McpConnection
from dovetail.tools.mcp.server import McpServer, read_servers
from ports import find_port

pytestmark = pytest.mark.slow

SERVER = Path(__file__).parent / "shed_server.py"


class Shed:
    """A server to connect to, which can be killed and started again."""

    def __init__(self, marks: Path, transport: str) -> None:
        self.marks = marks
        self.marks.touch()
        self.manager = ToolManager()
        self.port = find_port() if transport == "http" else None
        self.process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        if self.port is not None:
            self.process = await asyncio.create_subprocess_exec(
                sys.executable,
                str(SERVER),
                str(self.port),
                env={"SHED_MARKS": str(self.marks)},
                stdout=asyncio.subprocess.PIPE,
            )
            assert self.process.stdout is not None
            assert await self.process.stdout.readline() == b"ready\n"

    async def kill(self) -> None:
        if self.process is not None and self.process.returncode is None:
            self.process.kill()
            await self.process.wait()

    @property
    def server(self) -> McpServer:
        if self.port is not None:
            return McpServer(name="shed", url=f"http://127.0.0.1:{self.port}/mcp")
        environment = {"SHED_MARKS": str(self.marks)}
        return McpServer(name="shed", command=sys.executable, args=(str(SERVER),), env=environment)

    async def call(self, name: str, scope: RunContext | None = None, **arguments: Any) -> CallOutcome:
        call = ToolCall(call_id="call", name=name, arguments=arguments)
        return await self.manager.runner.run_call(
            self.manager.registry.snapshot(), call, scope or RunContext()
        )

    async def begin(self, name: str) -> tuple["asyncio.Task[CallOutcome]", RunContext]:
        """A call that is known to be at work in the server."""
        begun = asyncio.Event()

        def note(event: Event) -> None:
            if isinstance(event, ToolProgress):
                assert event.output == {"progress": 1.0, "total": 10.0, "message": "begun"}
                begun.set()

        scope = RunContext(emit=note)
        task = asyncio.create_task(self.call(name, scope))
        await begun.wait()
        return task, scope


@pytest.fixture(params=["stdio", "http"])
async def shed(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Shed]:
    shed = Shed(tmp_path / "marks", request.param)
    await shed.start()
    try:
        yield shed
    finally:
        await shed.manager.async_close()
        await shed.kill()


async def test_tools_of_a_server_are_called_like_all_others(shed: Shed) -> None:
    tools = {tool.name: tool for tool in await shed.manager.async_use_mcp(shed.server, tags="agent")}
    assert tools["add"].origin == "mcp:shed"
    assert (tools["add"].kind, tools["burn"].kind, tools["wait"].kind) == (
        Kind.Read,
        Kind.Execute,
        Kind.Other,
    )
    assert (await shed.call("add", a=40)).result.llm_content == "42"
    repaired = await shed.call("add", a="40")
    assert repaired.result.data == {"result": 42}
    denied = await shed.call("burn")
    assert denied.status == "denied"
    failed = await shed.call("fail")
    assert (failed.status, failed.result.error and failed.result.error.type) == ("error", "mcp_tool_error")
    picture = await shed.call("show")
    assert picture.result.llm_content == [
        {"type": "text", "text": "a picture:"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw=="}},
    ]


async def test_server_killed_in_the_middle_of_a_call_is_reported_and_reconnected(shed: Shed) -> None:
    await shed.manager.async_use_mcp(shed.server)
    outcome = await shed.call("crash")
    assert outcome.status == "error"
    assert outcome.result.error is not None
    assert outcome.result.error.type == "mcp_connection_lost"
    assert shed.marks.read_text() == "crashed\n"
    await shed.kill()
    await shed.start()
    assert (await shed.call("add", a=1)).result.llm_content == "3"


async def test_running_call_ends_when_the_server_process_is_killed(tmp_path: Path) -> None:
    shed = Shed(tmp_path / "marks", "http")
    await shed.start()
    await shed.manager.async_use_mcp(shed.server)
    task, _ = await shed.begin("wait")
    await shed.kill()
    outcome = await task
    assert outcome.result.error is not None
    assert outcome.result.error.type == "mcp_connection_lost"
    down = await shed.call("add", a=1)
    assert down.result.error is not None
    assert down.result.error.type == "mcp_unreachable"
    await shed.start()
    assert (await shed.call("add", a=1)).status == "ok"
    await shed.manager.async_close()
    await shed.kill()


async def test_idempotent_call_is_repeated_once_after_a_crash(tmp_path: Path) -> None:
    shed = Shed(tmp_path / "marks", "stdio")
    await shed.manager.async_use_mcp(shed.server)
    outcome = await shed.call("crash_safely")
    assert (outcome.status, outcome.result.llm_content) == ("ok", "second time")
    assert shed.marks.read_text() == "crashed\ncrashed\n"
    await shed.manager.async_close()


async def test_cancel_reaches_the_server(shed: Shed) -> None:
    await shed.manager.async_use_mcp(shed.server)
    task, scope = await shed.begin("wait")
    scope.cancelled.set()
    assert (await task).status == "interrupted"
    await _wait_for(lambda: shed.marks.read_text() == "begun\nstopped\n")
    assert (await shed.call("add", a=1)).status == "ok"


async def test_new_tool_of_a_server_appears_with_its_tags(shed: Shed) -> None:
    await shed.manager.async_use_mcp(shed.server, tags="agent")
    before = shed.manager.registry.snapshot()
    assert "sharpen" not in before
    assert (await shed.call("grow")).status == "ok"
    await _wait_for(lambda: "sharpen" in shed.manager.registry.snapshot())
    assert "sharpen" in [tool.name for tool in shed.manager.get_tools("agent")]
    assert "sharpen" not in before
    assert (await shed.call("sharpen")).result.llm_content == "sharp"


async def test_names_that_are_taken_get_the_servers_name_before_them(tmp_path: Path) -> None:
    shed = Shed(tmp_path / "marks", "stdio")
    shed.manager.add(make_tool(lambda: "mine", name="add"))
    await shed.manager.async_use_mcp(shed.server)
    assert (await shed.call("shed_add", a=1)).result.llm_content == "3"
    assert (await shed.call("add")).result.llm_content == "mine"
    await shed.manager.async_close()


async def test_servers_tools_are_allowed_excluded_and_trusted_one_by_one(tmp_path: Path) -> None:
    shed = Shed(tmp_path / "marks", "stdio")
    config = {
        "mcpServers": {
            "shed": {
                "command": sys.executable,
                "args": [str(SERVER)],
                "allow": ["a*", "crash*"],
                "exclude": ["*_safely"],
                "trusted": False,
            }
        }
    }
    tools = await shed.manager.async_use_mcp(config)
    assert [(tool.name, tool.kind) for tool in tools] == [("add", Kind.Execute), ("crash", Kind.Execute)]
    await shed.manager.async_close()


def test_sync_face_connects_and_calls_across_event_loops(tmp_path: Path) -> None:
    shed = Shed(tmp_path / "marks", "stdio")
    shed.manager.use_mcp(shed.server)
    assert shed.manager.call_tool("add", {"a": 1}) == {"result": 3}
    assert asyncio.run(shed.manager.async_call_tool("add", {"a": 2})) == {"result": 4}
    asyncio.run(shed.manager.async_close())


async def test_server_that_cannot_be_reached_is_an_error_that_names_it() -> None:
    manager = ToolManager()
    with pytest.raises(ConfigError, match="MCP server '127_0_0_1_9' cannot be reached"):
        await manager.async_use_mcp("http://127.0.0.1:9/mcp")
    with pytest.raises(ConfigError, match="MCP server 'no-such-program' cannot be reached"):
        await manager.async_use_mcp({"command": "/no-such-program"})


def test_transports_are_read_in_their_usual_forms() -> None:
    servers = read_servers([str(SERVER), "https://user:secret@tools.example:8080/mcp", {"url": "http://a/b"}])
    assert [server.name for server in servers] == ["shed_server", "tools_example_8080", "a"]
    with pytest.raises(ConfigError, match=r"Invalid MCP server 'nowhere\.py'\."):
        read_servers("nowhere.py")


async def _wait_for(condition: Callable[[], bool]) -> None:
    """Wait until something has happened because of another process."""
    while not condition():  # noqa: ASYNC110 - another process sets no event of ours
        await asyncio.sleep(0.01)


async def test_names_that_providers_refuse_are_changed_with_a_warning(
    caplog: pytest.LogCaptureFixture,
) -> None:
    server = MCPServer("shed")
    for name in ("planks.list", "planks_list", "x" * 80):
        server.tool(name=name)(lambda: "done")
    manager = ToolManager()
    names = [tool.name for tool in await manager.async_use_mcp(server)]
    assert names == ["shed_planks_list", "planks_list", "x" * 64]
    assert await manager.async_call_tool("shed_planks_list") == "done"
    assert "tool 'planks.list' of MCP server 'shed' is registered as 'shed_planks_list'" in caplog.text
    await manager.async_close()


def test_connection_given_up_with_its_loop_ends_in_silence(caplog: pytest.LogCaptureFixture) -> None:
    async def leave_while_it_opens() -> None:
        connection = McpConnection(McpServer(name="mute", command="sleep", args=("5",)))
        listing = asyncio.create_task(connection.list_tools())
        await asyncio.sleep(0)
        listing.cancel()

    asyncio.run(leave_while_it_opens())
    gc.collect()
    assert caplog.records == []
