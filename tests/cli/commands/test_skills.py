"""`dovetail skills` lists, shows and explains skills."""

from pathlib import Path

import pytest

from command_line import run


@pytest.fixture(autouse=True)
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace and a project in it, which is the current folder; the skill `review` is in both."""
    for folder, text in {
        tmp_path: "---\ndescription: Review far away.\n---\nFar.",
        tmp_path / "app": "---\ndescription: Review [here].\nallowed-tools: read_file\n---\nNear.",
    }.items():
        (folder / "skills" / "review").mkdir(parents=True)
        (folder / "skills" / "review" / "SKILL.md").write_text(text)
    (tmp_path / "skills" / "bad").mkdir()
    (tmp_path / "skills" / "bad" / "SKILL.md").write_text("---\nname: [\n")
    monkeypatch.setenv("WORKSPACE_ROOT", str(tmp_path))
    monkeypatch.chdir(tmp_path / "app")
    return tmp_path


def test_the_list_shows_the_nearest_and_what_is_broken(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("skills", "list") == 0
    shown = capsys.readouterr().out
    assert "project" in shown
    assert "Review far away" not in shown
    assert "left out" in shown
    assert "no end" in shown


def test_a_skill_is_shown_whole(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("skills", "show", "review") == 0
    shown = capsys.readouterr().out
    assert "Near." in shown
    assert "read_file" in shown
    assert run("skills", "show", "revie") == 1
    assert "Did you mean 'review'?" in capsys.readouterr().err


def test_why_names_what_is_used_and_what_is_hidden(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("skills", "why", "review") == 0
    shown = capsys.readouterr().out
    assert f"{workspace / 'app/skills/review/SKILL.md'} (project) is used" in shown
    assert f"hidden: {workspace / 'skills/review/SKILL.md'} (workspace)" in shown
    assert run("skills", "why", "review", "--project", str(workspace)) == 0
    assert "(workspace) is used" in capsys.readouterr().out
    assert run("skills", "why", "nothing") == 1


def test_a_new_skill_is_found_and_never_overwritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("skills", "new", "decide") == 0
    assert run("skills", "show", "decide") == 0
    assert "How we do decide. Load it before you work on that." in capsys.readouterr().out
    assert run("skills", "new", "decide") == 1
    assert "Skill 'decide' already exists." in capsys.readouterr().err
