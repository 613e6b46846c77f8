"""The configured MCP servers over HTTP: their state, log, reconnecting and logins, with real servers."""

import asyncio
import json
import os
import socket
import stat
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from dovetail.data.private_folder import find_private_folder
from patience import PATIENCE
from serving import Serving, serve

pytestmark = pytest.mark.slow

SERVERS = "/api/v1/servers"
FOLDER = Path(__file__).parents[2] / "tools" / "mcp"
NOISY = """
import os, sys
print("sharpening the saw with", os.environ["SHED_TOKEN"], file=sys.stderr, flush=True)
sys.argv = ["shed_server"]
sys.path.insert(0, {folder!r})
import shed_server
shed_server.server.run("stdio")
"""


def _program(folder: Path) -> dict[str, Any]:
    script = folder / "noisy.py"
    script.write_text(NOISY.format(folder=str(FOLDER)))
    arguments = [str(script), "--api-key", "the-key-argument", "--token=the-token-argument"]
    return {"command": sys.executable, "args": arguments, "env": {"SHED_TOKEN": "the-token-variable"}}


async def _find(server: Serving, name: str) -> dict[str, Any]:
    servers = (await server.get(SERVERS))["servers"]
    return next(each for each in servers if each["name"] == name)


@asynccontextmanager
async def _vault(folder: Path, seconds: int = 3600) -> AsyncGenerator[str]:
    """Run a server that requires a login; yield its address."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    marks = {"LOGIN_MARKS": str(folder / "marks"), "LOGIN_SECONDS": str(seconds)}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, str(FOLDER / "login_server.py"), str(port)),
        env={**os.environ, **marks},
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        assert await process.stdout.readline() == b"ready\n"
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.kill()
        await process.wait()


async def _log_in(server: Serving) -> httpx.Response:
    """Do what a person does: open the address and follow where it leads."""
    started = await server.client.post(f"{SERVERS}/vault/login")
    assert started.status_code == 200, started.text
    async with httpx.AsyncClient(timeout=PATIENCE) as browser:
        agreed = await browser.get(started.json()["address"])
        assert agreed.status_code == 302, agreed.text
        assert agreed.headers["location"].startswith(f"{server.address}{SERVERS}/callback?")
        return await browser.get(agreed.headers["location"])


async def test_program_shows_its_tools_and_log_without_secrets_and_can_be_reconnected(
    tmp_path: Path,
) -> None:
    entries = {
        "shed": _program(tmp_path),
        "gone": {"command": "no-such-program-here"},
        "idle": {"url": "http://ann:the-password@127.0.0.1:1/mcp?key=the-query", "enabled": False},
    }
    async with serve(tmp_path, settings={"mcp": {"servers": entries}}) as server:
        shed, gone, idle = (await server.get(SERVERS))["servers"]
        assert (shed["state"], gone["state"], idle["state"]) == ("connected", "failed", "disabled")
        assert "add" in shed["tools"]
        assert shed["transport"] == "program"
        assert shed["address"].endswith("noisy.py --api-key *** --token=***")
        assert [line["text"] for line in shed["log"]][:1] == ["sharpening the saw with ***"]
        assert "cannot be reached" in gone["problem"]
        assert idle["address"] == "http://127.0.0.1:1/mcp"
        assert "the-" not in json.dumps([shed, gone, idle])
        again = await server.client.post(f"{SERVERS}/shed/reconnect")
        assert again.status_code == 200
        assert again.json()["state"] == "connected"
        assert again.json()["connected_at"] > shed["connected_at"]
        assert len(again.json()["log"]) >= 2
        assert (await server.client.post(f"{SERVERS}/idle/reconnect")).status_code == 409
        unknown = await server.client.post(f"{SERVERS}/she/reconnect")
        assert unknown.status_code == 404
        assert "Did you mean 'shed'?" in unknown.text
        assert (await server.client.post(f"{SERVERS}/shed/login")).status_code == 404


async def test_login_makes_the_tools_of_a_server_available_until_it_is_ended(tmp_path: Path) -> None:
    async with _vault(tmp_path) as url:
        async with serve(tmp_path, settings={"mcp": {"servers": {"vault": {"url": url}}}}) as server:
            vault = await _find(server, "vault")
            assert vault["state"] == "login"
            assert vault["login"] == {"possible": True, "waiting": False, "done": False, "error": None}
            back = await _log_in(server)
            assert (back.status_code, back.headers["location"]) == (303, "/#/room/servers/vault")
            vault = await _find(server, "vault")
            assert (vault["state"], vault["tools"], vault["login"]["done"]) == (
                "connected",
                ["open_vault"],
                True,
            )
            assert "access-" not in json.dumps(vault)
            file = find_private_folder(tmp_path) / "logins" / "vault.json"
            assert stat.S_IMODE(file.stat().st_mode) == 0o600
            assert json.loads(file.read_text())["tokens"]["access_token"].startswith("access-")
        async with serve(tmp_path, settings={"mcp": {"servers": {"vault": {"url": url}}}}) as server:
            assert (await _find(server, "vault"))["state"] == "connected"
            ended = await server.client.delete(f"{SERVERS}/vault/login")
            assert (ended.status_code, ended.json()["state"], ended.json()["tools"]) == (200, "login", [])
            assert not file.exists()


async def test_tokens_that_have_expired_are_refreshed_after_a_restart(tmp_path: Path) -> None:
    async with _vault(tmp_path) as url:
        settings = {"mcp": {"servers": {"vault": {"url": url}}}}
        async with serve(tmp_path, settings=settings) as server:
            assert (await _log_in(server)).status_code == 303
        file = find_private_folder(tmp_path) / "logins" / "vault.json"
        old = json.loads(file.read_text())
        file.write_text(json.dumps({**old, "expires_at": 1.0}))
        async with serve(tmp_path, settings=settings) as server:
            assert (await _find(server, "vault"))["state"] == "connected"
        assert json.loads(file.read_text())["tokens"] != old["tokens"]
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert (tmp_path / "marks").read_text() == "code\nrefresh\n"


async def test_refused_login_is_explained_and_a_code_without_a_login_is_refused(tmp_path: Path) -> None:
    async with (
        _vault(tmp_path) as url,
        serve(tmp_path, settings={"mcp": {"servers": {"vault": {"url": url}}}}) as server,
    ):
        assert (await server.client.get(f"{SERVERS}/callback?code=x&state=")).status_code == 404
        started = await server.client.post(f"{SERVERS}/vault/login")
        state = httpx.URL(started.json()["address"]).params["state"]
        assert (await _find(server, "vault"))["login"]["waiting"]
        assert (await server.client.get(f"{SERVERS}/callback?code=x&state=other")).status_code == 404
        back = await server.client.get(f"{SERVERS}/callback?state={state}&error=access_denied")
        assert back.status_code == 303
        login = (await _find(server, "vault"))["login"]
        assert login["error"] == "The login was refused: access_denied."
        assert not login["waiting"]


async def test_servers_need_the_admin_and_the_callback_needs_no_key(tmp_path: Path) -> None:
    settings = {"server": {"admin_token": "the-admin-token", "api_keys": "ann:anns-long-key-here"}}
    async with serve(tmp_path, settings=settings) as server:
        ann = {"authorization": "Bearer anns-long-key-here"}
        assert (await server.client.get(SERVERS)).status_code == 401
        assert (await server.client.get(SERVERS, headers=ann)).status_code == 403
        for method, path in [("POST", "reconnect"), ("POST", "login"), ("DELETE", "login")]:
            refused = await server.client.request(method, f"{SERVERS}/shed/{path}", headers=ann)
            assert refused.status_code == 403
        admin = {**ann, "x-admin-token": "the-admin-token"}
        assert (await server.client.get(SERVERS, headers=admin)).json() == {"servers": []}
        assert (await server.client.get(f"{SERVERS}/callback?state=x")).status_code == 404
