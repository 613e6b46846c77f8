"""`dovetail mcp` offers an extension folder to any MCP client, over stdio and HTTP."""

import asyncio
import json
import re
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.types import ElicitResult

from dovetail.cli import main as frame
from patience import PATIENCE

pytestmark = pytest.mark.slow

EXTENSION = """
def cut(plank: str) -> dict:
    print("this goes to the log, not into the protocol")
    return {"plank": plank, "pieces": 2}

def burn() -> str:
    return "burnt"

def count():
    yield "one "
    yield "two"

def define(execute, kind, parameters=None):
    return {"label": "shed", "name": execute.__name__, "description": "Do it", "kind": kind,
            "parameters": parameters or {}, "execute": execute}

TOOLS = [define(cut, "read", {"plank": {"type": "string", "required": True}}), define(burn, "delete"),
         define(count, "think")]
"""
SOURCE = Path(__file__).parents[3] / "src"


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    folder = tmp_path / "extensions" / "shed"
    folder.mkdir(parents=True)
    (folder / "extension.py").write_text(EXTENSION)
    return {"PYTHONPATH": str(SOURCE), "WORKSPACE_ROOT": str(tmp_path)}


def connect(environment: dict[str, str], mode: str, *words: str, **options: Any) -> Client:
    command = ["-m", "dovetail", "mcp", "--only", "c*", "--only", "burn", *words]
    parameters = StdioServerParameters(command=sys.executable, args=command, env=environment)
    return Client(parameters, mode=mode, **options)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_tools_are_offered_over_stdio_and_the_client_is_asked(
    environment: dict[str, str], mode: str
) -> None:
    asked: list[str] = []
    answers = iter(["decline", "accept"])

    async def answer(context: Any, params: Any) -> ElicitResult:
        asked.append(params.message)
        action = next(answers)
        return ElicitResult(action=action, content={"approve": True} if action == "accept" else None)

    progress: list[str | None] = []

    async def note(done: float, total: float | None, message: str | None) -> None:
        progress.append(message)

    async with connect(environment, mode, elicitation_callback=answer) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert {"cut", "burn", "count"} <= set(tools)
        assert "read_file" not in tools
        assert tools["cut"].input_schema["required"] == ["plank"]
        assert tools["burn"].annotations is not None
        assert tools["burn"].annotations.destructive_hint is True
        cut = await client.call_tool("cut", {"plank": "oak"})
        assert (cut.is_error, cut.structured_content) == (False, {"plank": "oak", "pieces": 2})
        wrong = await client.call_tool("cut", {})
        assert wrong.is_error
        assert "`plank` is missing" in wrong.content[0].text
        declined = await client.call_tool("burn", {})
        assert declined.is_error
        approved = await client.call_tool("burn", {})
        assert approved.content[0].text == "burnt"
        assert len(asked) == 2
        assert asked[0].startswith("burn: it may change something outside")
        await client.call_tool("count", {}, progress_callback=note)
        assert progress == ["one ", "two"]


async def test_client_that_cannot_be_asked_is_refused(environment: dict[str, str]) -> None:
    async with connect(environment, "auto") as client:
        refused = await client.call_tool("burn", {})
    assert refused.is_error
    assert "no approver is available" in refused.content[0].text
    async with connect(environment, "auto", "--mode", "yolo") as client:
        assert not (await client.call_tool("burn", {})).is_error


async def test_an_edited_folder_is_offered_again_while_watching(
    environment: dict[str, str], tmp_path: Path
) -> None:
    source = tmp_path / "extensions" / "shed" / "extension.py"
    async with connect(environment, "auto", "--watch") as client:
        names: set[str] = set()
        never: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        while "carve" not in names:  # nobody says when a watcher has begun to watch
            source.write_text(re.sub(r"\bcut\b", "carve", EXTENSION))
            await asyncio.wait([never], timeout=0.3)
            names = {tool.name for tool in (await client.list_tools()).tools}
        carved = await client.call_tool("carve", {"plank": "oak"})
        assert carved.structured_content == {"plank": "oak", "pieces": 2}


@asynccontextmanager
async def serve_http(environment: dict[str, str]) -> AsyncIterator[str]:
    process = await asyncio.create_subprocess_exec(
        *[sys.executable, "-m", "dovetail", "mcp", "--http", "0"],
        env=environment,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        assert process.stderr is not None
        line = (await process.stderr.readline()).decode()
        assert line.startswith("MCP at http://127.0.0.1:"), line
        yield line.removeprefix("MCP at ").strip()
    finally:
        process.terminate()
        await process.wait()


async def test_tools_are_offered_over_http(environment: dict[str, str]) -> None:
    async with serve_http(environment) as address, Client(address) as client:
        result = await client.call_tool("cut", {"plank": "ash"})
        assert result.structured_content == {"plank": "ash", "pieces": 2}


def test_a_port_that_is_taken_or_none_is_one_clear_message(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(SystemExit):
            frame.main(["mcp", "--workspace", str(tmp_path), "--http", str(port)])
    told = capsys.readouterr().err
    assert f"Port {port} on 127.0.0.1 is already in use" in told
    assert f"dovetail mcp --http {port + 1}" in told
    with pytest.raises(SystemExit):
        frame.main(["mcp", "--workspace", str(tmp_path), "--only", "zz*", "--http", "99999"])
    told = capsys.readouterr().err
    assert "No tool matches zz* yet. Expected one of: read_artifact" in told
    assert "Invalid port 99999" in told


def test_no_other_machine_may_call_without_a_login(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        frame.main(["mcp", "--http", "8000", "--host", "0.0.0.0"])
    assert "Cannot serve MCP on '0.0.0.0'" in capsys.readouterr().err


HOSTILE = r"""
def call_all(text: str = "") -> dict:
    return {"caf\udce9": ["\ud83d", "a\0b"], "said": text}

def call_names(text: str = "") -> str:
    return "caf\udce9.txt\0"

def call_badly(text: str = "") -> str:
    raise ValueError("\ud83d\0")

def call_slowly(text: str = ""):
    yield "\ud83d"
    yield "\0"

def define(execute):
    return {"label": "shed", "name": execute.__name__, "description": "Do \ud83d", "kind": "read",
            "parameters": {"text": {"type": "string"}}, "execute": execute}

TOOLS = [define(call_all), define(call_names), define(call_badly), define(call_slowly)]
"""


async def test_text_that_is_not_utf_8_does_not_end_the_server(
    environment: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "extensions" / "shed" / "extension.py").write_text(HOSTILE)
    async with asyncio.timeout(PATIENCE), connect(environment, "auto") as client:
        for _ in range(2):
            tools = [tool for tool in (await client.list_tools()).tools if tool.name.startswith("call_")]
            assert {tool.description for tool in tools} == {"Do \ufffd"}
            for tool in tools:
                result = await client.call_tool(tool.name, {"text": "a\0b"})
                assert "\ufffd" in result.content[0].text
                assert result.is_error is (tool.name == "call_badly")
            assert len(tools) == 4


async def test_a_request_that_is_not_utf_8_does_not_end_the_server(environment: dict[str, str]) -> None:
    command = [sys.executable, "-m", "dovetail", "mcp", "--only", "c*"]
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *command, stdin=pipe, stdout=pipe, env={**environment, "PATH": ""}
    )
    assert process.stdin is not None
    assert process.stdout is not None
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    first = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    bad = {"name": "cut", "arguments": {"plank": "\ud83d"}}
    call = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": bad}
    last = {"jsonrpc": "2.0", "id": 3, "method": "tools/list"}
    lines = [json.dumps(one).encode() for one in (first, ready, call)]
    for line in [*lines, b'{"id": "\xe9\xff\xed\xa0\x80"}', b"\0\0", json.dumps(last).encode()]:
        process.stdin.write(line + b"\n")
    try:
        async with asyncio.timeout(PATIENCE):
            while json.loads(await process.stdout.readline()).get("id") != 3:
                pass
    finally:
        process.stdin.close()
        await process.wait()


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_clients_learn_that_an_edit_has_changed_the_tools(
    environment: dict[str, str], tmp_path: Path, mode: str
) -> None:
    changed = asyncio.Event()

    async def note(message: Any) -> None:
        if getattr(message, "method", "") == "notifications/tools/list_changed":
            changed.set()

    async with connect(environment, mode, "--watch", message_handler=note) as client:
        assert "cut" in [tool.name for tool in (await client.list_tools()).tools]
        edited = EXTENSION.replace("def cut(", "def carve(").replace("define(cut,", "define(carve,")
        if mode == "legacy":
            (tmp_path / "extensions" / "shed" / "extension.py").write_text(edited)
            await changed.wait()
        else:
            async with client.listen(tools_list_changed=True) as events:
                (tmp_path / "extensions" / "shed" / "extension.py").write_text(edited)
                await anext(aiter(events))
        assert "carve" in [tool.name for tool in (await client.list_tools()).tools]
