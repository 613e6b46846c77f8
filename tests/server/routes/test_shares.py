"""Shared links over HTTP: whoever has one reads the chat without a key, until it is revoked."""

from pathlib import Path

from serving import serve

SETTINGS = {"server": {"api_keys": "ann:one-key,bob:two-key"}}
ANN = {"authorization": "Bearer one-key"}
BOB = {"authorization": "Bearer two-key"}
SHARES = "/api/v1/sessions/s/shares"


async def test_link_needs_no_key_and_ends_when_it_is_revoked(tmp_path: Path) -> None:
    async with serve(tmp_path, ["Oak."], settings=SETTINGS) as server:
        body = {"message": "Which wood?", "session_id": "s"}
        await server.client.post("/api/v1/chat", json=body, headers={**ANN, "accept": "application/json"})
        assert (await server.client.post(SHARES, headers=BOB)).status_code == 404
        token = (await server.client.post(SHARES, headers=ANN)).json()["token"]

        shared = await server.client.get(f"/api/v1/shared/{token}")
        assert shared.status_code == 200
        assert [message["parts"][-1]["text"] for message in shared.json()["path"]] == ["Which wood?", "Oak."]
        assert "run_" not in shared.text
        assert "ann" not in shared.text

        assert (await server.client.get(SHARES)).status_code == 401
        assert (await server.client.delete(f"{SHARES}/{token}", headers=BOB)).status_code == 404
        assert (await server.client.delete(f"{SHARES}/{token}", headers=ANN)).status_code == 204
        gone = await server.client.get(f"/api/v1/shared/{token}")
        assert gone.status_code == 404
        assert gone.json()["error"]["message"] == "This link does not exist, or was revoked."
