"""Editing agents, skills and prompts over HTTP."""

from pathlib import Path

import pytest

from serving import serve

SOURCES = "/api/v1/sources"
POET = "---\nname: poet\ndescription: Writes verses.\n---\nWrite a verse.\n"


async def test_agent_is_created_used_changed_and_deleted_while_the_server_runs(tmp_path: Path) -> None:
    async with serve(tmp_path) as server:

        async def names() -> list[str]:
            return [agent["name"] for agent in (await server.get("/api/v1/agents"))["agents"]]

        created = await server.client.post(f"{SOURCES}/agents", json={"name": "poet", "text": POET})
        assert created.status_code == 201
        assert created.json()["path"] == "agents/poet.md"
        assert "poet" in await names()
        broken = await server.client.put(f"{SOURCES}/agents/poet", json={"text": "nothing"})
        assert broken.status_code == 422
        assert broken.json()["error"]["message"] == "Missing front matter."
        assert (await server.get(f"{SOURCES}/agents/poet"))["text"] == POET
        stale = {"text": POET, "version": "old"}
        assert (await server.client.put(f"{SOURCES}/agents/poet", json=stale)).status_code == 409
        assert (await server.client.delete(f"{SOURCES}/agents/poet")).status_code == 204
        assert "poet" not in await names()


async def test_texts_need_the_admin_token_if_there_is_one(tmp_path: Path) -> None:
    settings = {"server": {"admin_token": "the-admin-token"}}
    async with serve(tmp_path, settings=settings) as server:
        assert (await server.client.get(f"{SOURCES}/agents/master")).status_code == 403
        headers = {"x-admin-token": "the-admin-token"}
        assert (await server.client.get(f"{SOURCES}/agents/master", headers=headers)).status_code == 200


async def test_unknown_kind_and_name_are_explained(tmp_path: Path) -> None:
    async with serve(tmp_path) as server:
        assert (await server.client.get(f"{SOURCES}/poems/x")).status_code == 422
        missing = await server.client.get(f"{SOURCES}/agents/maste")
        assert missing.status_code == 404
        assert "Did you mean" in missing.text


@pytest.mark.parametrize("way", ["link", "hard link"])
@pytest.mark.parametrize("place", ["agents/spy.md", "skills/spy/SKILL.md", "prompts/spy.yaml"])
async def test_no_text_leads_to_the_folder_of_dovetail(tmp_path: Path, place: str, way: str) -> None:
    secret, spy = tmp_path / ".dovetail" / "note.txt", tmp_path / place
    secret.parent.mkdir()
    secret.write_text("behind the oak")
    spy.parent.mkdir(parents=True)
    if way == "link":
        spy.symlink_to(secret)
    else:
        spy.hardlink_to(secret)
    address = f"{SOURCES}/{place.split('/')[0]}/spy"
    async with serve(tmp_path) as server:
        refused = await server.client.get(address)
        assert (refused.status_code, "behind the oak" in refused.text) == (400, False)
        assert "Dovetail's own folder" in refused.text
        assert (await server.client.put(address, json={"text": POET})).status_code == 422
        assert (await server.client.delete(address)).status_code == 422
    assert secret.read_text() == "behind the oak"
