"""Processes at one SQLite file share their news by a file next to it."""

from pathlib import Path

from dovetail.store.processes import NewsFile


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
