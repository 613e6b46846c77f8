"""Nothing that a caller can ask for holds a secret: every tool, route and mode, found in the registry."""

import asyncio
import json
import logging
import re
import socket
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, get_args
from urllib.parse import quote

import pytest
from mcp import Client

from dovetail.app import Dovetail
from dovetail.events.call import ToolCall
from dovetail.events.run_context import Mode, RunContext
from dovetail.events.run_events import Event
from dovetail.server.mcp import ToolServer
from dovetail.tools.snapshot import ToolSnapshot
from hostile.attacker import (
    ADMIN,
    CHAT,
    KEY,
    OPEN,
    SECRETS,
    Place,
    attack,
    find_examples,
    list_targets,
    spoil,
)
from serving import Serving, serve

ANN = {"authorization": "Bearer the-api-key-of-ann"}
BOB = {"authorization": "Bearer the-api-key-of-bob"}
SERVER = {"api_keys": "ann:the-api-key-of-ann,bob:the-api-key-of-bob", "admin_token": ADMIN, "rate_limit": 0}
ENDLESS = "/api/v1/feed"
pytestmark = pytest.mark.slow
_find_address = socket.getaddrinfo


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    root = tmp_path / "shop"
    root.mkdir()
    monkeypatch.setenv("DOVETAIL_DATA", str(root / "data"))
    monkeypatch.setenv("EXTENSION_EXCLUDED_EXTENSIONS", "")
    monkeypatch.chdir(root)
    monkeypatch.setattr(socket, "getaddrinfo", find_on_this_machine)  # no tool waits for a network
    return Place(root)


def find_on_this_machine(host: Any, *rest: Any, **options: Any) -> Any:
    """Find the addresses of this machine alone."""
    if host not in ("127.0.0.1", "localhost"):
        raise socket.gaierror(socket.EAI_NONAME, "not known here")
    return _find_address(host, *rest, **options)


@pytest.fixture
async def app(place: Place) -> AsyncIterator[Dovetail]:
    async with Dovetail({"server": SERVER}, workspace=place.root) as app:
        yield app


def find_secrets(text: object) -> list[str]:
    return [secret for secret in SECRETS if secret in str(text)]


def test_the_attacker_would_find_a_secret(place: Place) -> None:
    assert find_secrets(f"x {KEY} y") == [KEY]
    assert find_secrets([(place.private / "keys.json").read_text()]) == [KEY]
    assert (place.root / "hard-state.txt").read_text() in SECRETS
    assert (place.root / "chain-private").read_text() in SECRETS


@pytest.mark.parametrize("mode", get_args(Mode))
async def test_no_tool_shows_a_secret_in_any_mode(
    app: Dovetail, place: Place, mode: Mode, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, logger="dovetail")
    seen: list[Event] = []
    scope = RunContext(mode=mode, owner="bob", emit=seen.append, run_path=("run",), agent_path=("main",))
    snapshot = ToolSnapshot.of(app.tools.get_all_tools())
    targets = list_targets(list(snapshot))
    readers = {"read_file", "search_files", "load_skill", *(["run_shell_command"] if mode == "yolo" else [])}
    reached: set[str] = set()
    paths = place.spell()
    for tool in targets:
        # A command costs a process: what it could read is judged by its arguments before it starts.
        chosen = (
            paths if "command" not in tool.parameters.get("properties", {}) else [*paths[3:5], "open.txt"]
        )
        for number, arguments in enumerate(attack(tool, chosen)):
            call = ToolCall(call_id=f"{tool.name}-{number}", name=tool.name, arguments=arguments)
            outcome = await app.runtime.runner.run_call(snapshot, call, scope)
            assert not find_secrets(outcome.result), (tool.name, arguments)
            if OPEN in str(outcome.result):
                reached.add(tool.name)
    assert readers <= reached
    assert not find_secrets(seen)
    assert not find_secrets(caplog.text)


async def set_scene(server: Serving) -> None:
    """Ann has a chat that is nobody else's."""
    body = {"message": CHAT, "session_id": "anns", "tab_id": "t"}
    assert [chunk async for chunk in server.stream("POST", "/api/v1/chat", json=body, headers=ANN)]


async def listen(server: Serving, heard: list[str]) -> None:
    """Keep what the feed says, which has no end."""
    async with server.client.stream("GET", ENDLESS) as feed:
        async for line in feed.aiter_lines():
            heard.append(line)


async def test_no_route_shows_a_secret_to_an_ordinary_key(
    place: Place, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, logger="dovetail")
    hello = {"text": "Hello.", "repeat": True}
    heard: list[str] = []
    reached: set[tuple[str, str]] = set()
    async with serve(place.root, [hello], settings={"server": SERVER}) as server:
        await set_scene(server)
        server.client.headers.update(BOB)
        feed = asyncio.create_task(listen(server, heard))
        document = await server.get("/openapi.json")
        schemas = document["components"]["schemas"]
        texts = [
            *(place.spell()[number] for number in (3, 7, 16)),
            "anns",
            "s1",
            "state",
            "hard-state",
            "open",
        ]
        operations = [
            (method, path, operation)
            for path, methods in document["paths"].items()
            for method, operation in methods.items()
            if path != ENDLESS
        ]
        # What deletes comes last: before that, there is something to read.
        for method, path, operation in sorted(operations, key=lambda each: each[0] == "delete"):
            names = [each["name"] for each in operation.get("parameters", []) if each["in"] == "query"]
            examples = find_examples(operation, schemas)
            assert examples, path
            for text in texts:
                filled = re.sub(r"\{\w+\}", quote(text, safe=""), path)
                bodies = [spoilt for example in examples for spoilt in spoil(example, text)]
                tries = [({}, body) for body in bodies] + [({name: text}, bodies[0]) for name in names]
                for query, body in tries:
                    answer = await server.client.request(method, filled, params=query, json=body)
                    told = (method, filled, query, body, answer.text)
                    assert not find_secrets(answer.text), told
                    assert answer.status_code < 500, told
                    assert answer.status_code != 429 or path == "/api/v1/sign-in", told
                    if answer.is_success:
                        reached.add((method, path))
        feed.cancel()
        own = await server.client.get("/api/v1/sessions/anns/messages", headers=ANN)
    assert {
        ("post", "/api/v1/chat"),
        ("post", "/v1/chat/completions"),
        ("post", "/api/v1/policy/try"),
        ("post", "/api/v1/prompts/{name}/render"),
        ("post", "/api/v1/sessions/import"),
        ("post", "/api/v1/schedules"),
        ("get", "/api/v1/sessions/{session_id}/export"),
        ("delete", "/api/v1/sessions/{session_id}"),
    } <= reached
    assert not [path for _, path in reached if path.startswith(("/api/v1/sources", "/api/v1/models/keys"))]
    assert CHAT in own.text  # who may read it does
    assert any("session" in line for line in heard)
    assert not find_secrets(heard)
    assert not find_secrets(caplog.text)


def ask_for(paths: list[str]) -> list[Any]:
    """A script of a model that reads files by these paths, then says what it has read."""
    calls = [
        {"call_id": f"c{number}", "name": name, "arguments": {**arguments, "path": path}}
        for number, path in enumerate(paths)
        for name, arguments in (("read_file", {}), ("search_files", {"text": "canary"}))
    ]
    for number, call in enumerate(calls):
        call["call_id"] = f"c{number}"
    return [{"tool_calls": calls}, "Done."]


@pytest.mark.parametrize("mode", get_args(Mode))
async def test_no_chat_shows_or_stores_a_secret(place: Place, mode: str) -> None:
    paths = place.spell()
    script = [*ask_for(paths), *ask_for(paths)]
    settings = {"server": SERVER, "policy": {"max_mode": "yolo"}}
    async with serve(place.root, script, settings=settings) as server:
        server.client.headers.update(BOB)
        chunks = await server.chat("Read them.", "bobs", mode=mode)
        assert "tool-output-available" in str(chunks) or "tool-output-error" in str(chunks)
        body = {"model": "master", "messages": [{"role": "user", "content": "Read them."}]}
        completed = await server.client.post("/v1/chat/completions", json=body)
        run_id = chunks[0]["messageMetadata"]["run_id"]
        stored = await server.client.get(f"/api/v1/runs/{run_id}")
        exported = await server.client.get("/api/v1/sessions/bobs/export")
        told = json.dumps([request.messages for request in server.model.requests], default=str)
        offered = {tool.name for tool in server.model.requests[0].tools}
        walked = {tool.name for tool in server.app.tools.get_all_tools()}
    assert offered <= {*walked, "background_tasks"}
    assert told.count(OPEN) > 1
    assert OPEN in str(chunks)
    for text in (chunks, completed.text, stored.text, exported.text, told):
        assert not find_secrets(text)


async def test_a_tool_call_over_http_shows_no_secret(place: Place) -> None:
    reached: set[str] = set()
    async with serve(place.root, settings={"server": SERVER}) as server:
        server.client.headers.update(BOB)
        for path in place.spell():
            for name, arguments in (
                ("read_file", {}),
                ("search_files", {"text": "canary"}),
                ("list_files", {}),
            ):
                body = {"arguments": {**arguments, "path": path}}
                answer = await server.client.post(f"/api/v1/tools/{name}/call", json=body)
                assert not find_secrets(answer.text), (name, path)
                if OPEN in answer.text:
                    reached.add(name)
    assert reached == {"read_file", "search_files"}


async def test_an_mcp_client_gets_no_secret(app: Dovetail, place: Place) -> None:
    reached: set[str] = set()
    async with Client(ToolServer(app.tools, app.runtime.runner, ["*"], "auto").server) as client:
        offered = {tool.name for tool in (await client.list_tools()).tools}
        for tool in list_targets([each for each in app.tools.get_all_tools() if each.name in offered]):
            if tool.is_read_only:
                for arguments in attack(tool, place.spell()):
                    answer = await client.call_tool(tool.name, arguments)
                    assert not find_secrets(answer), (tool.name, arguments)
                    if OPEN in str(answer):
                        reached.add(tool.name)
    assert {"read_file", "search_files", "load_skill"} <= reached
