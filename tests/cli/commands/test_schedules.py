"""`dovetail schedules`: what is listed, added, paused, run and removed in the workspace's database."""

import re
from pathlib import Path

import pytest

import command_line
from dovetail.cli.commands import schedules as command
from dovetail.testing import ScriptedServer

LINE = "0 9 * * 1-5 Europe/Berlin"


class Schedules:
    """The command, in one workspace."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self._folder = folder
        self._capsys = capsys

    def __call__(self, *words: str, code: int = 0) -> str:
        ended = command_line.run("schedules", *words, "--workspace", self._folder)
        told = self._capsys.readouterr()
        assert ended == code, told.err
        return told.out if code == 0 else told.err

    def add(self, *words: str) -> str:
        """Add a schedule; return its id."""
        found = re.search(r"Added (sch_\w+): ", self("add", LINE, "What is new?", *words))
        assert found is not None
        return found[1]


@pytest.fixture
def schedules(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Schedules:
    monkeypatch.setattr(command.console, "width", 200)  # it may be older than this test
    return Schedules(tmp_path, capsys)


def test_a_schedule_is_added_listed_paused_resumed_and_removed(schedules: Schedules) -> None:
    schedule_id = schedules.add("--title", "News")
    listed = schedules("list")
    assert f"{LINE}  master  News" in listed
    assert "never" in listed
    assert f"Paused {schedule_id}." in schedules("pause", schedule_id)
    assert "paused" in schedules("list")
    assert re.search(
        r"Resumed sch_\w+, next at \w+ \d+ \w+ \d{4} \d\d:\d\d", schedules("resume", schedule_id)
    )
    shown = schedules("show", schedule_id)
    assert re.search(r"message +What is new\?", shown)
    assert re.search(r"from +a person", shown)
    schedules("remove", schedule_id)
    assert "News" not in schedules("list")
    assert f"Schedule '{schedule_id}' not found." in schedules("show", schedule_id, code=1)


def test_ids_in_the_list_are_whole_in_a_narrow_terminal(
    schedules: Schedules, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dovetail.cli.commands.schedules.console.width", 80)
    schedule_id = schedules.add("--title", "What has changed in all the folders since yesterday?")
    assert schedule_id in schedules("list")


def test_a_schedule_runs_here_and_its_tick_is_shown(
    schedules: Schedules, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ScriptedServer(["Nothing [at all]."]) as model:
        monkeypatch.setenv("DOVETAIL_MODEL", "openai:scripted")
        monkeypatch.setenv("DOVETAIL_BASE_URL", model.url)
        schedule_id = schedules.add("--session", "daily", "--owner", "ann")
        assert schedules("run", schedule_id) == "Nothing [at all].\n"
    shown = schedules("show", schedule_id)
    assert re.search(r"manual daily", shown)
    assert "ann" in schedules("list")


def test_the_schedule_of_a_file_is_listed_and_can_only_be_changed_there(
    schedules: Schedules, tmp_path: Path
) -> None:
    (tmp_path / "agents").mkdir()
    text = f'---\ndescription: Looks.\nquery: Look around.\nschedule: "{LINE}"\n---\nLook well.'
    (tmp_path / "agents" / "scout.md").write_text(text)
    assert re.search(r"scout\.1 +0 9 .* scout +Look around\.", schedules("list"))
    assert "comes from the file of agent 'scout'" in schedules("remove", "scout.1", code=1)
    schedules("pause", "scout.1")
    assert "paused" in schedules("list")


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("61 * * * *", "x"), "Invalid minute '61'"),
        ((LINE, "x", "--agent", "mastr"), "master"),
        ((LINE, "x", "--missed", "all"), "latest, skip"),
    ],
)
def test_a_wrong_schedule_is_refused(schedules: Schedules, words: tuple[str, ...], problem: str) -> None:
    told = schedules("add", *words, code=2 if "--missed" in words else 1)
    assert problem in told


def test_owner_of_a_new_schedule_is_named(schedules: Schedules, tmp_path: Path) -> None:
    assert schedules("add", LINE, "What is new?").rstrip().endswith(", for local.")
    (tmp_path / "dovetail.toml").write_text('[schedules]\nowner = "ann"\n')
    assert schedules("add", LINE, "What is new?").rstrip().endswith(", for ann.")


def test_schedule_that_no_api_key_could_open_is_refused_with_the_owners(
    schedules: Schedules, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOVETAIL_API_KEYS", "bob:bobs-long-random-key,ann:anns-long-random-key")
    for words, owner in (((), "local"), (("--owner", "ana"), "ana")):
        error = schedules("add", LINE, "What is new?", *words, code=1)
        assert f"Owner {owner!r} has no API key, so no one could open the sessions." in error
        assert "Expected one of: ann, bob." in error
        assert "Pass --owner" in error
        assert "random-key" not in error
    assert schedules("list").count("sch_") == 0
    schedules.add("--owner", "ann")
