"""Usage, the limits of today and the processes over HTTP."""

from pathlib import Path
from typing import Any

import pytest

from serving import Serving, serve

pytestmark = pytest.mark.usefixtures("one_day")
KEYS = {"api_keys": "ann:one-key,bob:two-key", "admin_token": "boss"}
ANN, BOB = ({"authorization": f"Bearer {key}"} for key in ("one-key", "two-key"))
ADMIN = {**BOB, "x-admin-token": "boss"}


def reply(text: str, cost: float | None) -> dict[str, Any]:
    return {"text": text, "usage": {"input_tokens": 100, "output_tokens": 10, "cost": cost}}


async def ask(server: Serving, headers: dict[str, str]) -> None:
    answer = await server.client.post(
        "/api/v1/chat", json={"message": "Hi"}, headers={**headers, "accept": "application/json"}
    )
    assert answer.status_code == 200, answer.text


async def test_usage_is_summed_up_for_the_caller_and_for_all_owners(tmp_path: Path) -> None:
    replies = [reply("One.", 0.25), reply("Two.", 0.5), reply("Three.", None)]
    async with serve(tmp_path, replies, settings={"server": KEYS}) as server:
        for headers in (ANN, BOB, BOB):
            await ask(server, headers)
        own = await server.get("/api/v1/usage?by=model", headers=BOB)
        assert own["total"] == {
            "cost": 0.5,
            "input_tokens": 200,
            "output_tokens": 20,
            "unpriced_tokens": 110,
            "runs": 2,
        }
        (row,) = own["rows"]
        assert (row["cost"], row["runs"]) == (0.5, 2)
        owners = (await server.get("/api/v1/usage?by=owner&owner=*", headers=ADMIN))["rows"]
        assert {row["key"]: row["cost"] for row in owners} == {"ann": 0.25, "bob": 0.5}
        old = await server.get("/api/v1/usage?from=2020-01-01&to=2020-01-31", headers=BOB)
        assert (old["rows"], old["total"]["cost"], old["from"]) == ([], None, "2020-01-01")
        assert (await server.client.get("/api/v1/usage?by=hour", headers=BOB)).status_code == 422


async def test_today_is_shown_against_its_limits(tmp_path: Path) -> None:
    limits = {"day": {"calls": 10}, "owner_day": {"calls": 5}}
    settings = {"server": KEYS, "limits": limits}
    async with serve(tmp_path, [reply("One.", 0.25), reply("Two.", 0.5)], settings=settings) as server:
        await ask(server, ANN)
        await ask(server, BOB)
        today = await server.get("/api/v1/usage/today", headers=BOB)
        assert today["total"]["cost"] == 0.5
        (account,) = today["limits"]
        assert (account["scope"], account["name"], account["calls"]) == ("owner", "bob", 1)
        assert account["limit"] == {"cost": None, "calls": 5, "tokens": None}
        everything = (await server.get("/api/v1/usage/today?owner=*", headers=ADMIN))["limits"]
        counted = [(each["scope"], each["name"], each["calls"]) for each in everything]
        assert counted == [("service", "", 2), ("owner", "ann", 1), ("owner", "bob", 1)]


async def test_processes_are_for_the_admin(tmp_path: Path) -> None:
    async with serve(tmp_path, settings={"server": KEYS}) as server:
        assert (await server.client.get("/api/v1/workers", headers=BOB)).status_code == 403
        found = await server.get("/api/v1/workers", headers=ADMIN)
        (process,) = found["processes"]
        assert (process["id"], process["role"]) == (found["process_id"], "web")
        assert (process["is_alive"], process["queues"], process["runs"]) == (True, ["default"], 0)
        assert found["queues"] == []
