"""A person tries a tool: it asks them, runs in their tab, and is refused where the policy refuses."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from dovetail.events.call import Kind
from dovetail.server import tool_trial
from dovetail.tools.makers.browser import make_browser_tool
from dovetail.tools.makers.function import make_tool
from dovetail.tools.tool import Tool
from patience import PATIENCE
from serving import Serving, serve


def make_note_tool(notes: list[str]) -> Tool:
    def write_note(text: str) -> str:
        """Keep a note."""
        notes.append(text)
        return f"kept {text}"

    return make_tool(write_note, kind=Kind.Write)


async def try_tool(
    server: Serving, name: str, arguments: dict[str, Any], answer: dict[str, Any] | None
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Try a tool and answer what it asks; return its events, and its outcome."""
    body = {"arguments": arguments, "tab_id": "tab"}
    started = await server.client.post(f"/api/v1/tools/{name}/call", json=body)
    assert started.status_code == 202
    run_id = started.json()["run_id"]
    events: list[dict[str, Any]] = []
    async for event in server.stream("GET", f"/api/v1/runs/{run_id}/events"):
        events.append(event)
        if event["type"] == "ask-request" and answer is not None:
            kind, call_id = event["kind"], event["call_id"]
            path = "/ai/tools/ack" if kind == "browser" else f"/api/v1/asks/{event['ask_id']}"
            given = {"toolCallId": call_id, **answer} if kind == "browser" else answer
            assert (await server.client.post(path, json=given)).status_code == 200
    return events, (await server.get(f"/api/v1/runs/{run_id}"))["result"]


async def test_a_tool_that_asks_is_allowed_and_declined_by_the_person_who_tries_it(tmp_path: Path) -> None:
    notes: list[str] = []
    async with serve(tmp_path, tools=[make_note_tool(notes)]) as server:
        events, outcome = await try_tool(server, "write_note", {"text": "oak"}, {"approved": True})
        [asked] = [event for event in events if event["type"] == "ask-request"]
        assert (asked["payload"]["tool"], asked["payload"]["args"]) == ("write_note", {"text": "oak"})
        assert (outcome["status"], outcome["result"]["llm_content"]) == ("ok", "kept oak")
        _, declined = await try_tool(server, "write_note", {"text": "elm"}, {"approved": False})
        assert (declined["status"], declined["error"]["type"]) == ("denied", "declined")
        assert notes == ["oak"]
        sessions = (await server.get("/api/v1/sessions"))["sessions"]
        assert sessions == []


async def test_a_browser_tool_acts_in_the_tab_that_tries_it(tmp_path: Path) -> None:
    look = make_browser_tool("look", "Look.", {"type": "object"})
    async with serve(tmp_path, tools=[look]) as server:
        answer = {"status": "success", "output": {"seen": "a fox"}}
        events, outcome = await try_tool(server, "look", {}, answer)
        [asked] = [event for event in events if event["type"] == "ask-request"]
        assert (asked["kind"], asked["payload"]["tab_id"]) == ("browser", "tab")
        assert outcome["result"]["data"] == {"seen": "a fox"}


async def test_the_policy_refuses_a_trial_as_any_other_call(tmp_path: Path) -> None:
    notes: list[str] = []
    plan = {"policy": {"mode": "plan"}}
    async with serve(tmp_path, tools=[make_note_tool(notes)], settings=plan) as server:
        events, outcome = await try_tool(server, "write_note", {"text": "oak"}, None)
        assert (outcome["status"], outcome["error"]["type"]) == ("denied", "policy_violation")
        assert [event for event in events if event["type"] == "ask-request"] == []
        assert notes == []


async def test_a_question_of_a_trial_that_is_left_alone_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tool_trial, "WAIT", 0.01)
    notes: list[str] = []
    async with serve(tmp_path, tools=[make_note_tool(notes)]) as server, asyncio.timeout(PATIENCE):
        _, outcome = await try_tool(server, "write_note", {"text": "oak"}, None)
        assert (outcome["status"], notes) == ("timeout", [])


async def test_a_trial_belongs_to_its_owner(tmp_path: Path) -> None:
    settings = {"server": {"api_keys": "ann:one-key,bob:two-key"}}
    ann, bob = ({"authorization": f"Bearer {key}-key"} for key in ("one", "two"))
    async with serve(tmp_path, tools=[make_note_tool([])], settings=settings) as server:
        body = {"arguments": {"text": "oak"}, "tab_id": "tab"}
        started = await server.client.post("/api/v1/tools/write_note/call", json=body, headers=ann)
        run = f"/api/v1/runs/{started.json()['run_id']}"
        async with asyncio.timeout(PATIENCE):
            while not (open_asks := (await server.get("/api/v1/asks", headers=ann))["asks"]):
                pass
        ask = f"/api/v1/asks/{open_asks[0]['ask_id']}"
        assert (await server.client.get(run, headers=bob)).status_code == 404
        assert (await server.client.post(ask, json={"approved": True}, headers=bob)).status_code == 404
        assert (await server.client.post(f"{run}/cancel", headers=ann)).status_code == 202
