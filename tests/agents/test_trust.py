"""Agent files of a project are used on a server for others once somebody has acknowledged them."""

from pathlib import Path

import pytest

from dovetail.agents.registry import AgentRegistry, TrustRecord
from dovetail.errors import ConfigError

FILE = "---\nname: scout\ndescription: Looks around.\n---\nYou look around.\n"


def make_file(folder: Path, text: str = FILE) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "scout.md"
    path.write_text(text)
    return path


def load(path: Path, record: TrustRecord) -> AgentRegistry:
    registry = AgentRegistry(record)
    registry.load_folder(path.parent)
    return registry


def test_unknown_file_is_reported_with_what_to_do_and_left_out(tmp_path: Path) -> None:
    path = make_file(tmp_path / "agents")
    registry = load(path, TrustRecord([], tmp_path / "record.json"))
    assert registry.get_all_definitions() == ()
    assert registry.broken[0].path == str(path)
    assert "not acknowledged" in registry.broken[0].error
    assert "dovetail agents trust" in registry.broken[0].error


def test_acknowledged_file_is_used_until_its_content_changes(tmp_path: Path) -> None:
    path = make_file(tmp_path / "agents")
    record = TrustRecord([], tmp_path / "data" / "record.json")
    assert record.acknowledge([path]) == [path]
    later = TrustRecord([], tmp_path / "data" / "record.json")
    assert [definition.name for definition in load(path, later).get_all_definitions()] == ["scout"]
    make_file(path.parent, FILE.replace("look around", "delete everything"))
    assert load(path, later).get_all_definitions() == ()
    assert later.acknowledge([path]) == [path]
    assert later.acknowledge([path]) == []
    assert load(path, later).broken == []


def test_same_content_under_another_path_needs_a_word_of_its_own(tmp_path: Path) -> None:
    record = TrustRecord([], tmp_path / "record.json")
    record.acknowledge([make_file(tmp_path / "one")])
    assert load(make_file(tmp_path / "two"), record).get_all_definitions() == ()


def test_files_of_our_own_folders_need_no_word(tmp_path: Path) -> None:
    path = make_file(tmp_path / "shipped")
    record = TrustRecord([tmp_path / "shipped"], tmp_path / "record.json")
    assert load(path, record).broken == []


def test_record_that_cannot_be_read_trusts_nobody(tmp_path: Path) -> None:
    path = make_file(tmp_path / "agents")
    (tmp_path / "record.json").write_text("{")
    record = TrustRecord([], tmp_path / "record.json")
    assert "record.json: the acknowledged agent files cannot be read" in load(path, record).broken[0].error
    with pytest.raises(ConfigError, match=r"record\.json"):
        record.acknowledge([path])
