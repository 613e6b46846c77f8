"""Who may come in, and that nobody sees what belongs to another."""

import asyncio
from pathlib import Path

import pytest

from dovetail.errors import ConfigError
from dovetail.server.access import hash_key, read_keys
from serving import serve

KEYS = {"server": {"api_keys": f"ann:one,bob:sha256:{hash_key('two')}"}}
ANN = {"authorization": "Bearer one"}
BOB = {"authorization": "Bearer two"}

FOREIGN = [
    ("GET", "/api/v1/sessions/{session}", None),
    ("PATCH", "/api/v1/sessions/{session}", {"title": "mine"}),
    ("DELETE", "/api/v1/sessions/{session}", None),
    ("GET", "/api/v1/sessions/{session}/messages", None),
    ("DELETE", "/api/v1/sessions/{session}/messages/{message}", None),
    ("GET", "/api/v1/sessions/{session}/export", None),
    ("POST", "/api/v1/chat", {"message": "Hi", "session_id": "{session}"}),
    ("GET", "/api/v1/runs/{run}", None),
    ("GET", "/api/v1/runs/{run}/events", None),
    ("POST", "/api/v1/runs/{run}/cancel", {}),
    ("POST", "/api/v1/asks/ask_unknown", {"approved": True}),
    ("POST", "/api/v1/asks/ask_unknown/claim", {"tab_id": "t"}),
]


async def test_without_a_key_nothing_is_told_but_the_page_and_health_are_there(tmp_path: Path) -> None:
    async with serve(tmp_path, settings=KEYS) as server:
        for path in ("/api/v1/sessions", "/api/v1/tools", "/openapi.json"):
            response = await server.client.get(path)
            assert response.status_code == 401, path
            assert response.headers["www-authenticate"] == "Bearer"
        wrong = await server.client.get("/api/v1/sessions", headers={"authorization": "Bearer three"})
        assert wrong.status_code == 401
        for path in ("/healthz", "/readyz", "/"):
            assert (await server.client.get(path)).status_code == 200, path


@pytest.mark.timeout(20)
async def test_nothing_of_another_owner_can_be_reached(tmp_path: Path) -> None:
    async with serve(tmp_path, ["Hello."], settings=KEYS) as server:
        body = {"message": "Secret", "session_id": "s"}
        answer = await server.client.post(
            "/api/v1/chat", json=body, headers={**ANN, "accept": "application/json"}
        )
        ids = {"session": "s", "run": answer.json()["run_id"], "message": answer.json()["message_id"]}
        for method, path, content in FOREIGN:
            filled = content and {
                name: value.format(**ids) if isinstance(value, str) else value
                for name, value in content.items()
            }
            response = await server.client.request(method, path.format(**ids), json=filled, headers=BOB)
            assert response.status_code == 404, (method, path, response.text)
            assert "Secret" not in response.text
        listed = await server.client.get("/api/v1/sessions?q=Secret", headers=BOB)
        assert listed.json()["sessions"] == []
        stream = await server.client.get("/api/v1/chat/s/stream", headers=BOB)
        assert stream.status_code == 204
        assert (await server.client.get("/api/v1/sessions/s", headers=ANN)).json()["title"] == "Secret"


async def test_a_local_server_answers_only_to_local_names_and_its_own_pages(tmp_path: Path) -> None:
    async with serve(tmp_path, ["Hello."]) as server:
        foreign = await server.client.get("/api/v1/sessions", headers={"host": "evil.example"})
        assert foreign.status_code == 403
        headers = {"origin": "https://evil.example"}
        crossing = await server.client.post("/api/v1/chat", json={"message": "Hi"}, headers=headers)
        assert crossing.status_code == 403
        own = {"origin": server.address, "accept": "application/json"}
        allowed = await server.client.post("/api/v1/chat", json={"message": "Hi"}, headers=own)
        assert allowed.status_code == 200


async def test_the_admin_token_guards_a_reload(tmp_path: Path) -> None:
    async with serve(tmp_path, settings={"server": {"admin_token": "admin"}}) as server:
        reload = "/api/v1/extensions/reload"
        assert (await server.client.post(reload)).status_code == 403
        assert (await server.client.post(reload, headers={"x-admin-token": "wrong"})).status_code == 403
        response = await server.client.post(reload, headers={"x-admin-token": "admin"})
        assert "loaded_extensions" in response.json()


async def test_a_body_that_is_too_large_is_refused(tmp_path: Path) -> None:
    async with serve(tmp_path) as server:
        host, port = server.address.removeprefix("http://").split(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        head = f"POST /api/v1/chat HTTP/1.1\r\nhost: {host}:{port}\r\ncontent-length: 30000000\r\n\r\n"
        writer.write(head.encode())
        assert b" 413 " in await reader.readline()
        writer.close()
        await writer.wait_closed()


def test_a_key_without_a_name_is_a_clear_error() -> None:
    with pytest.raises(ConfigError, match="has no name"):
        read_keys("justakey")
    assert read_keys("") == {}
