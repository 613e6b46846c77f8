"""A server that stops while a question is open: the question stays open, and nothing is reported as ended."""

import asyncio
import logging
from pathlib import Path
from typing import Any

import pytest

from dovetail.events.call import Kind
from dovetail.events.tool_context import ToolContext
from dovetail.tools.tool import Tool
from patience import PATIENCE
from serving import serve


def make_tool() -> Tool:
    async def execute(args: dict[str, Any], context: ToolContext) -> str:
        return "written"

    schema = {"type": "object"}
    return Tool(name="write", description="Write.", parameters=schema, execute=execute, kind=Kind.Write)


async def test_a_question_outlives_stops_and_the_audit_records_its_call_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "dovetail.audit")
    call = {"tool_calls": [{"call_id": "c", "name": "write"}]}
    body = {"message": "Write.", "session_id": "s", "tab_id": "t"}
    async with serve(tmp_path, [call], [make_tool()]) as server, asyncio.timeout(PATIENCE):
        async for chunk in server.stream("POST", "/api/v1/chat", json=body):
            if chunk["type"] == "data-ask":
                break
        first = (await server.get("/api/v1/asks"))["asks"]
    async with serve(tmp_path, [], [make_tool()]) as server:
        assert (await server.get("/api/v1/asks"))["asks"] == first
    assert caplog.records == []
    async with serve(tmp_path, ["Done."], [make_tool()]) as server:
        path = f"/api/v1/asks/{first[0]['ask_id']}"
        assert (await server.client.post(path, json={"approved": True})).status_code == 200
        events = server.stream("GET", f"/api/v1/runs/{first[0]['run_id']}/events")
        async with asyncio.timeout(PATIENCE):
            types = [event["type"] async for event in events]
    assert (types.count("ask-request"), types.count("ask-answer"), types.count("tool-end")) == (1, 1, 1)
    assert [record.name for record in caplog.records] == ["dovetail.audit"]
