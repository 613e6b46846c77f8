"""What the model reads is stored before it reads it, so that a crash does not change its history."""

import sqlite3
from pathlib import Path

from dovetail.events.call import ModelRequest
from dovetail.events.tool_context import ToolContext
from dovetail.tools.tool import Tool
from serving import serve, text_of


async def execute(args: dict[str, object], context: ToolContext) -> str:
    return "looked"


async def test_the_results_of_a_turn_are_stored_before_the_model_is_asked_again(tmp_path: Path) -> None:
    stored: list[int] = []

    def look_up(request: ModelRequest) -> str:
        connection = sqlite3.connect(tmp_path / ".dovetail" / "dovetail.db")
        stored.append(
            connection.execute("SELECT count(*) FROM entries WHERE type = 'turn-end'").fetchone()[0]
        )
        connection.close()
        return "Done."

    look = Tool(name="look", description="Look.", parameters={"type": "object"}, execute=execute)
    calls = {"tool_calls": [{"call_id": "c", "name": "look"}]}
    async with serve(tmp_path, [calls, look_up], [look]) as server:
        assert text_of(await server.chat("Look.")) == "Done."
    assert stored == [1]
