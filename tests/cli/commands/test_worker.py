"""`dovetail worker`: what it says when it starts, and when it cannot."""

from pathlib import Path

import pytest

from dovetail.cli.main import main


def fail(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    with pytest.raises(SystemExit) as stopped:
        main(["worker", *arguments])
    assert stopped.value.code == 1
    return capsys.readouterr().err


def test_the_local_engine_has_no_workers(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    told = fail(capsys, "--workspace", str(tmp_path))
    assert "The engine 'local' has no workers" in told
    assert "--engine dbos" in told


def test_an_unknown_engine_is_named(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    told = fail(capsys, "--engine", "dboss", "--workspace", str(tmp_path))
    assert "runs.engine" in told
    assert "'dboss'" in told


def test_a_worker_needs_a_database_that_processes_can_share(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    told = fail(capsys, "--engine", "dbos", "--workspace", str(tmp_path))
    assert "Cannot start a worker on an SQLite file" in told
    assert "DATABASE_URL=postgresql://" in told


def test_a_database_that_is_away_is_one_clear_message(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("DOVETAIL_MODEL", "ollama:x")
    monkeypatch.setenv("DATABASE_URL", "postgresql://user:secret@127.0.0.1:9/x")
    told = fail(capsys, "--engine", "dbos", "--workspace", str(tmp_path))
    assert "Cannot open the database at" in told
    assert "secret" not in told
    assert "Traceback" not in told
