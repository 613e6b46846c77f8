"""Processes at one SQLite file share their news by a file next to it."""

import asyncio
from pathlib import Path

import pytest

from dovetail.store import lease
from dovetail.store.database import Database
from dovetail.store.processes import NewsFile, SqliteLink
from patience import PATIENCE


def test_lines_are_read_once_and_in_order(tmp_path: Path) -> None:
    writer = NewsFile(tmp_path / "x.news")
    writer.add("before")
    reader = NewsFile(tmp_path / "x.news")
    writer.add("one")
    writer.add("two")
    assert reader.take() == ["one", "two"]
    assert reader.take() == []


def test_half_a_line_waits_for_its_end(tmp_path: Path) -> None:
    path = tmp_path / "x.news"
    reader = NewsFile(path)
    path.write_text("one\ntw")
    assert reader.take() == ["one"]
    path.write_text("one\ntwo\n")
    assert reader.take() == ["two"]


def test_a_file_that_has_begun_again_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "x.news"
    writer, reader = NewsFile(path), NewsFile(path)
    path.write_text("x" * 1_000_001 + "\n")
    assert len(reader.take() or []) == 1
    writer.add("first")
    assert path.read_text() == "first\n"
    assert reader.take() is None
    writer.add("second")
    assert reader.take() == ["second"]


def test_only_the_owner_of_the_database_may_read_the_news(tmp_path: Path) -> None:
    NewsFile(tmp_path / "x.news").add("one")
    assert (tmp_path / "x.news").stat().st_mode & 0o077 == 0


async def test_only_a_process_that_others_were_there_before_looks_for_missed_news(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lease, "_LONGEST_INTERVAL", 0.1)
    looked: list[str] = []
    is_second_done = asyncio.Event()

    def look_second() -> None:
        looked.append("second")
        is_second_done.set()

    async with Database(tmp_path / "x.db") as database, SqliteLink(database, "first") as first:
        first.on_gap = lambda: looked.append("first")
        async with SqliteLink(database, "second") as second:
            second.on_gap = look_second
            async with asyncio.timeout(PATIENCE):
                await is_second_done.wait()
    assert looked == ["second"]
