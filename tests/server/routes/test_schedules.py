"""Schedules over HTTP: add, view, change, pause, run now, delete, and what is refused."""

from pathlib import Path
from typing import Any

import pytest

from dovetail.testing import Gate
from serving import Serving, serve

PATH = "/api/v1/schedules"
LINE = "0 9 * * 1-5 Europe/Berlin"


async def add(server: Serving, **fields: Any) -> dict[str, Any]:
    answer = await server.client.post(PATH, json={"schedule": LINE, "message": "What is new?", **fields})
    assert answer.status_code == 201, answer.text
    return answer.json()


async def test_a_schedule_is_added_listed_changed_and_deleted(tmp_path: Path) -> None:
    async with serve(tmp_path) as server:
        added = await add(server, title="News", agent="master")
        place = f"{PATH}/{added['id']}"
        assert (added["schedule"], added["source"], added["last"]) == (LINE, "api", None)
        assert added["next_at"] > added["created_at"]
        assert (await server.get(PATH))["schedules"] == [added]
        changes = {"schedule": "30 6 * * *", "title": "Early", "model": "openai:x"}
        changed = (await server.client.patch(place, json=changes)).json()
        assert (changed["schedule"], changed["title"]) == ("30 6 * * * UTC", "Early")
        assert (changed["message"], changed["model"]) == ("What is new?", "openai:x")
        assert changed["next_at"].endswith("T06:30:00.000Z")
        assert (await server.client.patch(place, json={"model": None})).json()["model"] is None
        assert await server.get(place) == {**changed, "model": None, "ticks": []}
        assert (await server.client.delete(place)).status_code == 204
        for method in ("GET", "DELETE"):
            assert (await server.client.request(method, place)).status_code == 404
        assert (await server.get(PATH))["schedules"] == []


async def test_a_paused_schedule_has_no_next_tick(tmp_path: Path) -> None:
    async with serve(tmp_path) as server:
        added = await add(server)
        place = f"{PATH}/{added['id']}"
        paused = (await server.client.patch(place, json={"enabled": False})).json()
        assert (paused["enabled"], paused["next_at"]) == (False, None)
        resumed = (await server.client.patch(place, json={"enabled": True})).json()
        assert resumed == added
        assert (await add(server, enabled=False))["next_at"] is None


async def test_a_schedule_runs_now_and_its_next_tick_stays(tmp_path: Path) -> None:
    gate = Gate()
    async with serve(tmp_path, [[gate, "Nothing."], "Once more."]) as server:
        added = await add(server, session_id="daily")
        place = f"{PATH}/{added['id']}"
        answer = await server.client.post(f"{place}/run")
        assert answer.status_code == 202
        started = answer.json()
        assert (started["state"], started["session_id"]) == ("manual", "daily")
        busy = await server.client.post(f"{place}/run")
        assert busy.status_code == 409
        assert started["run_id"] in busy.json()["error"]["message"]
        gate.open()
        await server.client.get(f"/api/v1/runs/{started['run_id']}/events")
        viewed = await server.get(place)
        assert viewed["next_at"] == added["next_at"]
        (tick,) = viewed["ticks"]
        assert tick == viewed["last"]
        assert tick["run_id"] == started["run_id"]
        session = await server.get("/api/v1/sessions/daily")
        assert [message["parts"][-1]["text"] for message in session["path"]] == ["What is new?", "Nothing."]


@pytest.mark.parametrize(
    ("fields", "status", "problem"),
    [
        ({"schedule": "61 9 * * *"}, 422, "Invalid minute '61'"),
        ({"schedule": "0 9 * * * Europe/Berln"}, 422, "Did you mean 'Europe/Berlin'?"),
        ({"schedule": "daily"}, 422, "needs five fields"),
        ({"schedule": 5}, 422, "schedule"),
        ({"message": "  "}, 422, "message"),
        ({"message": None}, 422, "message"),
        ({"missed": "all"}, 422, "'latest' or 'skip'"),
        ({"sesion_id": "s"}, 422, "Unknown field 'sesion_id'"),
        ({"session_id": "a/b"}, 422, "session_id"),
        ({"agent": "mastr"}, 400, "master"),
        ({"mode": "yolo"}, 400, "yolo"),
        ({"model": "local:/etc/model.gguf"}, 400, "cannot name a file by its path"),
    ],
)
async def test_a_wrong_schedule_is_refused(
    tmp_path: Path, fields: dict[str, Any], status: int, problem: str
) -> None:
    async with serve(tmp_path) as server:
        added = await add(server)
        body = {"schedule": LINE, "message": "What is new?", **fields}
        for answer in (
            await server.client.post(PATH, json=body),
            await server.client.patch(f"{PATH}/{added['id']}", json=fields),
        ):
            assert answer.status_code == status, answer.text
            assert problem in answer.text
        assert (await server.get(PATH))["schedules"] == [added]


async def test_a_change_of_nothing_is_refused(tmp_path: Path) -> None:
    async with serve(tmp_path) as server:
        added = await add(server)
        answer = await server.client.patch(f"{PATH}/{added['id']}", json={})
        assert answer.status_code == 422


async def test_a_schedule_of_a_file_can_only_be_paused_and_run(tmp_path: Path) -> None:
    folder = tmp_path / "agents"
    folder.mkdir()
    text = f'---\ndescription: Looks.\nschedule: [{{schedule: "{LINE}", message: Look.}}]\n---\nLook well.'
    (folder / "scout.md").write_text(text)
    async with serve(tmp_path, ["Seen."]) as server:
        (listed,) = (await server.get(PATH))["schedules"]
        place = f"{PATH}/{listed['id']}"
        assert (listed["id"], listed["source"], listed["message"]) == ("scout.1", "file", "Look.")
        for method, body in (("PATCH", {"title": "x"}), ("DELETE", None)):
            refused = await server.client.request(method, place, json=body)
            assert refused.status_code == 409
            assert "comes from the file of agent 'scout'" in refused.text
        assert (await server.client.patch(place, json={"enabled": False})).json()["enabled"] is False
        await server.client.post("/api/v1/extensions/reload")
        assert (await server.get(place))["enabled"] is False
        assert (await server.client.post(f"{place}/run")).status_code == 202


async def test_a_session_of_another_owner_is_not_found(tmp_path: Path) -> None:
    settings = {"server": {"api_keys": "ann:one-key,bob:two-key"}}
    ann, bob = ({"authorization": f"Bearer {key}"} for key in ("one-key", "two-key"))
    async with serve(tmp_path, settings=settings) as server:
        await server.client.post("/api/v1/sessions", json={"id": "s"}, headers=ann)
        body = {"schedule": LINE, "message": "Look.", "session_id": "s"}
        assert (await server.client.post(PATH, json=body, headers=bob)).status_code == 404
        assert (await server.client.post(PATH, json=body, headers=ann)).status_code == 201
