"""`dovetail serve`: what it says when it starts, and when it cannot."""

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from dovetail.app import Dovetail
from dovetail.cli.main import main
from dovetail.cli.worker import guard_agents
from dovetail.testing import ScriptedServer


def fail(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    with pytest.raises(SystemExit) as stopped:
        main(["serve", *arguments])
    assert stopped.value.code == 1
    return capsys.readouterr().err


def test_a_taken_port_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("DOVETAIL_MODEL", "ollama:x")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        told = fail(capsys, "--workspace", str(tmp_path), "--port", str(port))
    assert f"port {port} on 127.0.0.1 is taken" in told
    assert f"--port {port + 1}" in told
    assert f"PORT={port + 1} make run" in told


@pytest.mark.parametrize(
    ("model", "message", "hint"),
    [
        ("foo:bar", "the model name 'foo:bar' is not of the form", "Providers: openai, ollama, local"),
        ("gpt-5", "the model name 'gpt-5' is not of the form", "Providers: openai"),
        ("local:huge", "no embedded model 'huge'", "good, small"),
        ("openai:gpt-5", "OpenAI needs an API key and none is set", "DOVETAIL_API_KEY"),
    ],
)
def test_a_model_that_cannot_be_had_is_told_before_anything_is_served(
    model: str,
    message: str,
    hint: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    monkeypatch.setenv("DOVETAIL_MODEL", model)
    for name in ("DOVETAIL_BASE_URL", "DOVETAIL_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
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
    assert "no database at" in told
    assert "Traceback" not in told


@pytest.mark.parametrize(
    ("host", "trust", "is_used"),
    [("127.0.0.1", False, True), ("0.0.0.0", False, False), ("0.0.0.0", True, True)],
)
async def test_agent_files_of_a_project_need_an_acknowledgement_where_others_come_in(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, host: str, trust: bool, is_used: bool
) -> None:
    monkeypatch.setenv("DOVETAIL_DATA", str(tmp_path / "data"))
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "scout.md").write_text("---\ndescription: Looks.\n---\nLook.")
    app = Dovetail(workspace=tmp_path)
    guard_agents(app, host, trust)
    async with app:
        names = [definition.name for definition in app.agents.get_all_definitions()]
    assert ("scout" in names, "master" in names) == (is_used, True)
    assert ["not acknowledged" in broken.error for broken in app.agents.broken] == [True] * (not is_used)


@pytest.mark.slow
@pytest.mark.timeout(60)
def test_it_serves_a_page_and_answers_and_ends_on_a_signal(tmp_path: Path) -> None:
    with ScriptedServer(["Hello."]) as model:
        environment = {**os.environ, "DOVETAIL_MODEL": "openai:x", "DOVETAIL_BASE_URL": model.url}
        command = [sys.executable, "-m", "dovetail", "serve", "--port", "0", "--workspace", str(tmp_path)]
        with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            address = server.stdout.readline().split()[-1]
            try:
                assert "openai:x" in server.stdout.readline()
                assert "<title>Dovetail</title>" in httpx.get(address).text
                answer = httpx.post(
                    f"{address}/api/v1/chat", json={"message": "Hi"}, headers={"accept": "application/json"}
                )
                assert answer.json()["response"] == "Hello."
            finally:
                server.send_signal(signal.SIGTERM)
                server.wait(20)
