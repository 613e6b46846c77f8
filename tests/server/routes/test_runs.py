"""The list of runs over HTTP: filters, cost so far, cancelling, other owners for the admin only."""

from pathlib import Path
from typing import Any

import pytest

from dovetail.testing import Gate
from serving import Serving, serve

PATH = "/api/v1/runs"
KEYS = {"server": {"api_keys": "ann:one-key,bob:two-key", "admin_token": "boss"}}
ANN, BOB = ({"authorization": f"Bearer {key}"} for key in ("one-key", "two-key"))
ADMIN = {**BOB, "x-admin-token": "boss"}


async def ids(server: Serving, query: str = "", **options: Any) -> list[str]:
    return [run["session_id"] for run in (await server.get(f"{PATH}?{query}", **options))["runs"]]


async def test_runs_of_all_chats_are_listed_with_state_cost_and_duration(tmp_path: Path) -> None:
    gate = Gate()
    async with serve(tmp_path, ["Sunny.", "Rainy.", [gate, "Late."]]) as server:
        await server.chat("Weather in Bergen?", "s1")
        await server.chat("And in Oslo?", "s2")
        started = (
            await server.client.post(
                PATH.replace("runs", "chat"), json={"message": "Wait", "background": True}
            )
        ).json()
        page = await server.get(PATH)
        assert page["totals"]["runs"] == 3
        waiting, oslo, bergen = page["runs"]
        assert (waiting["id"], waiting["state"], waiting["ended_at"]) == (started["run_id"], "running", None)
        assert (bergen["title"], bergen["state"], bergen["reason"]) == ("Weather in Bergen?", "ended", "goal")
        assert bergen["duration"] > 0
        assert (await server.get(f"{PATH}/{oslo['id']}"))["duration"] == oslo["duration"]
        assert await ids(server, "state=ended&q=bergen") == ["s1"]
        assert await ids(server, "state=running&state=queued") == [waiting["session_id"]]
        assert await ids(server, "to=2020-01-01") == []
        assert len(await ids(server, "from=2020-01-01T00:00Z&reason=goal")) == 2
        assert (await server.client.post(f"{PATH}/{started['run_id']}/cancel")).status_code == 202
        gate.open()
        async for _ in server.stream("GET", f"{PATH}/{started['run_id']}/events"):
            pass
        assert await ids(server, "reason=cancelled") == [waiting["session_id"]]


async def test_pages_follow_the_cursor(tmp_path: Path) -> None:
    async with serve(tmp_path, ["One.", "Two.", "Three."]) as server:
        for name in ("s1", "s2", "s3"):
            await server.chat("Hi", name)
        first = await server.get(f"{PATH}?limit=2&sort=duration")
        second = await server.get(f"{PATH}?limit=2&sort=duration&cursor={first['cursor']}")
        found = [run["session_id"] for page in (first, second) for run in page["runs"]]
        assert sorted(found) == ["s1", "s2", "s3"]
        assert second["cursor"] is None
        assert (await server.client.get(f"{PATH}?cursor=x")).status_code == 404


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        ("state=done", "'queued', 'running', 'waiting' or 'ended'"),
        ("sort=price", "'time', 'cost', 'duration' or 'tokens'"),
        ("from=yesterday", "Invalid time 'yesterday'"),
        ("limit=0", "greater than or equal to 1"),
    ],
)
async def test_a_wrong_filter_is_explained(tmp_path: Path, query: str, problem: str) -> None:
    async with serve(tmp_path) as server:
        answer = await server.client.get(f"{PATH}?{query}")
        assert answer.status_code == 422
        assert problem in answer.json()["error"]["message"]


async def test_other_owners_are_for_the_admin(tmp_path: Path) -> None:
    async with serve(tmp_path, ["One.", "Two."], settings=KEYS) as server:
        for headers in (ANN, BOB):
            body = {"message": "Hi"}
            chat = "/api/v1/chat"
            answer = await server.client.post(
                chat, json=body, headers={**headers, "accept": "application/json"}
            )
            assert answer.status_code == 200
        (own,) = (await server.get(PATH, headers=BOB))["runs"]
        assert own["owner"] == "bob"
        assert (await server.client.get(f"{PATH}?owner=*", headers=BOB)).status_code == 403
        assert (await server.get(f"{PATH}/choices", headers=BOB))["sees_all"] is False
        everything = (await server.get(f"{PATH}?owner=*", headers=ADMIN))["runs"]
        assert [run["owner"] for run in everything] == ["bob", "ann"]
        choices = await server.get(f"{PATH}/choices?owner=*", headers=ADMIN)
        assert (choices["owners"], choices["sees_all"]) == (["ann", "bob"], True)
        (anns,) = (await server.get(f"{PATH}?owner=ann", headers=ADMIN))["runs"]
        assert (await server.get(f"{PATH}/{anns['id']}?owner=*", headers=ADMIN))["owner"] == "ann"
        assert (await server.client.get(f"{PATH}/{anns['id']}", headers=ADMIN)).status_code == 404
        journal = f"{PATH}/{anns['id']}/events?owner=ann"
        assert "run-end" in (await server.client.get(journal, headers=ADMIN)).text
        assert (await server.client.get(journal, headers=BOB)).status_code == 403
