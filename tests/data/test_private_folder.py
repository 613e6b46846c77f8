"""The folder of secrets: outside of the workspace, one for each, closed to callers."""

import logging
import os
import stat
from pathlib import Path

import pytest

from dovetail import Dovetail
from dovetail.data.private_folder import (
    find_private_folder,
    find_private_path,
    is_linked_secret,
    is_private,
    make_state_folder,
    settle_private,
)
from dovetail.events.call import Kind
from dovetail.policy.rule import PolicyCall
from dovetail.settings import ProviderKeys


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "data"
    monkeypatch.setenv("DOVETAIL_DATA", str(folder))
    return folder


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    (folder / ".dovetail" / "logins").mkdir(parents=True)
    return folder


def read_mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_each_workspace_has_a_folder_of_its_own(tmp_path: Path, data: Path) -> None:
    one, other = find_private_folder(tmp_path / "a" / "shop"), find_private_folder(tmp_path / "b" / "shop")
    assert one != other
    assert one.parent == other.parent == data / "private"
    assert one.name.startswith("shop-")
    (tmp_path / "link").symlink_to(tmp_path / "a")
    assert find_private_folder(tmp_path / "link" / "shop") == one


def test_secrets_of_a_workspace_move_out_of_it_at_the_first_start(
    shop: Path, caplog: pytest.LogCaptureFixture
) -> None:
    state, private = shop / ".dovetail", find_private_folder(shop)
    (state / "keys.json").write_text('{"groq": "gsk-entered-on-the-page"}')
    (state / "logins" / "vault.json").write_text("{}")
    (state / "remembered.toml").write_text('[[rule]]\naction = "allow"\ntool = "write"\npriority = -1000\n')
    with caplog.at_level(logging.WARNING):
        app = Dovetail(workspace=shop)
        assert app.mcp is not None
        assert app.runtime.policy.decide(PolicyCall(tool="write", kind=Kind.Write)).action == "allow"
    assert ProviderKeys.of(app.settings, shop).get_keys() == {"groq": "gsk-entered-on-the-page"}
    assert f"moved {state / 'keys.json'} to {private / 'keys.json'}" in caplog.text
    assert list(state.iterdir()) == []
    for name in ("keys.json", "logins/vault.json", "remembered.toml"):
        assert read_mode(private / name) == 0o600
    assert {read_mode(each) for each in (private, private / "logins", private.parent)} == {0o700}


def test_the_file_outside_of_the_workspace_is_used_if_both_exist_and_none_is_lost(
    shop: Path, caplog: pytest.LogCaptureFixture
) -> None:
    place, former = find_private_folder(shop) / "keys.json", shop / ".dovetail" / "keys.json"
    for number in range(3):
        former.write_text(str(number))
        assert settle_private(shop, "keys.json") == place
        assert not former.exists()
    former.write_text("0")  # the same content as the file in use: nothing to keep
    settle_private(shop, "keys.json")
    kept = {path.name: path.read_text() for path in place.parent.glob("keys*")}
    assert kept == {"keys.json": "0", "keys.json.old-1": "1", "keys.json.old-2": "2"}
    assert "is kept as keys.json.old-1" in caplog.text


def test_a_file_that_cannot_be_moved_is_used_where_it_is(
    shop: Path, data: Path, caplog: pytest.LogCaptureFixture
) -> None:
    data.write_text("a file, where the folder should be")
    former = shop / ".dovetail" / "keys.json"
    former.write_text("{}")
    assert settle_private(shop, "keys.json") == former
    assert former.read_text() == "{}"
    assert "it is used where it is" in caplog.text


def test_a_folder_of_a_database_is_ignored_by_git_but_for_its_skills(tmp_path: Path) -> None:
    make_state_folder(tmp_path / ".dovetail")
    assert (tmp_path / ".dovetail" / ".gitignore").read_text() == "*\n!/skills/\n!/skills/**\n"
    make_state_folder(tmp_path / "elsewhere")
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_private_places_are_those_of_any_workspace_in_this_one_and_of_the_data_folder(
    shop: Path, data: Path
) -> None:
    private = [".dovetail", ".dovetail/keys.json", "team/.dovetail/x", ".Dovetail/x", ".dovetail/skillset"]
    for path in private:
        assert is_private(shop / path, shop), path
    for path in ("private", "private/other/keys.json", "chat_history", "trusted_agents.json"):
        assert is_private(data / path, shop), path
    for path in ("", "notes", ".dovetail.md", ".dovetail/skills", ".dovetail/skills/haiku/SKILL.md", ".git"):
        assert not is_private(shop / path, shop), path
    assert not is_private(data / "shop" / "notes", data / "shop")  # a workspace in the data folder


def test_a_workspace_below_a_folder_of_that_name_is_open(tmp_path: Path) -> None:
    assert not is_private(tmp_path / ".dovetail" / "shop" / "notes", tmp_path / ".dovetail" / "shop")


def test_a_hard_link_to_a_secret_is_found(shop: Path) -> None:
    for number, place in enumerate((shop / ".dovetail", find_private_folder(shop))):
        place.mkdir(parents=True, exist_ok=True)
        (place / "keys.json").write_text("{}")
        os.link(place / "keys.json", shop / f"notes-{number}")
        assert is_linked_secret((shop / f"notes-{number}").stat(), shop)
    (shop / "alone").write_text("{}")
    os.link(shop / "alone", shop / "twice")
    assert not is_linked_secret((shop / "twice").stat(), shop)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (".dovetail/keys.json", ".dovetail/keys.json"),
        ("--file=.dovetail/dovetail.db", ".dovetail/dovetail.db"),
        ("print(open('.dovetail/dovetail.db').read())", ".dovetail/dovetail.db"),
        ("cat a; cat link", "link"),
        ("-Ihard", "hard"),
        ("file=@link", "link"),
        ("me@host:notes.txt", None),
        ("hard", "hard"),
        (".dovetail/skills/haiku/../../keys.json", ".dovetail/skills/haiku/../../keys.json"),
        (".dovetail/skills/haiku/run.py", None),
        ("a.*b notes.txt ~ / . .. '' \0", None),
    ],
)
def test_paths_in_a_command_are_judged_one_by_one(shop: Path, text: str, found: str | None) -> None:
    (shop / ".dovetail" / "keys.json").write_text("{}")
    (shop / "link").symlink_to(".dovetail/keys.json")
    os.link(shop / ".dovetail" / "keys.json", shop / "hard")
    assert find_private_path(text, shop, shop) == found
