"""A copy that is taken while answers are being written is as good as the database was in that moment."""

import asyncio
from pathlib import Path

from dovetail.store.backup import back_up, restore
from dovetail.store.database import Database
from dovetail.testing import Gate
from patience import PATIENCE
from serving import serve, text_of


def place(workspace: Path) -> Path:
    return workspace / ".dovetail" / "dovetail.db"


async def test_a_run_continues_here_and_in_the_copy(tmp_path: Path) -> None:
    here, there, copy = tmp_path / "here", tmp_path / "there", tmp_path / "copy.db"
    here.mkdir()
    there.mkdir()
    gate = Gate()
    async with serve(here, ["Hello.", ["one ", gate, "two"]]) as server, asyncio.timeout(PATIENCE):
        await server.chat("Hi")
        body = {"message": "Count.", "session_id": "s", "tab_id": "t"}
        stream = server.stream("POST", "/api/v1/chat", json=body)
        seen = [await anext(stream)]
        await gate.reached.async_wait()
        await asyncio.to_thread(back_up, Database(place(here)), copy)
        gate.open()
        seen += [chunk async for chunk in stream]
        assert text_of(seen) == "one two"
    assert restore(Database(place(there)), copy) is None
    run_id = seen[0]["messageMetadata"]["run_id"]
    async with serve(there, ["Uno, due."]) as server, asyncio.timeout(PATIENCE):
        events = [event async for event in server.stream("GET", f"/api/v1/runs/{run_id}/events")]
        assert (events[-1]["type"], events[-1]["reason"]) == ("run-end", "goal")
        path = (await server.get("/api/v1/sessions/s"))["path"]
    assert [message["parts"][-1]["text"] for message in path] == ["Hi", "Hello.", "Count.", "Uno, due."]
