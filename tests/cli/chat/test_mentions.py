"""Files that a message names go with it."""

import base64
import subprocess
from pathlib import Path

import pytest

from dovetail.cli.chat import mentions
from dovetail.cli.chat.mentions import list_files, read_message
from dovetail.extensions.workspace import Workspace

PICTURE = base64.b64decode("R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==")


def test_mentioned_files_are_attached_once_with_their_text(tmp_path: Path) -> None:
    (tmp_path / "a b.txt").write_text("oak")
    (tmp_path / "c.py").write_text("x = 1")
    draft = read_message('Compare @"a b.txt", @c.py and @c.py.', Workspace(tmp_path))
    assert draft.attached == ["a b.txt", "c.py"]
    assert draft.parts[1]["url"] == f"data:text/plain;base64,{base64.b64encode(b'oak').decode()}"
    assert draft.notes == []


def test_what_cannot_be_attached_is_said_and_the_message_is_sent_without_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "secret.txt").write_text("elm")
    (tmp_path / "in" / "large.txt").write_text("x" * 50)
    monkeypatch.setattr(mentions, "LARGEST", 40)
    draft = read_message("See @gone.txt @../secret.txt @large.txt", Workspace(tmp_path / "in"))
    assert draft.attached == []
    assert [part["text"] for part in draft.parts] == ["See @gone.txt @../secret.txt @large.txt"]
    assert [note.partition(":")[0] for note in draft.notes] == ["Not attached"] * 3
    assert "leads out of the workspace" in draft.notes[1]
    assert "too large" in draft.notes[2]


def test_an_address_of_mail_and_a_name_are_not_files(tmp_path: Path) -> None:
    draft = read_message("Write to ann@example.org, and don't @ me.", Workspace(tmp_path))
    assert (draft.attached, draft.notes) == ([], [])


def test_the_path_of_a_picture_attaches_it_from_anywhere(tmp_path: Path) -> None:
    (tmp_path / "my shot.gif").write_bytes(PICTURE)
    (tmp_path / "in").mkdir()
    draft = read_message(f"What is this? '{tmp_path}/my shot.gif' and gone.png", Workspace(tmp_path / "in"))
    assert draft.attached == ["my shot.gif"]
    assert draft.parts[1]["mediaType"] == "image/gif"


@pytest.mark.parametrize(
    "text", ["See {}.", "What is in {}?", "A plan ({})", "看看 {}。", "It's `{}`, isn't it"]
)
def test_the_path_of_a_picture_may_be_followed_by_punctuation(tmp_path: Path, text: str) -> None:
    (tmp_path / "shot.png").write_bytes(PICTURE)
    assert read_message(text.format(tmp_path / "shot.png"), Workspace(tmp_path)).attached == ["shot.png"]


def test_files_to_complete_are_those_that_git_would_track(tmp_path: Path) -> None:
    for name in ("a.py", "built.o", ".hidden", "node_modules/x.js", "sub/b.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    assert list_files(tmp_path) == ["a.py", "built.o", "sub/b.py"]
    (tmp_path / ".gitignore").write_text("*.o\nnode_modules\n")
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    assert list_files(tmp_path) == [".gitignore", ".hidden", "a.py", "sub/b.py"]


def test_files_of_dovetails_own_folder_are_not_attached(tmp_path: Path) -> None:
    (tmp_path / ".dovetail").mkdir()
    (tmp_path / ".dovetail" / "keys.json").write_text("the-secret")
    (tmp_path / "photo.png").symlink_to(".dovetail/keys.json")
    draft = read_message(f"@.dovetail/keys.json {tmp_path}/photo.png", Workspace(tmp_path))
    assert draft.attached == []
    assert len(draft.notes) == 2
