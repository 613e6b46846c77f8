"""`dovetail serve`: what it says when it starts, and when it cannot."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from dovetail.app import Dovetail
from dovetail.cli.commands import serve
from dovetail.cli.commands.serve import ServeOptions, guard_agents, print_greeting
from dovetail.cli.main import main
from dovetail.testing import ScriptedServer
from model_servers import clear_variables
from patience import PATIENCE
from serving import serve_app


def fail(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    with pytest.raises(SystemExit) as stopped:
        main(["serve", *arguments])
    assert stopped.value.code == 1
    return capsys.readouterr().err


def test_a_missing_folder_is_not_created(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    told = fail(capsys, "--workspace", str(tmp_path / "gone"))
    assert f"Workspace not found: {tmp_path / 'gone'}" in told
    assert not (tmp_path / "gone").exists()


def test_a_taken_port_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("DOVETAIL_MODEL", "ollama:x")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        told = fail(capsys, "--workspace", str(tmp_path), "--port", str(port))
    assert f"Port {port} on 127.0.0.1 is already in use" in told
    assert f"--port {port + 1}" in told
    assert f"PORT={port + 1} make run" in told


@pytest.mark.parametrize(
    ("model", "message", "hint"),
    [
        (
            "foo:bar",
            "Unknown provider 'foo' in the model name 'foo:bar'",
            "Providers: anthropic, google, openai",
        ),
        ("gpt-5", "Model name 'gpt-5' has no provider", "openai:gpt-5   (set OPENAI_API_KEY"),
        ("local:huge", "Unknown embedded model 'huge'", "good, small"),
        ("openai:gpt-5", "Missing API key for OpenAI", "DOVETAIL_API_KEY"),
    ],
)
def test_an_unavailable_model_is_reported_before_anything_is_served(
    model: str,
    message: str,
    hint: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    clear_variables(monkeypatch)
    monkeypatch.setenv("DOVETAIL_MODEL", model)
    told = fail(capsys, "--workspace", str(tmp_path), "--port", "0")
    assert message in told
    assert hint in told


def test_a_public_address_needs_keys(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    told = fail(capsys, "--workspace", str(tmp_path), "--host", "0.0.0.0")
    assert "DOVETAIL_API_KEYS" in told
    assert "--insecure" in told


def test_a_database_that_cannot_be_opened_is_one_clear_message(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("DOVETAIL_MODEL", "ollama:x")
    monkeypatch.setenv("DATABASE_URL", f"sqlite:///{tmp_path}")
    told = fail(capsys, "--workspace", str(tmp_path), "--port", "0")
    assert "Cannot open the database at" in told
    assert "Traceback" not in told


@pytest.mark.parametrize(
    ("host", "keys", "trust", "is_used"),
    [
        ("127.0.0.1", "", False, True),
        ("127.0.0.1", "ann:key", False, False),
        ("0.0.0.0", "ann:key", False, False),
        ("0.0.0.0", "ann:key", True, True),
    ],
)
async def test_agent_files_of_a_project_need_an_acknowledgement_where_others_come_in(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, host: str, keys: str, trust: bool, is_used: bool
) -> None:
    monkeypatch.setenv("DOVETAIL_DATA", str(tmp_path / "data"))
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "scout.md").write_text("---\ndescription: Looks.\n---\nLook.")
    app = Dovetail({"server": {"api_keys": keys}}, workspace=tmp_path)
    options = ServeOptions(host=host, port=0, insecure=False, workspace=None, watch=False, trust=trust)
    guard_agents(app, options)
    async with app:
        names = [definition.name for definition in app.agents.get_all_definitions()]
    assert ("scout" in names, "master" in names) == (is_used, True)
    assert ["not trusted" in broken.error for broken in app.agents.broken] == [True] * (not is_used)


async def test_a_chat_is_refused_while_the_file_of_the_assistant_is_not_trusted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("DOVETAIL_DATA", str(tmp_path / "data"))
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "master.md").write_text("---\ndescription: Helps.\ntools: []\n---\nHelp.")
    app = Dovetail({"server": {"api_keys": "ann:key"}, "model": {"name": "ollama:x"}}, workspace=tmp_path)
    options = ServeOptions(host="127.0.0.1", port=0, insecure=False, workspace=None, watch=False, trust=False)
    guard_agents(app, options)
    async with serve_app(app) as address, httpx.AsyncClient(base_url=address, timeout=PATIENCE) as client:
        client.headers["authorization"] = "Bearer key"
        refused = await client.post("/api/v1/chat", json={"message": "Hello"})
        listed = (await client.get("/api/v1/agents")).json()
    error = refused.json()["error"]
    assert (refused.status_code, error["type"]) == (400, "config_error")
    assert "Agent 'master' is not available." in error["message"]
    assert "dovetail agents trust" in str(error)
    assert "master" not in [agent["name"] for agent in listed["agents"]]


@pytest.mark.parametrize(("own", "is_reported"), [(None, True), ("page", False)])
def test_a_missing_web_client_is_reported_at_the_start(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    own: str | None,
    is_reported: bool,
) -> None:
    monkeypatch.setattr(serve, "find_assets", lambda name: None)
    app = Dovetail({"server": {"web": own}, "model": {"name": "ollama:x"}}, workspace=tmp_path)
    options = ServeOptions(host="127.0.0.1", port=0, insecure=False, workspace=None, watch=False, trust=False)
    print_greeting(app, options, 8000)
    told = capsys.readouterr().out
    assert "Dovetail is at http://127.0.0.1:8000" in told
    assert ("serving a plain page. See `dovetail doctor`" in told) == is_reported


@contextmanager
def serving(folder: Path, model: ScriptedServer, *options: str, **environment: str) -> Generator[str]:
    """The address of a server process, which is ended by a signal."""
    command = [sys.executable, "-m", "dovetail", "serve", "--port", "0", "--workspace", str(folder), *options]
    whole = {**os.environ, "DOVETAIL_MODEL": "openai:x", "DOVETAIL_BASE_URL": model.url, **environment}
    with (
        (folder / "log.txt").open("w") as log,
        subprocess.Popen(command, env=whole, stdout=subprocess.PIPE, stderr=log, text=True) as server,
    ):
        assert server.stdout is not None
        address = server.stdout.readline().split()[-1]
        try:
            assert "openai:x" in server.stdout.readline()
            yield address
        finally:
            server.send_signal(signal.SIGTERM)
            # It ends by itself, so all is done that programs do at their end.
            assert server.wait(PATIENCE) == 0


@pytest.mark.slow
def test_it_serves_a_page_and_answers_and_ends_on_a_signal(tmp_path: Path) -> None:
    with ScriptedServer(["Hello."]) as model, serving(tmp_path, model) as address:
        assert "<title>Dovetail</title>" in httpx.get(address, timeout=PATIENCE).text
        answer = httpx.post(
            f"{address}/api/v1/chat", json={"message": "Hi"}, headers={"accept": "application/json"}
        )
        assert answer.json()["response"] == "Hello."


@pytest.mark.slow
def test_it_serves_a_page_of_ones_own(tmp_path: Path) -> None:
    page = tmp_path / "page"
    page.mkdir()
    (page / "index.html").write_text("<title>Ours</title>")
    with ScriptedServer() as model, serving(tmp_path, model, "--web", str(page)) as address:
        assert httpx.get(address, timeout=PATIENCE).text == "<title>Ours</title>"
        assert httpx.get(f"{address}/api/v1/sessions", timeout=PATIENCE).json()["sessions"] == []


def test_a_folder_without_a_page_is_named(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    told = fail(capsys, "--workspace", str(tmp_path), "--web", str(tmp_path))
    assert f"Cannot serve a page from '{tmp_path}': the folder has no index.html." in told
    told = fail(capsys, "--workspace", str(tmp_path), "--web", str(tmp_path / "gone"))
    assert "the folder does not exist" in told


@pytest.mark.slow
@pytest.mark.parametrize(
    ("proxies", "statuses"), [("127.0.0.1", [200, 429, 200]), ("10.0.0.0/8", [200, 429, 429])]
)
def test_a_trusted_proxy_names_the_address_that_is_counted(
    tmp_path: Path, proxies: str, statuses: list[int]
) -> None:
    environment = {"DOVETAIL_TRUSTED_PROXIES": proxies, "DOVETAIL_RATE_LIMIT": "1"}
    with ScriptedServer() as model, serving(tmp_path, model, "--insecure", **environment) as address:
        made_up = "198.51.100.1, 203.0.113."  # only the last address is the proxy's own word
        seen = [
            httpx.get(
                f"{address}/api/v1/tools", headers={"x-forwarded-for": f"{made_up}{end}"}, timeout=PATIENCE
            ).status_code
            for end in (1, 1, 2)
        ]
    assert seen == statuses


@pytest.mark.slow
def test_a_request_knows_nothing_of_the_one_before_it_on_its_connection(tmp_path: Path) -> None:
    environment = {"DOVETAIL_API_KEYS": "ann:a-long-random-key", "DOVETAIL_LOG_FORMAT": "json"}
    with (
        ScriptedServer() as model,
        serving(tmp_path, model, **environment) as address,
        httpx.Client(base_url=address, timeout=PATIENCE) as client,
    ):
        body = {"title": "long " * 40_000}  # reading it is stopped and begun again in the middle
        for key in ("a-long-random-key", "wrong"):
            client.post("/api/v1/sessions", json=body, headers={"authorization": f"Bearer {key}"})
    lines = [json.loads(line) for line in (tmp_path / "log.txt").read_text().splitlines()]
    told = [(line["status"], line.get("owner")) for line in lines if line["logger"] == "dovetail.access"]
    assert told == [(422, "ann"), (401, None)]


def test_a_trusted_proxy_that_is_not_an_address_is_a_clear_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("DOVETAIL_MODEL", "ollama:x")
    monkeypatch.setenv("DOVETAIL_TRUSTED_PROXIES", "127.0.0.1,*")
    told = fail(capsys, "--workspace", str(tmp_path), "--port", "0")
    assert "server.trusted_proxies: '*' is neither an IP address nor a network" in told
    assert "10.0.0.0/24" in told


EXITING = """
import asyncio, sys

async def leave_later():
    asyncio.get_running_loop().call_soon(sys.exit, 9)
    await asyncio.sleep(0.01)
    return "still here"

TOOL = dict(label="x", name="leave_later", description="d", parameters={}, execute=leave_later)
"""


@pytest.mark.slow
def test_a_callback_that_exits_does_not_end_the_server(tmp_path: Path) -> None:
    folder = tmp_path / "extensions" / "exiting"
    folder.mkdir(parents=True)
    (folder / "extension.py").write_text(EXITING)
    with ScriptedServer([]) as model, serving(tmp_path, model) as address:
        for _ in range(2):
            answer = httpx.post(
                f"{address}/api/v1/tools/leave_later/call", json={"arguments": {}}, timeout=PATIENCE
            )
            assert answer.json()["result"]["llm_content"] == "still here"


def test_a_server_that_works_on_nothing_needs_a_database_that_workers_can_share(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["serve", "--engine", "dbos", "--no-work", "--workspace", str(tmp_path)])
    assert stopped.value.code == 1
    told = capsys.readouterr().err
    assert "only one process may use an SQLite file" in told
    assert "DATABASE_URL=postgresql://" in told
