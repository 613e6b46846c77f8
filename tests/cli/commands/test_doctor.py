"""The doctor says what is there, what is missing and what to do."""

import asyncio
import http.server
import importlib.metadata
import importlib.util
import json
import shutil
import socket
import sqlite3
import threading
from collections import namedtuple
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from dovetail.cli import checks
from dovetail.cli.main import main
from dovetail.data.private_folder import settle_private
from dovetail.lazy import install_command
from dovetail.requesters.local import weights
from dovetail.store.address import HEAD
from dovetail.store.database import Database


@pytest.fixture(autouse=True)
def bare_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No models are fetched and none is chosen."""
    monkeypatch.setenv("DOVETAIL_CACHE", str(tmp_path))
    for name in ("DOVETAIL_MODEL", "DOVETAIL_BASE_URL", "DOVETAIL_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def serve() -> Iterator[Callable[[int, object], str]]:
    """Start a model server that answers every GET with a status and a body; yield its address."""
    servers: list[http.server.HTTPServer] = []

    def start(status: int, body: object) -> str:
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                if self.headers["authorization"] != "Bearer right":
                    self.send_error(401)
                    return
                self.send_response(status)
                self.end_headers()
                self.wfile.write(body if isinstance(body, bytes) else json.dumps(body).encode())

            def log_message(self, format: str, *args: object) -> None:
                """Say nothing."""

        server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
        servers.append(server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{server.server_port}/v1"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def examine(capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """The doctor's exit code and words."""
    with pytest.raises(SystemExit) as caught:
        main(["doctor"])
    return int(caught.value.code or 0), capsys.readouterr().out


def choose(monkeypatch: pytest.MonkeyPatch, model: str, address: str, key: str = "right") -> None:
    monkeypatch.setenv("DOVETAIL_MODEL", model)
    monkeypatch.setenv("DOVETAIL_BASE_URL", address)
    monkeypatch.setenv("DOVETAIL_API_KEY", key)


def test_without_any_model_it_says_how_to_get_one(capsys: pytest.CaptureFixture[str]) -> None:
    code, text = examine(capsys)
    assert code == 0
    assert "local:good is not downloaded yet; the first request downloads it" in text
    assert "dovetail models pull good" in text


def test_without_any_model_and_without_downloads_it_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("dovetail.toml").write_text("[model]\ndownload = false\n")
    code, text = examine(capsys)
    assert code == 1
    assert "missing model" in text


def put(name: str) -> Path:
    """A file that stands for a model's weights; its bytes are wrong unless it is noted as checked."""
    entry = weights.get_weights(name)
    weights.cache_folder().mkdir()
    path = weights.cache_folder() / entry.file_name
    with path.open("wb") as file:
        file.truncate(entry.size)
    return path


def test_weights_with_wrong_bytes_are_missing(capsys: pytest.CaptureFixture[str]) -> None:
    path = put("small")
    code, text = examine(capsys)
    assert code == 1
    assert f"missing local:small      {path} is corrupt" in text
    assert "Download it again: dovetail models pull small" in text


def test_web_page_instead_of_a_model_server_is_reported(
    serve: Callable[[int, object], str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    choose(monkeypatch, "openai:fast", serve(200, b"<html>Welcome</html>"))
    code, text = examine(capsys)
    assert code == 1
    assert "responds with a web page" in text


def test_with_a_model_all_is_well(capsys: pytest.CaptureFixture[str]) -> None:
    weights.mark_verified(put("good"))
    code, text = examine(capsys)
    assert code == 0
    assert "ok      model            local:good (the default)" in text
    assert "note    local:small      not downloaded" in text


def test_known_model_of_a_server_that_answers_is_well(
    serve: Callable[[int, object], str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    choose(monkeypatch, "openai:fast", serve(200, {"data": [{"id": "fast"}, {"id": "slow"}]}))
    code, text = examine(capsys)
    assert code == 0
    assert "openai:fast at http://127.0.0.1" in text


def test_model_of_the_settings_file_is_looked_at(
    serve: Callable[[int, object], str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    address = serve(200, {"data": [{"id": "fast"}]})
    lines = ["[model]", 'name = "openai:fast"', f'base_url = "{address}"', 'api_key = "right"']
    (tmp_path / "dovetail.toml").write_text("\n".join(lines))
    monkeypatch.setenv("WORKSPACE_ROOT", str(tmp_path))
    code, text = examine(capsys)
    assert code == 0
    assert f"openai:fast at {address}" in text


def test_broken_settings_file_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "dovetail.toml").write_text("[modl]")
    monkeypatch.setenv("WORKSPACE_ROOT", str(tmp_path))
    code, text = examine(capsys)
    assert code == 1
    assert "Unknown setting 'modl'. Did you mean 'model'?" in text


@pytest.mark.parametrize("status", [200, 500])
def test_password_in_an_address_is_never_shown(
    serve: Callable[[int, object], str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    status: int,
) -> None:
    address = serve(status, {"data": [{"id": "fast"}]})
    choose(monkeypatch, "openai:fast", address.replace("//", "//ann:geheim@"))
    _, text = examine(capsys)
    assert "openai:fast" in text
    assert "geheim" not in text


def test_unknown_model_is_reported_with_the_known_ones(
    serve: Callable[[int, object], str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    choose(monkeypatch, "openai:best", serve(200, {"data": [{"id": "fast"}, {"id": "slow"}]}))
    code, text = examine(capsys)
    assert code == 1
    assert "Expected one of: fast, slow" in text


def test_fallbacks_are_checked_like_the_model(
    serve: Callable[[int, object], str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    choose(monkeypatch, "openai:best", serve(200, {"data": [{"id": "fast"}]}))
    (tmp_path / "dovetail.toml").write_text('[model]\nfallbacks = ["openai:fast", "openai:other"]')
    monkeypatch.setenv("WORKSPACE_ROOT", str(tmp_path))
    code, text = examine(capsys)
    assert code == 1
    assert "missing model            openai:best: unknown to the server" in text
    assert "ok      fallback         openai:fast" in text
    assert "missing fallback         openai:other: unknown to the server" in text


def test_wrong_key_is_reported_and_never_shown(
    serve: Callable[[int, object], str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    choose(monkeypatch, "openai:fast", serve(200, {}), key="sk-wrong-secret")
    code, text = examine(capsys)
    assert code == 1
    assert "rejects the API key (HTTP 401)" in text
    assert "sk-wrong-secret" not in text


@pytest.mark.parametrize(("status", "code"), [(404, 0), (503, 1)])
def test_server_that_lists_no_models_is_judged_by_its_answer(
    serve: Callable[[int, object], str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    status: int,
    code: int,
) -> None:
    choose(monkeypatch, "openai:fast", serve(status, {}))
    found, text = examine(capsys)
    assert found == code
    assert f"HTTP {status}" in text


def test_server_that_is_down_is_reported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    choose(monkeypatch, "openai:fast", "http://127.0.0.1:9/v1")
    code, text = examine(capsys)
    assert code == 1
    assert "http://127.0.0.1:9/v1/models cannot be reached" in text


def test_missing_extra_is_reported_with_its_install_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    found = list(checks.check_extras())
    assert {check.mark for check in found} == {"note"}
    assert [check.hint for check in found if "mcp" in check.subject] == [install_command("mcp")]
    assert all(
        " install '" in check.hint and "dovetail" not in check.hint.split(" install ")[1] for check in found
    )


def test_agent_files_that_a_server_with_keys_would_ignore_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "master.md").write_text("---\ndescription: Helps.\n---\nBe kind.\n")
    assert "agents/master.md" not in examine(capsys)[1]
    monkeypatch.setenv("DOVETAIL_API_KEYS", "ann:" + "k" * 32)
    text = examine(capsys)[1]
    assert "agents/master.md is ignored: This agent file is not trusted yet" in text
    assert "dovetail agents trust" in text
    with pytest.raises(SystemExit):
        main(["agents", "trust"])
    assert "agents/master.md is ignored" not in examine(capsys)[1]


def test_full_disk_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(100, 99, 1))
    assert checks.check_disk().mark == "note"
    assert "DOVETAIL_CACHE" in checks.check_disk().hint


def test_too_little_memory_for_the_default_model_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "count_memory", lambda: 2_000_000_000)
    assert checks.check_memory().mark == "ok"
    monkeypatch.setattr(checks, "count_memory", lambda: 1_000_000_000)
    check = checks.check_memory()
    assert (check.mark, check.text) == ("note", "1.0 GB, too little for local:good, which needs 1.7 GB")
    assert "DOVETAIL_MODEL" in check.hint


def test_missing_pip_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def find_nothing(name: str) -> str:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", find_nothing)
    assert "ensurepip" in checks.check_pip().hint


@pytest.mark.parametrize(
    ("output", "version", "words"),
    [
        (None, None, "Node is not installed"),
        ("v18.2.0", 18, "Node 18 is too old"),
        ("odd", None, "not installed"),
    ],
)
def test_node_is_looked_for_when_the_page_is_not_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, output: str | None, version: int | None, words: str
) -> None:
    if output is not None:
        program = tmp_path / "node"
        program.write_text(f"#!/bin/sh\necho {output}\n")
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin" if output else str(tmp_path))
    monkeypatch.setattr(checks, "find_assets", lambda name: None)
    assert checks.read_node_version() == version
    assert words in checks.check_page().text


def test_built_page_is_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "find_assets", lambda name: tmp_path)
    assert checks.check_page().mark == "ok"


def test_python_is_named() -> None:
    assert checks.check_python().mark == "ok"


def test_policy_with_an_error_is_named_with_its_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKSPACE_ROOT", str(tmp_path))
    assert checks.check_policy().mark == "ok"
    (tmp_path / "policy.toml").write_text('[[rule]]\ntool = ["shell", "write_file"]\naction = "deny"\n')
    assert checks.check_policy().text == "1 rule in policy.toml"
    (tmp_path / "policy.toml").write_text('[[rule]]\naction = "permit"\n')
    check = checks.check_policy()
    assert (check.mark, "policy.toml:1" in check.text) == ("missing", True)


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty workspace, in which the doctor is called."""
    folder = tmp_path / "workspace"
    folder.mkdir()
    monkeypatch.setenv("DOVETAIL_WORKSPACE", str(folder))
    monkeypatch.chdir(folder)
    return folder


def find_line(text: str, subject: str) -> str:
    return next(line for line in text.splitlines() if line[8:].startswith(subject))


def test_database_that_does_not_answer_is_an_error(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    monkeypatch.setenv("DATABASE_URL", f"postgresql://ann:secret@127.0.0.1:{port}/dovetail")
    (workspace / "dovetail.toml").write_text('[runs]\nengine = "dbos"\n')
    code, text = examine(capsys)
    assert code == 1
    assert find_line(text, "database").startswith("missing")
    assert find_line(text, "engine").startswith("missing")
    assert f"127.0.0.1:{port}" in text
    assert "secret" not in text


async def make_database(path: Path) -> None:
    async with Database(path):
        pass


def test_database_with_older_tables_is_named_and_left_as_it_is(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = workspace / ".dovetail" / "dovetail.db"
    assert "the first start creates its tables" in examine(capsys)[1]
    assert not path.exists()
    asyncio.run(make_database(path))
    assert f"version {HEAD}" in find_line(examine(capsys)[1], "database")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '0001'")
        connection.commit()
    code, text = examine(capsys)
    assert code == 0
    assert f"has version 0001; the next start migrates it to {HEAD}" in text


def test_broken_folders_and_agent_files_are_errors(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (workspace / "extensions" / "wood").mkdir(parents=True)
    (workspace / "extensions" / "wood" / "extension.py").write_text("import no_such_package\n")
    (workspace / "agents").mkdir()
    (workspace / "agents" / "clerk.md").write_text("No front matter.")
    code, text = examine(capsys)
    assert code == 1
    assert "no_such_package" in find_line(text, "extensions")
    assert "Missing front matter" in find_line(text, "agents")


def test_invalid_settings_do_not_end_the_check(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("WORKSPACE_ROOT", str(workspace))
    monkeypatch.setenv("DOVETAIL_ENGINE", "tempo")
    (workspace / "dovetail.toml").write_text("[runs]\nnumbr = 3\n[store]\nurl = 'other.db'\n")
    keys = settle_private(workspace, "keys.json")
    keys.parent.mkdir(parents=True)
    keys.write_text("{")
    code, text = examine(capsys)
    assert code == 1
    broken = [line for line in text.splitlines() if line.startswith("missing settings")]
    assert len(broken) == 3
    assert "numbr" in broken[0]
    assert "Unknown DOVETAIL_ENGINE (runs.engine) 'tempo'" in broken[1]
    assert "keys.json" in broken[2]
    assert "other.db" in find_line(text, "database")
    assert find_line(text, "engine").startswith("ok")
    assert find_line(text, "extensions").startswith("ok")
    assert not find_line(text, "model ").startswith("missing")


def test_data_folder_that_cannot_be_made_is_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DOVETAIL_DATA", "/dev/null/nope")
    code, text = examine(capsys)
    assert code == 1
    assert "missing data             /dev/null/nope cannot be made: Not a directory" in text


def test_keys_in_a_wrong_form_and_a_missing_admin_token_are_named(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DOVETAIL_API_KEYS", "ann:a-long-key-of-ann,bob")
    code, text = examine(capsys)
    assert code == 1
    assert "entry 2 must have the form name:key" in find_line(text, "keys")
    monkeypatch.setenv("DOVETAIL_API_KEYS", "ann:a-long-key-of-ann")
    code, text = examine(capsys)
    assert code == 0
    assert find_line(text, "keys").startswith("note")
    assert "no admin token is set" in text
