"""Large results of a chat: kept in the database, read on by the model, gone with their session."""

from pathlib import Path
from typing import Any

import sqlalchemy as sa

from dovetail.events.call import Kind
from dovetail.events.tool_context import ToolContext
from dovetail.store.database import Database
from dovetail.store.tables import artifacts
from dovetail.tools.tool import Tool
from serving import serve

CALL = {"tool_calls": [{"call_id": "c1", "name": "tell", "arguments": {}}]}


def tell_tool() -> Tool:
    async def tell(args: dict[str, Any], context: ToolContext) -> str:
        return "0123456789" * 5000

    schema = {"type": "object", "properties": {}}
    return Tool(name="tell", description="Tell much.", parameters=schema, execute=tell, kind=Kind.Read)


async def stored(path: Path) -> list[tuple[str, str | None, int]]:
    statement = sa.select(artifacts.c.owner, artifacts.c.session_id, artifacts.c.size)
    async with Database(path) as database:
        rows = await database.read(lambda connection: connection.execute(statement).all())
    return [tuple(row) for row in rows]


async def test_a_large_result_survives_a_restart_and_goes_with_its_session(tmp_path: Path) -> None:
    place = tmp_path / ".dovetail" / "dovetail.db"
    async with serve(tmp_path, [CALL, "Much."], [tell_tool()]) as server:
        chunks = await server.chat("Tell me")
        output = next(chunk["output"] for chunk in chunks if chunk["type"] == "tool-output-available")
    assert await stored(place) == [("local", "s", 50_000)]
    arguments = {"artifact_id": output["artifact_id"], "offset": 49_990}
    read = {"tool_calls": [{"call_id": "c2", "name": "read_artifact", "arguments": arguments}]}
    async with serve(tmp_path, [read, "The end."], [tell_tool()]) as server:
        await server.chat("Go on")
        result = server.model.requests[-1].messages[-1]["content"]
        assert result.startswith("0123456789\n")
        await server.client.delete("/api/v1/sessions/s")
    assert await stored(place) == []


async def test_the_whole_result_is_served_to_its_owner_alone(tmp_path: Path) -> None:
    settings = {"server": {"api_keys": "ann:one-key,bob:two-key"}}
    ann, bob = {"authorization": "Bearer one-key"}, {"authorization": "Bearer two-key"}
    async with serve(tmp_path, [CALL, "Much."], [tell_tool()], settings) as server:
        body = {"session_id": "s", "message": "Tell me"}
        chunks = [chunk async for chunk in server.stream("POST", "/api/v1/chat", json=body, headers=ann)]
        output = next(chunk["output"] for chunk in chunks if chunk["type"] == "tool-output-available")
        path = f"/api/v1/artifacts/{output['artifact_id']}"
        whole = await server.client.get(path, headers=ann)
        assert (whole.status_code, whole.text) == (200, "0123456789" * 5000)
        assert whole.headers["content-type"].startswith("text/plain")
        missing = await server.client.get(path, headers=bob)
        assert missing.status_code == 404
