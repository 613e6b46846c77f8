"""A text file that several people edit."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from dovetail.data.edited_file import EditedFile
from dovetail.errors import ConfigError, ConflictError


def accept(text: str) -> None:
    """Accept every text."""


def refuse(text: str) -> None:
    """Accept no text."""
    raise ConfigError("no")


def test_changes_made_at_the_same_time_are_all_kept(tmp_path: Path) -> None:
    file = EditedFile(tmp_path / "notes" / "list.txt", accept)

    def add(number: int) -> None:
        file.change(lambda text: f"{text}{number}\n")

    with ThreadPoolExecutor(16) as threads:
        list(threads.map(add, range(200)))
    assert sorted(map(int, file.read().text.split())) == list(range(200))
    assert [path.name for path in file.path.parent.iterdir()] == ["list.txt"]


def test_of_many_who_change_the_same_version_one_succeeds(tmp_path: Path) -> None:
    file = EditedFile(tmp_path / "list.txt", accept)

    def write(change: tuple[str, int]) -> bool:
        version, number = change
        try:
            file.write(f"{version} {number}", version)
        except ConflictError:
            return False
        return True

    with ThreadPoolExecutor(16) as threads:
        for _ in range(30):
            version = file.read().version
            assert sum(threads.map(write, [(version, number) for number in range(8)])) == 1


def test_a_text_that_is_refused_leaves_nothing_behind(tmp_path: Path) -> None:
    file = EditedFile(tmp_path / "notes" / "list.txt", refuse)
    with pytest.raises(ConfigError, match="no"):
        file.write("x")
    assert list(tmp_path.iterdir()) == []
