"""Agent files that are trusted while a server for other users is running."""

import asyncio
from pathlib import Path

import pytest

from command_line import run
from dovetail.cli.terminal import open_record
from patience import PATIENCE
from serving import serve, text_of

SCOUT = "---\ndescription: Looks.\nquery: Look.\nschedule: '0 9 * * *'\n---\nYou look {how}.\n"


async def test_running_server_uses_a_file_as_soon_as_it_is_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DOVETAIL_DATA", str(tmp_path / "data"))
    scout = tmp_path / "agents" / "scout.md"
    scout.parent.mkdir()
    scout.write_text(SCOUT.format(how="around"))
    async with serve(tmp_path, ["Seen.", "Seen twice."]) as server:
        server.app.agents.trust = open_record(tmp_path)
        await server.app.reload()
        body = {"message": "go", "session_id": "s", "agent": "scout"}
        refused = await server.client.post("/api/v1/chat", json=body)
        assert refused.status_code == 400
        assert "not trusted yet" in refused.text
        assert run("agents", "trust") == 0
        assert text_of(await server.chat("go", agent="scout")) == "Seen."
        assert "scout" in [tool["name"] for tool in (await server.get("/api/v1/tools"))["tools"]]
        async with asyncio.timeout(PATIENCE):
            while not (listed := (await server.get("/api/v1/schedules"))["schedules"]):
                pass
        assert [each["agent"] for each in listed] == ["scout"]
        scout.write_text(SCOUT.format(how="twice"))
        assert run("agents", "trust") == 0
        assert text_of(await server.chat("go", session_id="t", agent="scout")) == "Seen twice."
        assert "You look twice." in str(server.model.requests[-1].messages)
