"""`dovetail store`: counts, pruning, copies taken while a server works, and putting one back."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from dovetail.cli.main import main
from dovetail.runs.service import Runs
from dovetail.sessions.message import Message
from dovetail.sessions.store import SessionStore
from dovetail.store.database import Database


def run(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    with pytest.raises(SystemExit) as stopped:
        main(["store", *arguments])
    told = capsys.readouterr()
    assert stopped.value.code == code, told.err
    return told.out if code == 0 else told.err


def at(workspace: Path) -> tuple[str, str]:
    return "--workspace", str(workspace)


def place(workspace: Path) -> Path:
    return workspace / ".dovetail" / "dovetail.db"


async def add_session(workspace: Path, name: str) -> None:
    async with Database(place(workspace)) as database:
        store = SessionStore(database)
        await store.create(session_id=name)
        await store.save_message(name, Message(id="m", parts=[{"type": "text", "text": "hi"}]))


def test_info_counts_what_is_there(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    asyncio.run(add_session(tmp_path, "s"))
    told = run(capsys, "info", *at(tmp_path))
    assert str(place(tmp_path)) in told
    assert "sessions:  1 (1 messages)" in told
    assert "not in use" in told
    assert f"Size: {place(tmp_path).stat().st_size / 1000:.0f} kB" in told


def test_prune_says_what_it_would_delete_and_then_deletes_it(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    asyncio.run(add_session(tmp_path, "s"))
    assert "sessions:  0" in run(capsys, "prune", "--older-than", "30d", *at(tmp_path))
    told = run(capsys, "prune", "--older-than", "0h", "--dry-run", *at(tmp_path))
    assert "Would delete:\n  sessions:  1 (1 messages)" in told
    assert "Deleted:\n  sessions:  1" in run(capsys, "prune", "--older-than", "0h", *at(tmp_path))
    assert "sessions:  0" in run(capsys, "info", *at(tmp_path))


def test_a_copy_taken_while_the_database_is_in_use_can_be_put_back(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    copy = tmp_path / "copy.db"

    async def serve() -> None:
        async with Database(place(tmp_path)) as database, Runs(database):
            await SessionStore(database).create(session_id="before")
            assert "Backed up to" in await asyncio.to_thread(run, capsys, "backup", str(copy), *at(tmp_path))
            await SessionStore(database).create(session_id="after")
            told = await asyncio.to_thread(run, capsys, "restore", str(copy), *at(tmp_path), code=1)
            assert "is in use" in told

    asyncio.run(serve())
    assert "sessions:  2" in run(capsys, "info", *at(tmp_path))
    told = run(capsys, "restore", str(copy), *at(tmp_path))
    assert "dovetail.db.before-1" in told
    assert "sessions:  1" in run(capsys, "info", *at(tmp_path))
    assert (tmp_path / ".dovetail" / "dovetail.db.before-1").is_file()


def test_a_copy_of_a_newer_version_is_refused_before_anything_is_moved(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    copy = tmp_path / "copy.db"
    asyncio.run(add_session(tmp_path, "s"))
    run(capsys, "backup", str(copy), *at(tmp_path))
    with closing(sqlite3.connect(copy)) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
        connection.commit()
    told = run(capsys, "restore", str(copy), *at(tmp_path), code=1)
    assert "has a newer version (9999) than this program supports" in told
    assert [path.name for path in place(tmp_path).parent.glob("*.before-*")] == []


def test_a_folder_with_odd_letters_in_its_name_can_be_copied(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    workspace = tmp_path / "100%20 #1 done?"
    asyncio.run(add_session(workspace, "s"))
    copy = workspace / "copy #2?.db"
    assert "Backed up to" in run(capsys, "backup", str(copy), *at(workspace))
    assert "Restored" in run(capsys, "restore", str(copy), *at(workspace))
    assert "sessions:  1" in run(capsys, "info", *at(workspace))


def test_wrong_requests_are_rejected_with_a_hint(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert "Database not found" in run(capsys, "info", *at(tmp_path), code=1)
    asyncio.run(add_session(tmp_path, "s"))
    assert "Invalid age 'soon'" in run(capsys, "prune", "--older-than", "soon", *at(tmp_path), code=1)
    (tmp_path / "text.db").write_text("no database")
    assert "already exists" in run(capsys, "backup", str(tmp_path / "text.db"), *at(tmp_path), code=1)
    assert "not a Dovetail database backup" in run(
        capsys, "restore", str(tmp_path / "text.db"), *at(tmp_path), code=1
    )
    assert "does not exist" in run(capsys, "restore", str(tmp_path / "gone.db"), *at(tmp_path), code=1)
    deep = tmp_path / "gone" / "copy.db"
    assert f"Folder {deep.parent} does not exist" in run(capsys, "backup", str(deep), *at(tmp_path), code=1)
    assert "Workspace not found" in run(capsys, "info", *at(tmp_path / "nowhere"), code=1)
    assert not (tmp_path / "nowhere").exists()


def test_postgresql_is_copied_with_its_own_tools(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://me:secret@localhost:1/x")
    told = run(capsys, "backup", str(tmp_path / "x"), *at(tmp_path), code=1)
    assert "pg_dump" in told
    assert "secret" not in told
    assert "pg_restore" in run(capsys, "restore", str(tmp_path / "x"), *at(tmp_path), code=1)
