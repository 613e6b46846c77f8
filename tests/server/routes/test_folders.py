"""Pins and folders of sessions."""

from pathlib import Path
from typing import Any

from serving import Serving, serve

SESSIONS = "/api/v1/sessions"


async def titles(server: Serving, query: str = "") -> list[str]:
    return [session["title"] for session in (await server.get(f"{SESSIONS}?{query}"))["sessions"]]


async def change(server: Serving, session_id: str, **changes: Any) -> dict[str, Any]:
    response = await server.client.patch(f"{SESSIONS}/{session_id}", json=changes)
    assert response.status_code == 200, response.text
    return response.json()


async def make_sessions(server: Serving) -> None:
    for name in ("oak", "elm", "ash"):
        await server.client.post(SESSIONS, json={"id": name, "title": name})


async def test_filing_a_session_keeps_its_place_in_time(tmp_path: Path) -> None:
    async with serve(tmp_path) as server:
        await make_sessions(server)
        before = (await server.get(f"{SESSIONS}/oak"))["updated_at"]
        changed = await change(server, "oak", pinned=True, folder="Wood")
        assert (changed["pinned"], changed["folder"], changed["updated_at"]) == (True, "Wood", before)
        assert await titles(server) == ["ash", "elm", "oak"]


async def test_sessions_are_listed_by_pin_and_by_folder(tmp_path: Path) -> None:
    async with serve(tmp_path) as server:
        await make_sessions(server)
        await change(server, "oak", pinned=True)
        await change(server, "elm", folder="Wood")
        assert await titles(server, "pinned=true") == ["oak"]
        assert await titles(server, "folder=Wood") == ["elm"]
        assert await titles(server, "pinned=false&folder=") == ["ash"]
        assert await server.get("/api/v1/folders") == {"folders": [{"name": "Wood", "sessions": 1}]}


async def test_folder_is_renamed_and_dissolved(tmp_path: Path) -> None:
    async with serve(tmp_path) as server:
        await make_sessions(server)
        await change(server, "elm", folder="A/B wood")
        renamed = await server.client.patch("/api/v1/folders/A%2FB wood", json={"name": "Trees"})
        assert renamed.json() == {"sessions": 1}
        assert await titles(server, "folder=Trees") == ["elm"]
        await server.client.patch("/api/v1/folders/Trees", json={"name": None})
        assert await server.get("/api/v1/folders") == {"folders": []}
        missing = await server.client.patch("/api/v1/folders/Trees", json={"name": "X"})
        assert missing.status_code == 404


async def test_folder_without_a_name_is_refused(tmp_path: Path) -> None:
    async with serve(tmp_path) as server:
        await make_sessions(server)
        refused = await server.client.patch(f"{SESSIONS}/oak", json={"folder": " "})
        assert refused.status_code == 422
