"""Owner B can reach nothing of owner A: a table of every route of the interface."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from dovetail.events.call import Kind
from dovetail.events.tool_context import ToolContext
from dovetail.tools.tool import Tool
from postgres import make_database, uses_postgres
from serving import Serving, serve

SETTINGS = {"server": {"api_keys": "ann:one-key,bob:two-key"}}
ANN = {"authorization": "Bearer one-key"}
BOB = {"authorization": "Bearer two-key"}
SECRET = "the cat is in the garden"


@dataclass(frozen=True)
class Case:
    """What Bob sends, with Ann's ids for words that begin with `$`, and the status he gets."""

    status: int
    path: str = ""
    body: Any = None


ANSWERED = {"type": "dynamic-tool", "toolCallId": "c-drop", "state": "approval-responded"}
ACTED = {"type": "dynamic-tool", "toolCallId": "c-open", "state": "output-available", "output": "ha"}
REPLY = {"id": "$message", "role": "assistant"}

TABLE: dict[str, list[Case]] = {
    "GET /healthz": [Case(200)],
    "GET /readyz": [Case(200)],
    "GET /api/v1/artifacts/{artifact_id}": [Case(404, "/api/v1/artifacts/0123456789abcdef")],
    "GET /metrics": [Case(200)],
    "POST /api/v1/chat": [
        Case(404, body={"message": "Hi", "session_id": "$session"}),
        Case(404, body={"message": "Hi", "session_id": "$session", "background": True}),
        Case(404, body={"id": "$session", "messages": [], "trigger": "regenerate-message"}),
        Case(404, body={"message": "Hi", "session_id": "bobs", "parent_id": "$message"}),
        Case(
            404,
            body={
                "id": "$waiting",
                "messages": [
                    {
                        **REPLY,
                        "metadata": {"run_id": "$running"},
                        "parts": [{**ANSWERED, "approval": {"id": "$ask", "approved": True}}],
                    }
                ],
            },
        ),
        Case(404, body={"id": "$acting", "messages": [{**REPLY, "parts": [ACTED]}]}),
    ],
    "GET /api/v1/chat/{session_id}/stream": [Case(204, "/api/v1/chat/$waiting/stream")],
    "GET /api/v1/runs": [
        Case(200),
        Case(200, "/api/v1/runs?query=cat"),
        Case(403, "/api/v1/runs?owner=ann"),
        Case(403, "/api/v1/runs?owner=*"),
    ],
    "GET /api/v1/runs/choices": [Case(200), Case(403, "/api/v1/runs/choices?owner=*")],
    "GET /api/v1/usage": [Case(200, "/api/v1/usage?by=owner"), Case(403, "/api/v1/usage?by=owner&owner=*")],
    "GET /api/v1/usage/today": [Case(200), Case(403, "/api/v1/usage/today?owner=ann")],
    "GET /api/v1/workers": [Case(403)],
    "GET /api/v1/servers": [Case(403)],
    "POST /api/v1/servers/{name}/reconnect": [Case(403, "/api/v1/servers/x/reconnect")],
    "POST /api/v1/servers/{name}/login": [Case(403, "/api/v1/servers/x/login")],
    "DELETE /api/v1/servers/{name}/login": [Case(403, "/api/v1/servers/x/login")],
    "POST /api/v1/models/pull": [Case(403, body={"name": "x"})],
    "DELETE /api/v1/models/pull": [Case(403)],
    "POST /api/v1/models/check": [Case(403, body={"name": ""})],
    "GET /api/v1/models/keys": [Case(403)],
    "PUT /api/v1/models/keys/{provider}": [Case(403, "/api/v1/models/keys/x", {"key": "x"})],
    "DELETE /api/v1/models/keys/{provider}": [Case(403, "/api/v1/models/keys/x")],
    "POST /api/v1/models/keys/{provider}/check": [Case(403, "/api/v1/models/keys/x/check")],
    "GET /api/v1/policy": [Case(200), Case(403, "/api/v1/policy?owner=*")],
    "POST /api/v1/policy/try": [Case(200, body={"tool": "read_artifact"})],
    "GET /api/v1/policy/file": [Case(403)],
    "PUT /api/v1/policy/file": [Case(403, body={"text": "", "version": "other"})],
    "POST /api/v1/policy/rules": [Case(403, body={"action": "allow", "modes": ["wild"]})],
    "DELETE /api/v1/policy/rules/{rule_id}": [Case(403, "/api/v1/policy/rules/x")],
    "GET /api/v1/runs/{run_id}": [
        Case(404, "/api/v1/runs/$running"),
        Case(403, "/api/v1/runs/$running?owner=ann"),
        Case(404, "/api/v1/runs/$run"),
        Case(404, "/api/v1/runs/$running"),
    ],
    "GET /api/v1/runs/{run_id}/events": [
        Case(404, "/api/v1/runs/$run/events"),
        Case(404, "/api/v1/runs/$running/events?after=1"),
    ],
    "POST /api/v1/runs/{run_id}/cancel": [Case(404, "/api/v1/runs/$running/cancel", {"mode": "now"})],
    "POST /api/v1/runs/{run_id}/messages": [
        Case(404, "/api/v1/runs/$run/messages", {"message": "Hi"}),
        Case(404, "/api/v1/runs/$running/messages", {"message": "Hi", "mode": "queue"}),
    ],
    "GET /api/v1/feed": [],  # it never ends: routes/test_feed.py
    "GET /api/v1/asks": [Case(200), Case(200, "/api/v1/asks?run_id=$running")],
    "POST /api/v1/asks/{ask_id}": [
        Case(404, "/api/v1/asks/$ask", {"approved": True}),
        Case(404, "/api/v1/asks/$browser_ask", {"value": {"status": "success"}}),
    ],
    "POST /api/v1/asks/{ask_id}/claim": [Case(404, "/api/v1/asks/$browser_ask/claim", {"tab_id": "bob"})],
    "GET /api/v1/frames": [Case(200, "/api/v1/frames?url=http://127.0.0.1/&origin=https://a.example")],
    "GET /api/v1/policy/modes": [Case(200)],
    "GET /api/v1/policy/remembered": [Case(200)],
    "DELETE /api/v1/policy/remembered/{rule_id}": [Case(404, "/api/v1/policy/remembered/$allowed")],
    "POST /ai/tools/ack": [Case(202, body={"toolCallId": "c-open", "status": "success", "output": "ha"})],
    "GET /api/v1/sessions": [
        Case(200),
        Case(200, "/api/v1/sessions?q=cat"),
        Case(200, "/api/v1/sessions?parent=$session"),
    ],
    # The one place where an id that a client has chosen shows that it is taken: docs/security.md.
    "POST /api/v1/sessions": [Case(409, body={"id": "$session", "title": "mine"})],
    "POST /api/v1/sessions/import": [Case(201, body={"title": "mine", "messages": []})],
    "GET /api/v1/sessions/{session_id}": [
        Case(404, "/api/v1/sessions/$session"),
        Case(200, "/api/v1/sessions/$session?missing=empty"),  # as if it did not exist
    ],
    "PATCH /api/v1/sessions/{session_id}": [Case(404, "/api/v1/sessions/$session", {"title": "mine"})],
    "DELETE /api/v1/sessions/{session_id}": [
        Case(404, "/api/v1/sessions/$session"),
        Case(404, "/api/v1/sessions/$waiting"),
    ],
    "GET /api/v1/sources/{kind}/{name}": [Case(403, "/api/v1/sources/agents/master")],
    "POST /api/v1/sources/{kind}": [Case(403, "/api/v1/sources/agents", {"name": "x", "text": "x"})],
    "PUT /api/v1/sources/{kind}/{name}": [Case(403, "/api/v1/sources/agents/master", {"text": "x"})],
    "POST /api/v1/sources/{kind}/{name}/check": [
        Case(403, "/api/v1/sources/agents/master/check", {"text": "x"})
    ],
    "DELETE /api/v1/sources/{kind}/{name}": [Case(403, "/api/v1/sources/agents/master")],
    "GET /api/v1/folders": [Case(200)],
    "PATCH /api/v1/folders/{name}": [Case(404, "/api/v1/folders/Secrets", {"name": "mine"})],
    "POST /api/v1/sessions/{session_id}/shares": [Case(404, "/api/v1/sessions/$session/shares", {})],
    "GET /api/v1/sessions/{session_id}/shares": [Case(404, "/api/v1/sessions/$session/shares")],
    "DELETE /api/v1/sessions/{session_id}/shares/{token}": [
        Case(404, "/api/v1/sessions/$session/shares/x"),
        Case(404, "/api/v1/sessions/bobs/shares/x"),
    ],
    "GET /api/v1/shared/{token}": [Case(404, "/api/v1/shared/x")],
    "GET /api/v1/sessions/{session_id}/children": [Case(404, "/api/v1/sessions/$session/children")],
    "GET /api/v1/sessions/{session_id}/messages": [Case(404, "/api/v1/sessions/$session/messages")],
    "DELETE /api/v1/sessions/{session_id}/messages/{message_id}": [
        Case(404, "/api/v1/sessions/$session/messages/$message"),
        Case(404, "/api/v1/sessions/bobs/messages/$message"),
    ],
    "GET /api/v1/sessions/{session_id}/inbox": [Case(404, "/api/v1/sessions/$waiting/inbox")],
    "DELETE /api/v1/sessions/{session_id}/inbox/{message_id}": [
        Case(404, "/api/v1/sessions/$waiting/inbox/$letter"),
        Case(404, "/api/v1/sessions/bobs/inbox/$letter"),
    ],
    "GET /api/v1/sessions/{session_id}/export": [
        Case(404, "/api/v1/sessions/$session/export"),
        Case(404, "/api/v1/sessions/$session/export?format=markdown"),
    ],
    "GET /api/v1/schedules": [Case(200)],
    "POST /api/v1/schedules": [
        Case(404, body={"schedule": "0 9 * * *", "message": "Hi", "session_id": "$session"})
    ],
    "GET /api/v1/schedules/{schedule_id}": [Case(404, "/api/v1/schedules/$schedule")],
    "PATCH /api/v1/schedules/{schedule_id}": [
        Case(404, "/api/v1/schedules/$schedule", {"enabled": False}),
    ],
    "DELETE /api/v1/schedules/{schedule_id}": [Case(404, "/api/v1/schedules/$schedule")],
    "POST /api/v1/schedules/{schedule_id}/run": [Case(404, "/api/v1/schedules/$schedule/run")],
    "GET /api/v1/tools": [Case(200)],
    "POST /api/v1/tools/{name}/call": [
        Case(200, "/api/v1/tools/read_artifact/call", {"arguments": {"artifact_id": "$artifact"}})
    ],
    "GET /api/v1/agents": [Case(200)],
    "GET /api/v1/skills": [Case(200)],
    "GET /api/v1/prompts": [Case(200)],
    "POST /api/v1/prompts/{name}/render": [
        Case(200, "/api/v1/prompts/explain/render", {"variables": {"subject": "joints"}})
    ],
    "GET /api/v1/models": [Case(200)],
    "GET /api/v1/extensions": [Case(200)],
    "POST /api/v1/extensions/reload": [Case(403)],
    "POST /v1/chat/completions": [
        Case(200, body={"model": "master", "messages": [{"role": "user", "content": "What did Ann say?"}]})
    ],
    "POST /api/v1/sign-in": [Case(401, body={"key": "made up"})],
    "DELETE /api/v1/sign-in": [Case(204)],
    "GET /v1/models": [Case(200)],
    "GET /v1/models/{model}": [Case(404, "/v1/models/$run")],
}


def make_tool(name: str, kind: Kind, *, is_browser: bool = False) -> Tool:
    async def execute(args: dict[str, Any], context: ToolContext) -> Any:
        if is_browser:
            assert context.ask is not None
            return await context.ask("browser", {"url": "https://a.example"}, 60)
        return SECRET * 2000

    return Tool(
        name=name,
        description=name,
        parameters={"type": "object"},
        execute=execute,
        kind=kind,
        needs_tab=is_browser,
    )


@asynccontextmanager
async def set_scene(folder: Path) -> AsyncIterator[tuple[Serving, dict[str, str]]]:
    """Ann has a conversation, an artifact, a schedule, a run that asks and one that acts in her browser."""
    tools = [
        make_tool("look", Kind.Read),
        make_tool("drop", Kind.Delete),
        make_tool("open", Kind.Read, is_browser=True),
        make_tool("allow", Kind.Write),
    ]
    calls = [{"tool_calls": [{"call_id": f"c-{tool.name}", "name": tool.name}]} for tool in tools]
    replies = [calls[0], SECRET, calls[3], "Allowed.", calls[1], calls[2], "Nothing."]
    async with serve(folder, replies, tools, settings=SETTINGS) as server:
        server.client.headers.update(ANN)
        chunks = await server.chat(SECRET, "talk")
        start = chunks[0]
        [output] = [chunk["output"] for chunk in chunks if chunk["type"] == "tool-output-available"]
        ids = {
            "session": "talk",
            "message": start["messageId"],
            "run": start["messageMetadata"]["run_id"],
            "artifact": output["artifact_id"],
            "waiting": "waiting",
            "acting": "acting",
        }
        async for chunk in server.stream("POST", "/api/v1/chat", json={"message": SECRET, "tab_id": "t"}):
            if chunk["type"] == "data-ask":
                always = {"approved": True, "remember": "always"}
                await server.client.post(f"/api/v1/asks/{chunk['data']['ask_id']}", json=always)
        ids["allowed"] = (await server.get("/api/v1/policy/remembered"))["rules"][0]["id"]
        schedule = {"schedule": "0 9 1 1 *", "message": SECRET}
        ids["schedule"] = (await server.client.post("/api/v1/schedules", json=schedule)).json()["id"]
        for session, name in (("waiting", "ask"), ("acting", "browser_ask")):
            body = {"message": SECRET, "session_id": session, "tab_id": "t"}
            stream = server.stream("POST", "/api/v1/chat", json=body)
            async for chunk in stream:
                if chunk["type"] == "data-ask":
                    ids[name] = chunk["data"]["ask_id"]
                    ids.setdefault("running", chunk["data"]["run_id"])
                    break
            await stream.aclose()
        letter = {"message": SECRET, "mode": "queue"}
        sent = await server.client.post(f"/api/v1/runs/{ids['running']}/messages", json=letter)
        ids["letter"] = sent.json()["message_id"]
        yield server, ids


def fill(value: str, ids: dict[str, str]) -> str:
    for name in sorted(ids, key=len, reverse=True):
        value = value.replace(f"${name}", ids[name])
    assert "$" not in value, value
    return value


async def test_nothing_of_another_owner_can_be_reached(tmp_path: Path) -> None:
    async with set_scene(tmp_path) as (server, ids):
        described = (await server.client.get("/openapi.json")).json()["paths"]
        routes = {f"{method.upper()} {path}" for path, methods in described.items() for method in methods}
        assert routes == set(TABLE), "every route needs a row in the table"
        before = await look(server, ids)
        await server.client.post("/api/v1/sessions", json={"id": "bobs"}, headers=BOB)
        for route, cases in TABLE.items():
            method, path = route.split()
            for case in cases:
                body = None if case.body is None else json.loads(fill(json.dumps(case.body), ids))
                filled = fill(case.path or path, ids)
                response = await server.client.request(method, filled, json=body, headers=BOB)
                assert response.status_code == case.status, (route, filled, response.text)
                assert SECRET not in response.text, (route, filled)
                assert ids["ask"] not in response.text or case.status == 404, (route, filled)
        assert await look(server, ids) == before


@pytest.mark.parametrize("kind", ["sqlite", pytest.param("postgresql", marks=uses_postgres)])
async def test_two_owners_may_choose_the_same_id_for_a_message(tmp_path: Path, kind: str) -> None:
    store = {} if kind == "sqlite" else {"store": {"url": await make_database()}}
    call = {"tool_calls": [{"call_id": "c", "name": "drop"}]}
    tools = [make_tool("drop", Kind.Delete)]
    letter = {"id": "dup-1", "message": "And then?", "mode": "queue"}
    async with serve(tmp_path, [call, call], tools, settings={**SETTINGS, **store}) as server:
        for owner, session in ((ANN, "anns"), (BOB, "bobs")):
            body = {"message": "Drop it.", "session_id": session, "tab_id": "t"}
            async for chunk in server.stream("POST", "/api/v1/chat", json=body, headers=owner):
                if chunk["type"] == "data-ask":
                    path = f"/api/v1/runs/{chunk['data']['run_id']}/messages"
                    for _ in range(2):  # sent again it is the same message
                        sent = await server.client.post(path, json=letter, headers=owner)
                        assert (sent.status_code, sent.json()["message_id"]) == (202, "dup-1"), sent.text
                    break
        for owner, session in ((ANN, "anns"), (BOB, "bobs")):
            place = f"/api/v1/sessions/{session}/inbox"
            [waiting] = (await server.get(place, headers=owner))["messages"]
            assert waiting["id"] == "dup-1"
            gone = await server.client.delete(f"{place}/dup-1", headers=owner)
            assert gone.status_code == 204


async def look(server: Serving, ids: dict[str, str]) -> list[Any]:
    """All that Ann has, as she sees it."""
    places = [
        *(f"/api/v1/sessions/{ids[name]}" for name in ("session", "waiting", "acting")),
        *(f"/api/v1/runs/{ids[name]}" for name in ("run", "running")),
        f"/api/v1/sessions/{ids['session']}/messages",
        "/api/v1/asks",
        "/api/v1/policy/remembered",
        "/api/v1/sessions",
        "/api/v1/schedules",
    ]
    return [await server.get(place) for place in places]
